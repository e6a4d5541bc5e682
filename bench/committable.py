"""Makes proposals that wait for nothing but their commit, signed by the authority's own keys as it would have done."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from authority.bootstrap.system import SystemClock, TimeOrderedIds
from authority.domain import limits
from authority.domain.capability import CommitCapability, OpenedCapability, Presentation
from authority.domain.decision import COMMIT_ACTION, DecisionOutcome, DecisionReceipt, SignedDecision
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import (
    Cost,
    MemoryType,
    ProposalRevision,
    ProposalState,
    StoredProposal,
    Visibility,
    stamp_provenance,
)
from authority.domain.references import Instant, after
from authority.domain.statement import IssuerKey, Statement
from authority.domain.validation import (
    BASELINE,
    BASELINE_VERSION,
    SignedValidation,
    ValidationReceipt,
    ValidatorName,
    worst,
)
from authority.signing.key_folder import KeyFolder
from authority.signing.key_ring import KeyRing
from authority.signing.signer import KeyedSigner
from authority.signing.statements import StatementReader
from authority.validators.profiles import BUILT_IN
from authority.validators.protocol import passes
from bench.installation import AUDIENCE, HOLDER, ISSUER, MEMORY_NAMESPACE, PROPOSER, TENANT
from capability_authority.offline import sha256, to_wire
from capability_authority.v1 import capability_service_pb2 as pb
from capability_authority.v1.statements_pb2 import Signature, SignedStatement
from capability_authority.v1.types_pb2 import PrincipalRef

SEQUENCES_EACH: Final = 2
"""Places in the order of decisions that each takes: its validation and its decision."""

_MEDIA_TYPE: Final = "application/json"
_DETERMINING: Final = ("allow-people-and-observers",)
_COSTS: Final = (Cost("draft", "bench-model", 900, 120, 2_400),)


@dataclass(frozen=True, slots=True)
class Ground:
    """What all of them have in common. Goes to other processes."""

    keys: Path
    issuer_keys: tuple[IssuerKey, ...]
    policy_version: bytes
    holder_key: bytes


@dataclass(frozen=True, slots=True)
class Committable:
    """One proposal with everything up to its capability.

    `sequence` is the place of its validation in the order of decisions; its decision has the next one.
    """

    proposal: StoredProposal
    validation: SignedValidation
    decision: SignedDecision
    capability: OpenedCapability
    fingerprint: bytes
    sequence: int

    def commit_request(self) -> pb.CommitValidatedRequest:
        """What its holder sends to commit it."""
        terms = self.capability.terms
        return pb.CommitValidatedRequest(
            capability=_message(self.capability.statement),
            presentation=pb.Presentation(
                content=self.proposal.content,
                media_type=terms.media_type,
                evidence_digests=[to_wire(digest) for digest in terms.evidence_digests],
                commit_idempotency_key=terms.commit_idempotency_key,
            ),
        )

    def issue_request(self) -> pb.IssueCapabilityRequest:
        """What its holder would have sent to have the capability issued."""
        terms = self.capability.terms
        return pb.IssueCapabilityRequest(
            request_id=terms.commit_idempotency_key,
            proposal_id=terms.proposal_id,
            proposal_revision=terms.proposal_revision,
            holder=PrincipalRef(namespace=terms.holder.namespace, id=terms.holder.id),
            holder_key_id=to_wire(terms.holder_key),
            audience=terms.audience,
            commit_idempotency_key=terms.commit_idempotency_key,
            validation_receipt=_message(self.validation.statement),
            decision_receipt=_message(self.decision.statement),
        )


def _message(statement: Statement) -> SignedStatement:
    signature = Signature(key_id=statement.key_id, signature=statement.signature)
    return SignedStatement(payload_type=statement.payload_type, payload=statement.payload, signature=signature)


class Maker:
    """Makes them, one after the other; no two have the same content."""

    def __init__(self, ground: Ground) -> None:
        ring = KeyRing(KeyFolder(ground.keys))
        ring.replace(ground.issuer_keys)
        self._ground = ground
        self._reader = StatementReader(ring)
        self._signer = KeyedSigner(ring, self._reader, ISSUER)
        self._clock, self._ids = SystemClock(), TimeOrderedIds()

    def make(self, sequence: int) -> Committable:
        """The one that takes SEQUENCES_EACH places from here on; nothing else may have them."""
        now = self._clock.now()
        content = _content(sequence)
        revision = self._revision(content, now)
        digest = self._reader.proposal_digest(revision)
        proposal = StoredProposal(revision, content, digest, ProposalState.VALIDATED)
        validation = self._validation(proposal, now)
        decision = self._decision(proposal, validation, sequence + 1, now)
        capability = self._signer.sign_capability(self._terms(proposal, validation, decision, now))
        terms = capability.terms
        presentation = Presentation(
            content, terms.content_digest, terms.media_type, terms.evidence_digests, terms.commit_idempotency_key
        )
        fingerprint = self._reader.fingerprint(terms, presentation)
        return Committable(proposal, validation, decision, capability, fingerprint, sequence)

    def _revision(self, content: bytes, now: Instant) -> ProposalRevision:
        return ProposalRevision(
            tenant=TENANT,
            memory_namespace=MEMORY_NAMESPACE,
            proposal_id=self._ids.new(),
            revision=1,
            proposer=PROPOSER,
            proposer_kind=PrincipalKind.USER,
            actor_chain=(),
            provenance=stamp_provenance(PrincipalKind.USER, MemoryType.DURABLE_FACT),
            memory_type=MemoryType.DURABLE_FACT,
            content_digest=sha256(content),
            media_type=_MEDIA_TYPE,
            source_refs=("thread:1",),
            subject_refs=("client:7",),
            evidence_digests=(sha256(content[:16]),),
            validator_profile=BASELINE,
            visibility=Visibility.WORKSPACE,
            valid_from_time=None,
            valid_until_time=None,
            record_expire_time=None,
            correlation_id="bench",
            costs=_COSTS,
            supersedes_record_id="",
            create_time=now,
        )

    def _validation(self, proposal: StoredProposal, now: Instant) -> SignedValidation:
        asked = BUILT_IN[BASELINE][1]
        findings = tuple(ValidatorName(name, BASELINE_VERSION).finds(passes()) for name in asked)
        return self._signer.sign_validation(
            ValidationReceipt(
                validation_id=self._ids.new(),
                issuer=ISSUER,
                tenant=TENANT,
                memory_namespace=MEMORY_NAMESPACE,
                proposal_id=proposal.revision.proposal_id,
                proposal_revision=1,
                proposal_digest=proposal.digest,
                validator_profile=BASELINE,
                validator_profile_version=BASELINE_VERSION,
                findings=findings,
                outcome=worst(findings),
                validate_time=now,
                expire_time=after(now, limits.VALIDATION_LIFETIME_MS),
            )
        )

    def _decision(
        self, proposal: StoredProposal, validation: SignedValidation, sequence: int, now: Instant
    ) -> SignedDecision:
        return self._signer.sign_decision(
            DecisionReceipt(
                decision_id=self._ids.new(),
                issuer=ISSUER,
                tenant=TENANT,
                memory_namespace=MEMORY_NAMESPACE,
                holder=HOLDER,
                action=COMMIT_ACTION,
                proposal_id=proposal.revision.proposal_id,
                proposal_revision=1,
                proposal_digest=proposal.digest,
                validation_receipt_digest=validation.digest,
                approval_references=(),
                policy_version=self._ground.policy_version,
                outcome=DecisionOutcome.ALLOW,
                determining_policies=_DETERMINING,
                sequence=sequence,
                decide_time=now,
                expire_time=after(now, limits.DECISION_LIFETIME_MS),
                correlation_id=proposal.revision.correlation_id,
            )
        )

    def _terms(
        self, proposal: StoredProposal, validation: SignedValidation, decision: SignedDecision, now: Instant
    ) -> CommitCapability:
        revision = proposal.revision
        return CommitCapability(
            capability_id=self._ids.new(),
            issuer=ISSUER,
            audience=AUDIENCE,
            tenant=TENANT,
            memory_namespace=MEMORY_NAMESPACE,
            subject=revision.proposer,
            holder=HOLDER,
            holder_key=self._ground.holder_key,
            action=COMMIT_ACTION,
            proposal_id=revision.proposal_id,
            proposal_revision=1,
            proposal_digest=proposal.digest,
            content_digest=revision.content_digest,
            media_type=revision.media_type,
            evidence_digests=revision.evidence_digests,
            validator_profile=BASELINE,
            validator_profile_version=BASELINE_VERSION,
            validation_receipt_digest=validation.digest,
            policy_version=self._ground.policy_version,
            decision_receipt_digest=decision.digest,
            approval_reference="",
            commit_idempotency_key=self._ids.new(),
            not_before_time=now,
            expire_time=after(now, limits.CAPABILITY_LIFETIME_MS),
            max_uses=1,
            correlation_id=revision.correlation_id,
            grant_digest=b"",
        )


def _content(number: int) -> bytes:
    """A small document in canonical form, as an agent would learn: some 150 bytes."""
    lesson = f"Invoice {number} was paid after 14 days; the customer asks for a reminder on the tenth."
    document = {"confidence": 0.8, "lesson": lesson, "number": number, "tags": ["billing", "customers"]}
    return json.dumps(document, separators=(",", ":")).encode()
