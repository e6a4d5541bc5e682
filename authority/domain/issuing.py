"""Judges whether a commit capability may be issued (semantics §4)."""

from dataclasses import dataclass

from authority.domain.capability import OpenedCapability
from authority.domain.decision import DecisionOutcome, DecisionReceipt, SignedDecision
from authority.domain.identity import HOLDER_KINDS, Caller, Principal, PrincipalKind, Right
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.proposal_states import COMMITTABLE, proposal_state_at, refusal_of
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal, binding_mismatch, highest
from authority.domain.validation import SignedValidation, ValidationOutcome, ValidationReceipt

UNDOES_A_REVOCATION = Refusal(
    Reason.REVOKED, {"field": "request_id", "problem": "its capability was revoked; a new request_id asks for another"}
)


@dataclass(frozen=True, slots=True)
class IssuingQuestion:
    """What must be known before a capability is issued; the digests are those of the presented receipts."""

    tenant: TenantRef
    proposal_id: str
    proposal_revision: int
    validation_digest: bytes
    decision_digest: bytes
    holder: PrincipalRef
    holder_key_id: str


@dataclass(frozen=True, slots=True)
class IssuingFacts:
    """The stored state that a capability is issued on. The proposal's content may be left out: its digest is bound."""

    proposal: StoredProposal
    is_newest_revision: bool
    has_validation: bool
    """Whether the presented validation receipt is one that was kept."""
    has_decision: bool
    """Whether the presented decision receipt is one that was kept."""
    policy_version: bytes
    """The one that is active in the proposal's memory namespace."""
    holder: Principal | None
    holder_key_active: bool


def judge_caller(caller: Caller, holder: PrincipalRef) -> Refusal | None:
    """NOT_ALLOWED unless the caller may issue, or is the holder and may commit (case I09).

    Judged before anything is looked up: whoever may not issue is not told what exists (case G02).
    """
    asked_for = Right.COMMIT if caller.ref == holder else Right.ISSUE
    allowed = caller.principal.may(asked_for)
    return None if allowed else Refusal(Reason.NOT_ALLOWED, {"right": asked_for.value})


def judge_caller_of_many(caller: Caller) -> Refusal | None:
    """NOT_ALLOWED for a caller whose every request would be: it may neither issue nor commit."""
    able = caller.principal.may(Right.ISSUE) or caller.principal.may(Right.COMMIT)
    return None if able else Refusal(Reason.NOT_ALLOWED, {"right": Right.ISSUE.value})


def judge_holder(facts: IssuingFacts) -> Refusal | None:
    """NOT_ALLOWED unless the holder may hold with this key (case I09)."""
    if facts.holder is None or facts.holder.kind not in HOLDER_KINDS or not facts.holder.may(Right.COMMIT):
        return Refusal(Reason.NOT_ALLOWED, {"field": "holder", "problem": "not a service or user that may commit"})
    if not facts.holder_key_active:
        return Refusal(Reason.NOT_ALLOWED, {"field": "holder_key_id", "problem": "not an active key of the holder"})
    return None


def may_revoke(caller: Caller, holder: PrincipalRef) -> bool:
    """Whether the caller may withdraw a capability of this holder: as the holder, an admin, or whoever may issue."""
    return caller.ref == holder or caller.principal.kind is PrincipalKind.ADMIN or caller.principal.may(Right.ISSUE)


def judge_offer(
    offer: OpenedCapability | Refusal, *, asked_before: bool, was_revoked: bool
) -> OpenedCapability | Refusal:
    """What a commit key without a live capability is answered: the offer, or the highest refusal.

    `asked_before` says that the request id was answered before, `was_revoked` that a capability of the key was revoked.
    Both together are REVOKED: a retry never undoes a revocation, however late it comes; a new request id asks anew.
    """
    revoked = UNDOES_A_REVOCATION if asked_before and was_revoked else None
    return highest((revoked, offer if isinstance(offer, Refusal) else None)) or offer


def judge_receipts(
    validation: SignedValidation,
    decision: SignedDecision,
    signature_refusals: tuple[Refusal | None, ...],
    holder: PrincipalRef,
    facts: IssuingFacts,
    now: Instant,
) -> Refusal | None:
    """The highest refusal of the presented receipts against the stored revision; cases I10, I12, I13, E16."""
    return highest(
        (
            *signature_refusals,
            _judge_validation_binding(validation, facts),
            _judge_decision_binding(validation, decision, holder, facts),
            _judge_policy(decision.receipt, facts),
            _judge_expiry(validation.receipt, decision.receipt, now),
            _judge_proposal_expiry(facts, now),
            _judge_validated(validation.receipt, facts),
            _judge_approval(decision.receipt),
        )
    )


def _judge_validation_binding(validation: SignedValidation, facts: IssuingFacts) -> Refusal | None:
    receipt, revision = validation.receipt, facts.proposal.revision
    bound = (receipt.tenant, receipt.memory_namespace, receipt.proposal_digest, receipt.validator_profile)
    stored = (revision.tenant, revision.memory_namespace, facts.proposal.digest, revision.validator_profile)
    fits = bound == stored and facts.has_validation
    return None if fits else binding_mismatch("validation_receipt_digest")


def _judge_decision_binding(
    validation: SignedValidation, decision: SignedDecision, holder: PrincipalRef, facts: IssuingFacts
) -> Refusal | None:
    receipt, revision = decision.receipt, facts.proposal.revision
    bound = (
        receipt.tenant,
        receipt.memory_namespace,
        receipt.holder,
        receipt.proposal_digest,
        receipt.validation_receipt_digest,
    )
    stored = (revision.tenant, revision.memory_namespace, holder, facts.proposal.digest, validation.digest)
    fits = bound == stored and facts.has_decision
    return None if fits else binding_mismatch("decision_receipt_digest")


def _judge_policy(decision: DecisionReceipt, facts: IssuingFacts) -> Refusal | None:
    changed = decision.policy_version != facts.policy_version
    return Refusal(Reason.POLICY_DENIED) if changed or decision.outcome is DecisionOutcome.DENY else None


def _judge_expiry(validation: ValidationReceipt, decision: DecisionReceipt, now: Instant) -> Refusal | None:
    expired = "validation_receipt" if now >= validation.expire_time else ""
    expired = expired or ("decision_receipt" if now >= decision.expire_time else "")
    return Refusal(Reason.EXPIRED, {"field": expired}) if expired else None


def _judge_proposal_expiry(facts: IssuingFacts, now: Instant) -> Refusal | None:
    state = proposal_state_at(facts.proposal, now)
    return refusal_of(state) if state is ProposalState.EXPIRED else None


def _judge_validated(validation: ValidationReceipt, facts: IssuingFacts) -> Refusal | None:
    good = validation.outcome is not ValidationOutcome.FAIL and facts.is_newest_revision
    standing = facts.proposal.state in COMMITTABLE | {ProposalState.COMMITTED}
    return None if good and standing else Refusal(Reason.NOT_VALIDATED)


def _judge_approval(decision: DecisionReceipt) -> Refusal | None:
    return Refusal(Reason.APPROVAL_REQUIRED) if decision.outcome is DecisionOutcome.REQUIRE_APPROVAL else None
