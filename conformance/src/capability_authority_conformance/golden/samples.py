"""One statement of every kind, about the same piece of memory: each names the ones before it.

Their bytes are frozen. Whoever reads them tomorrow must find what they say today, so nothing here is ever edited.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from google.protobuf.message import Message

from capability_authority.offline import (
    capability_fingerprint,
    digest_of,
    encode,
    payload_type_of,
    sha256,
    sign,
    statement_digest,
    timestamp,
    to_wire,
)
from capability_authority.v1 import statements_pb2 as statements
from capability_authority.v1 import types_pb2 as types
from capability_authority_conformance.golden.published_keys import published_key

__all__ = ["AUDIENCE", "CONTENT", "ISSUER", "NOW_MS", "REQUEST", "SAMPLES", "TENANT", "Sample"]

ISSUER: Final = "authority.example"
AUDIENCE: Final = "memory.example"
NOW_MS: Final = 1_790_000_000_000
"""2026-09-21T14:13:20Z: the vectors' own time."""
CONTENT: Final = b'{"duration_minutes":40,"fact":"The nightly build takes forty minutes."}'
REQUEST: Final = bytes.fromhex("0a06726370745f31")
"""Of the call that the Invocation is for."""
TENANT: Final = types.TenantRef(namespace="cognitum-tenant", id="acme")

_MINUTE_MS: Final = 60_000
_HOUR_MS: Final = 60 * _MINUTE_MS
_DAY_MS: Final = 24 * _HOUR_MS
_MEMORY_NAMESPACE: Final = "team/build"
_AGENT: Final = types.PrincipalRef(namespace="ruflo-agent", id="build-agent")
_COMMITTER: Final = types.PrincipalRef(namespace="workload", id="committer")
_MIRA: Final = types.PrincipalRef(namespace="cognitum-principal", id="mira")
_EVIDENCE: Final = (sha256(b"evidence a"), sha256(b"evidence b"))
_POLICY: Final = sha256(b"policy")


@dataclass(frozen=True, slots=True)
class Sample:
    """A message of a payload kind and the name of the key that signs it; None for what is never signed."""

    message: Message
    key: str | None

    @property
    def payload(self) -> bytes:
        """Its payload."""
        return encode(self.message)

    @property
    def payload_type(self) -> str:
        """Its payload type."""
        return payload_type_of(type(self.message))

    @property
    def digest(self) -> bytes:
        """Its statement digest."""
        return statement_digest(self.payload_type, self.payload)

    def statement(self) -> statements.SignedStatement:
        """The statement that says it."""
        if self.key is None:
            raise TypeError("it is named by its digest and never signed")
        return sign(self.message, published_key(self.key))


def _proposal_revision() -> Sample:
    return Sample(
        statements.ProposalRevision(
            tenant=TENANT,
            memory_namespace=_MEMORY_NAMESPACE,
            proposal_id="prop_01",
            revision=2,
            proposer=_AGENT,
            proposer_kind=types.PRINCIPAL_KIND_AGENT,
            actor_chain=[_MIRA],
            provenance=types.PROVENANCE_AGENT_OUTPUT,
            memory_type=types.MEMORY_TYPE_DURABLE_FACT,
            content_digest=sha256(CONTENT),
            media_type="application/json",
            source_refs=["log:nightly/4711"],
            subject_refs=["job:nightly"],
            evidence_digests=_EVIDENCE,
            validator_profile="baseline",
            visibility=types.VISIBILITY_TEAM,
            valid_from_time=timestamp(NOW_MS - _DAY_MS),
            valid_until_time=timestamp(NOW_MS + 30 * _DAY_MS),
            record_expire_time=timestamp(NOW_MS + 90 * _DAY_MS),
            correlation_id="run-4711",
            costs=[
                types.Cost(stage="extraction", model="small-1", input_tokens=1200, output_tokens=80, usd_micros=412)
            ],
            create_time=timestamp(NOW_MS - _MINUTE_MS),
        ),
        None,
    )


