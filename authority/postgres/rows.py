"""Rows of the database <-> domain values, nothing else."""

from collections.abc import Mapping, Sequence
from typing import Any

import asyncpg

from authority.domain.citation import Citation
from authority.domain.decision import Approval, ApprovalVerdict, Decider, DeciderKind
from authority.domain.evidence import Evidence, EvidenceState
from authority.domain.identity import Principal, PrincipalKind, Right
from authority.domain.plan import StoredReceipt
from authority.domain.proposal import (
    Cost,
    MemoryType,
    ProposalRevision,
    ProposalState,
    Provenance,
    StoredProposal,
    Visibility,
)
from authority.domain.record import MemoryNamespace, MemoryRecord, Mode
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.statement import IssuerKey, KeyPurpose, KeyState, Statement

Row = asyncpg.Record


def tenant_ref(text: str) -> TenantRef:
    """`namespace|id` as a tenant; `|` is outside the charset of ids."""
    namespace, _, id_ = text.partition("|")
    return TenantRef(namespace, id_)


def principal_ref(text: str) -> PrincipalRef:
    """`namespace|id` as a principal."""
    namespace, _, id_ = text.partition("|")
    return PrincipalRef(namespace, id_)


def key_id_text(thumbprint: bytes) -> str:
    """A key id as it stands in statements."""
    return f"sha256:{thumbprint.hex()}"


def key_id_bytes(key_id: str) -> bytes:
    """A key id as it is stored: 32 bytes."""
    return bytes.fromhex(key_id.removeprefix("sha256:"))


def statement(row: Row) -> Statement:
    """The exact bytes of a stored statement."""
    return Statement(row["payload_type"], row["payload"], key_id_text(row["key_id"]), row["signature"])


def stored_receipt(row: Row) -> StoredReceipt:
    """A row of commit_receipt."""
    return StoredReceipt(str(row["receipt_id"]), str(row["record_id"]), statement(row), row["fingerprint"])


def principal(row: Row) -> Principal:
    """A row of principal."""
    rights = frozenset(Right(right) for right in row["rights"])
    return Principal(tenant_ref(row["tenant"]), principal_ref(row["principal"]), PrincipalKind(row["kind"]), rights)


def issuer_key(row: Row) -> IssuerKey:
    """A row of issuer_key."""
    return IssuerKey(
        key_id=key_id_text(row["key_id"]),
        public_key=row["public_key"],
        purpose=KeyPurpose(row["purpose"]),
        state=KeyState(row["state"]),
        create_time=row["create_time"],
        compromised_since=row["compromised_since_time"],
        tenant=tenant_ref(row["tenant"]) if row["tenant"] else None,
        memory_namespace=row["memory_namespace"],
    )


def memory_namespace(row: Row) -> MemoryNamespace:
    """A row of memory_namespace."""
    return MemoryNamespace(
        tenant=tenant_ref(row["tenant"]),
        name=row["name"],
        mode=Mode(row["mode"]),
        privileged=row["privileged"],
        least_profile=row["least_profile"],
        default_visibility=Visibility(row["default_visibility"]),
        policy_version=row["policy_version"],
    )


def stored_proposal(row: Row) -> StoredProposal:
    """A row of proposal with the state that its head gives it."""
    revision = ProposalRevision(
        tenant=tenant_ref(row["tenant"]),
        memory_namespace=row["memory_namespace"],
        proposal_id=str(row["proposal_id"]),
        revision=row["revision"],
        proposer=principal_ref(row["proposer"]),
        proposer_kind=PrincipalKind(row["proposer_kind"]),
        actor_chain=tuple(principal_ref(actor) for actor in row["actor_chain"]),
        provenance=Provenance(row["provenance"]),
        memory_type=MemoryType(row["memory_type"]),
        content_digest=row["content_digest"],
        media_type=row["media_type"],
        source_refs=tuple(row["source_refs"]),
        subject_refs=tuple(row["subject_refs"]),
        evidence_digests=tuple(row["evidence_digests"]),
        validator_profile=row["validator_profile"],
        visibility=Visibility(row["visibility"]),
        valid_from_time=row["valid_from_time"],
        valid_until_time=row["valid_until_time"],
        record_expire_time=row["record_expire_time"],
        correlation_id=row["correlation_id"],
        costs=costs(row["costs"]),
        supersedes_record_id=row["supersedes_record_id"],
        create_time=row["create_time"],
        visibility_scope=row["visibility_scope"],
        expire_time=row["expire_time"],
        subject=principal_ref(row["subject"]) if row["subject"] else None,
    )
    return StoredProposal(revision, row["content"], row["digest"], ProposalState(row["state"]))


