"""What policy decides, and the approvals that persons give (semantics §7)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from authority.domain.identity import Principal
from authority.domain.proposal import ProposalRevision, StoredProposal
from authority.domain.record import MemoryNamespace, Mode
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.statement import Statement
from authority.domain.validation import Finding, SignedValidation, ValidationOutcome

COMMIT_ACTION = "memory.commit-validated"
"""The only action a commit capability can name (ADR-328, closed vocabulary)."""


class DecisionOutcome(Enum):
    """Deny beats require_approval beats allow; unmatched is deny."""

    ALLOW = "allow"
    REQUIRE_APPROVAL = "require_approval"
    DENY = "deny"


class ApprovalVerdict(Enum):
    """A person's decision on one exact revision."""

    APPROVE = "approve"
    REJECT = "reject"
    REQUEST_CHANGES = "request_changes"
    REVOKE = "revoke"

    @property
    def turns_down(self) -> bool:
        """Whether it ends the revision: no other decision and no validation revives it, only a new revision does."""
        return self in (ApprovalVerdict.REJECT, ApprovalVerdict.REQUEST_CHANGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One append-only decision of a person; its reference is what receipts and capabilities name."""

    reference: str
    tenant: TenantRef
    proposal_id: str
    proposal_revision: int
    proposal_digest: bytes
    validation_receipt_digest: bytes
    verdict: ApprovalVerdict
    decided_by: PrincipalRef
    note: str
    decide_time: Instant
    expire_time: Instant


@dataclass(frozen=True, slots=True)
class PolicyQuestion:
    """The facts policy judges, read by the authority from its own store: callers pass ids, never facts."""

    holder: Principal
    memory_namespace: str
    privileged: bool
    revision: ProposalRevision
    validation: ValidationOutcome
    approved: bool
    mode: Mode = Mode.ENFORCE
    """Of the memory namespace."""
    validator_profile_version: str = ""
    findings: tuple[Finding, ...] = ()
    """What each validator said; `validation` is the worst of it."""
    subject: PrincipalRef | None = None
    """Of the grant under which it was proposed."""

    def once_approved(self) -> "PolicyQuestion":
        """The same question with a standing approval."""
        return replace(self, approved=True)


@dataclass(frozen=True, slots=True)
class PolicyAnswer:
    """The outcome and the ids of the policies that determined it."""

    outcome: DecisionOutcome
    determining_policies: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionReceipt:
    """The payload that the decision key signs."""

    decision_id: str
    issuer: str
    tenant: TenantRef
    memory_namespace: str
    holder: PrincipalRef
    action: str
    proposal_id: str
    proposal_revision: int
    proposal_digest: bytes
    validation_receipt_digest: bytes
    approval_references: tuple[str, ...]
    policy_version: bytes
    outcome: DecisionOutcome
    determining_policies: tuple[str, ...]
    sequence: int
    decide_time: Instant
    expire_time: Instant
    correlation_id: str


@dataclass(frozen=True, slots=True)
class SignedDecision:
    """A decision receipt with its statement and digest."""

    receipt: DecisionReceipt
    statement: Statement
    digest: bytes


@dataclass(frozen=True, slots=True)
class DecisionFacts:
    """What policy judges, read in one transaction after the decision's sequence was drawn."""

    proposal: StoredProposal
    is_newest_revision: bool
    validation: SignedValidation | None
    """The newest one of the revision."""
    approvals: tuple[Approval, ...]
    """The decisions on the revision, in the order in which they were taken."""
    namespace: MemoryNamespace
    holder: Principal | None
    bundle: str
    """Source text of the active policy bundle."""


def standing_approval(approvals: Sequence[Approval], validation_digest: bytes, now: Instant) -> Approval | None:
    """The newest approval that still counts: unexpired, on exactly this validation, with no later decision against it.

    `approvals` are the decisions on one revision in the order in which they were taken.
    """
    last = approvals[-1] if approvals else None
    if last is None or last.verdict is not ApprovalVerdict.APPROVE:
        return None
    return last if last.validation_receipt_digest == validation_digest and now < last.expire_time else None