def _validation_receipt(proposal: Sample) -> Sample:
    return Sample(
        statements.ValidationReceipt(
            validation_id="val_01",
            issuer=ISSUER,
            tenant=TENANT,
            memory_namespace=_MEMORY_NAMESPACE,
            proposal_id="prop_01",
            proposal_revision=2,
            proposal_digest=proposal.digest,
            validator_profile="baseline",
            validator_profile_version="1",
            findings=[
                types.ValidationFinding(
                    validator="schema",
                    validator_version="1",
                    outcome=types.VALIDATION_OUTCOME_PASS,
                    confidence_permille=1000,
                ),
                types.ValidationFinding(
                    validator="near-duplicate",
                    validator_version="3",
                    outcome=types.VALIDATION_OUTCOME_REVIEW,
                    reason="near_duplicate",
                    confidence_permille=620,
                ),
            ],
            outcome=types.VALIDATION_OUTCOME_REVIEW,
            validate_time=timestamp(NOW_MS - 50_000),
            expire_time=timestamp(NOW_MS + _HOUR_MS),
        ),
        "validation",
    )


def _decision_receipt(proposal: Sample, validation: Sample) -> Sample:
    return Sample(
        statements.DecisionReceipt(
            decision_id="dec_01",
            issuer=ISSUER,
            tenant=TENANT,
            memory_namespace=_MEMORY_NAMESPACE,
            holder=_COMMITTER,
            action="memory.commit-validated",
            proposal_id="prop_01",
            proposal_revision=2,
            proposal_digest=proposal.digest,
            validation_receipt_digest=validation.digest,
            approval_references=["appr_01"],
            policy_version=_POLICY,
            outcome=types.DECISION_OUTCOME_ALLOW,
            determining_policies=["allow-approved-agent-output"],
            sequence=2**53 + 1,
            decide_time=timestamp(NOW_MS - 40_000),
            expire_time=timestamp(NOW_MS + _HOUR_MS),
            correlation_id="run-4711",
        ),
        "decision",
    )


def _commit_capability(proposal: Sample, validation: Sample, decision: Sample) -> Sample:
    return Sample(
        statements.CommitCapability(
            capability_id="cap_01",
            issuer=ISSUER,
            audience=AUDIENCE,
            tenant=TENANT,
            memory_namespace=_MEMORY_NAMESPACE,
            subject=_AGENT,
            holder=_COMMITTER,
            holder_key=published_key("holder").public_key.thumbprint,
            action="memory.commit-validated",
            proposal_id="prop_01",
            proposal_revision=2,
            proposal_digest=proposal.digest,
            content_digest=sha256(CONTENT),
            media_type="application/json",
            evidence_digests=_EVIDENCE,
            validator_profile="baseline",
            validator_profile_version="1",
            validation_receipt_digest=validation.digest,
            policy_version=_POLICY,
            decision_receipt_digest=decision.digest,
            approval_reference="appr_01",
            commit_idempotency_key="commit-4711",
            not_before_time=timestamp(NOW_MS),
            expire_time=timestamp(NOW_MS + 15 * _MINUTE_MS),
            max_uses=1,
            correlation_id="run-4711",
        ),
        "capability",
    )


def _commit_receipt(capability: Sample) -> Sample:
    terms = capability.message
    assert isinstance(terms, statements.CommitCapability)
    fingerprint = capability_fingerprint(
        terms,
        content_digest=to_wire(terms.content_digest),
        media_type=terms.media_type,
        evidence_digests=[to_wire(digest) for digest in terms.evidence_digests],
    )
    return Sample(
        statements.CommitReceipt(
            receipt_id="rcpt_01",
            issuer=ISSUER,
            record_id="rec_01",
            capability=terms,
            capability_digest=capability.digest,
            request_fingerprint=fingerprint,
            commit_time=timestamp(NOW_MS + 1_234),
        ),
        "receipt",
    )


def _key_attestation(receipt: Sample) -> Sample:
    statement = receipt.statement()
    return Sample(
        statements.KeyAttestation(
            issuer=ISSUER,
            tenant=TENANT,
            statement_digest=digest_of(statement),
            signature_digest=sha256(statement.signature.signature),
            key_id=statement.signature.key_id,
            attest_time=timestamp(NOW_MS + 5_000),
        ),
        "current receipt",
    )


def _invocation() -> Sample:
    return Sample(
        statements.Invocation(
            tenant=TENANT,
            principal=_COMMITTER,
            audience=AUDIENCE,
            method="/capability_authority.v1.CapabilityService/GetCommitReceipt",
            request_digest=sha256(REQUEST),
            nonce=bytes(range(16)),
            issue_time=timestamp(NOW_MS + 2_000),
        ),
        "holder",
    )