def approval(row: Row) -> Approval:
    """A row of approval_decision."""
    return Approval(
        reference=str(row["reference"]),
        tenant=tenant_ref(row["tenant"]),
        proposal_id=str(row["proposal_id"]),
        proposal_revision=row["revision"],
        proposal_digest=row["proposal_digest"],
        validation_receipt_digest=row["validation_receipt_digest"],
        verdict=ApprovalVerdict(row["verdict"]),
        decided_by=principal_ref(row["decided_by"]) if row["decided_by"] else None,
        decided_by_kind=DeciderKind(row["decided_by_kind"]),
        note=row["note"],
        decide_time=row["decide_time"],
        expire_time=row["expire_time"],
        holder=principal_ref(row["holder"]) if row["holder"] else None,
        max_uses=row["max_uses"],
        is_used_up=bool(row["is_used_up"]),
        policy_version=row["policy_version"] or b"",
        determining_policies=tuple(row["determining_policies"]),
    )


def decider(row: Row) -> Decider:
    """A row of principal, with everybody who is the same person."""
    registered = principal(row) if row["state"] == "active" else None
    return Decider(registered, frozenset(map(principal_ref, row["person"])))


def memory_record(row: Row) -> MemoryRecord:
    """A row of memory_record."""
    return MemoryRecord(
        record_id=str(row["record_id"]),
        tenant=tenant_ref(row["tenant"]),
        memory_namespace=row["memory_namespace"],
        memory_type=MemoryType(row["memory_type"]),
        provenance=Provenance(row["provenance"]),
        content=row["content"],
        content_digest=row["content_digest"],
        media_type=row["media_type"],
        proposer=principal_ref(row["proposer"]),
        proposal_id=str(row["proposal_id"] or ""),
        proposal_revision=row["revision"] or 0,
        receipt_id=str(row["receipt_id"] or ""),
        source_refs=tuple(row["source_refs"]),
        subject_refs=tuple(row["subject_refs"]),
        evidence_digests=tuple(row["evidence_digests"]),
        visibility=Visibility(row["visibility"]),
        valid_from_time=row["valid_from_time"],
        valid_until_time=row["valid_until_time"],
        expire_time=row["expire_time"],
        create_time=row["create_time"],
        costs=costs(row["costs"]),
        correlation_id=row["correlation_id"],
        supersedes_record_id=str(row["supersedes_record_id"] or ""),
        visibility_scope=row["visibility_scope"],
    )


def citation(row: Row) -> Citation:
    """A row of citation."""
    return Citation(
        citation_id=str(row["citation_id"]),
        tenant=tenant_ref(row["tenant"]),
        record_id=str(row["record_id"]),
        memory_namespace=row["memory_namespace"],
        content_digest=row["content_digest"],
        receipt_digest=row["receipt_digest"],
        cited_by=principal_ref(row["cited_by"]),
        citing_kind=row["citing_kind"],
        citing_ref=row["citing_ref"],
        create_time=row["create_time"],
    )


def evidence(row: Row) -> Evidence:
    """A row of evidence."""
    return Evidence(
        tenant=tenant_ref(row["tenant"]),
        digest=row["digest"],
        media_type=row["media_type"],
        content=row["content"],
        reference=row["reference"],
        put_by=principal_ref(row["put_by"]),
        visibility=Visibility(row["visibility"]),
        visibility_scope=row["visibility_scope"],
        signed_by=principal_ref(row["signed_by"]) if row["signed_by"] else None,
        statement=statement(row) if row["payload_type"] else None,
        put_time=row["put_time"],
        state=EvidenceState(row["state"]),
        decided_by=principal_ref(row["decided_by"]) if row["decided_by"] else None,
        decide_time=row["decide_time"],
        note=row["note"],
    )


def costs(documents: Sequence[Mapping[str, Any]]) -> tuple[Cost, ...]:
    """The cost column."""
    return tuple(Cost(**document) for document in documents)


def cost_documents(values: Sequence[Cost]) -> list[dict[str, str | int]]:
    """Costs for the cost column."""
    return [
        {
            "stage": cost.stage,
            "model": cost.model,
            "input_tokens": cost.input_tokens,
            "output_tokens": cost.output_tokens,
            "usd_micros": cost.usd_micros,
        }
        for cost in values
    ]