def _revocation() -> Sample:
    return Sample(
        statements.Revocation(
            issuer=ISSUER,
            tenant=TENANT,
            sequence=41,
            previous_sequence=17,
            kind=statements.REVOKED_KIND_RECORD,
            subject="rec_01",
            memory_namespace=_MEMORY_NAMESPACE,
            content_digest=sha256(CONTENT),
            revoke_time=timestamp(NOW_MS + 6_000),
        ),
        "revocation",
    )


def _revocation_heartbeat() -> Sample:
    return Sample(
        statements.RevocationHeartbeat(issuer=ISSUER, tenant=TENANT, sequence=41, as_of_time=timestamp(NOW_MS + 7_000)),
        "revocation",
    )


def _names(*names: str) -> statements.GrantedNames:
    return statements.GrantedNames(names=names)


def _most(most: int) -> statements.GrantedAmount:
    return statements.GrantedAmount(most=most)


def _grant() -> Sample:
    return Sample(
        statements.Grant(
            issuer=ISSUER,
            tenant=TENANT,
            subject=_MIRA,
            holder=_COMMITTER,
            holder_key=published_key("holder").public_key.thumbprint,
            audiences=_names(AUDIENCE),
            actions=_names("memory.propose", "memory.recall", "memory.commit-validated"),
            resources=_names("docs/*"),
            read_memory_namespaces=_names("team/*"),
            write_memory_namespaces=_names(_MEMORY_NAMESPACE),
            tools=_names(),
            providers=_names("local"),
            models=_names("small/*"),
            usd_micros=_most(5_000_000),
            tokens=_most(1_000_000),
            latency_ms=_most(30_000),
            concurrency=_most(4),
            uses=_most(100),
            network=statements.GrantedFlag(allowed=False),
            destructive=statements.GrantedFlag(allowed=False),
            not_before_time=timestamp(NOW_MS),
            expire_time=timestamp(NOW_MS + _DAY_MS),
            delegation_depth=2,
            policy_version=_POLICY,
            correlation_id="run-4711",
            nonce=bytes.fromhex("840bfb8cb953a69e050a4c0f5e7de1ea"),
            holder_public_key=published_key("holder").public_key.raw,
        ),
        "grant",
    )


def _derived_grant(parent: Sample) -> Sample:
    """As the parent, handed on to the agent with fewer actions, money, uses and time."""
    child = statements.Grant()
    assert isinstance(parent.message, statements.Grant)
    child.CopyFrom(parent.message)
    child.issuer = ""
    child.delegated_by.CopyFrom(_COMMITTER)
    child.actor_chain.append(_COMMITTER)
    child.holder.CopyFrom(_AGENT)
    child.holder_key = published_key("agent").public_key.thumbprint
    child.holder_public_key = published_key("agent").public_key.raw
    child.actions.CopyFrom(_names("memory.propose"))
    child.read_memory_namespaces.CopyFrom(_names())
    child.usd_micros.most = 1_000_000
    child.uses.most = 10
    child.expire_time.CopyFrom(timestamp(NOW_MS + _HOUR_MS))
    child.delegation_depth = 1
    child.parent_digest = parent.digest
    child.nonce = bytes.fromhex("e7198584d72589c131fc1e65650abdb4")
    return Sample(child, "holder")


def _evidence_claim() -> Sample:
    return Sample(
        statements.EvidenceClaim(
            tenant=TENANT,
            signer=_COMMITTER,
            content_digest=sha256(CONTENT),
            media_type="application/json",
            create_time=timestamp(NOW_MS),
        ),
        "holder",
    )


def _all() -> dict[str, Sample]:
    proposal = _proposal_revision()
    validation = _validation_receipt(proposal)
    decision = _decision_receipt(proposal, validation)
    capability = _commit_capability(proposal, validation, decision)
    receipt = _commit_receipt(capability)
    grant = _grant()
    return {
        "proposal-revision": proposal,
        "validation-receipt": validation,
        "decision-receipt": decision,
        "commit-capability": capability,
        "commit-receipt": receipt,
        "key-attestation": _key_attestation(receipt),
        "invocation": _invocation(),
        "revocation": _revocation(),
        "revocation-heartbeat": _revocation_heartbeat(),
        "grant": grant,
        "derived-grant": _derived_grant(grant),
        "evidence-claim": _evidence_claim(),
    }


SAMPLES: Final[Mapping[str, Sample]] = MappingProxyType(_all())
"""By name; of every payload kind one at least."""
