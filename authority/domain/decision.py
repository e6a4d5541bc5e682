"""What policy decides, and the approvals that persons give (semantics §7)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from authority.domain.citation import NOTHING_CITED, CitedMemory
from authority.domain.external_authority import ExternalAuthority
from authority.domain.identity import Principal, PrincipalKind, Right
from authority.domain.proposal import ProposalRevision, StoredProposal
from authority.domain.record import MemoryNamespace, Mode
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.statement import Statement
from authority.domain.validation import Finding, SignedValidation, ValidationOutcome

COMMIT_ACTION = "memory.commit-validated"
"""The only action a commit capability can name (ADR-328, closed vocabulary)."""

AUTO_APPROVED = "auto_approved_by_policy"
"""How the audit log calls what policy allowed without a person; never a person's review (seed 002)."""


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
    ADOPT = "adopt"

    @property
    def is_against(self) -> bool:
        """Whether it takes every earlier approval of the revision back."""
        return self.turns_down or self is ApprovalVerdict.REVOKE

    @property
    def turns_down(self) -> bool:
        """Whether it ends the revision: no other decision and no validation revives it, only a new revision does."""
        return self in (ApprovalVerdict.REJECT, ApprovalVerdict.REQUEST_CHANGES)


class DeciderKind(Enum):
    """Who decided: a person as such, a person as an administrator, or a rule of policy, which is no person's review."""

    USER = "user"
    ADMIN = "admin"
    SYSTEM_POLICY = "system_policy"


def decider_kind(kind: PrincipalKind) -> DeciderKind:
    """As what a person of this kind of principal decides."""
    return DeciderKind.ADMIN if kind is PrincipalKind.ADMIN else DeciderKind.USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One append-only decision on an exact revision; its reference is what receipts and capabilities name.

    Of policy it says that a decision allowed the revision without a person: `auto_approved_by_policy`, which a person
    can take back until a person has adopted it (seed 002, Approval And Audit State).
    """

    reference: str
    tenant: TenantRef
    proposal_id: str
    proposal_revision: int
    proposal_digest: bytes
    validation_receipt_digest: bytes
    verdict: ApprovalVerdict
    decided_by: PrincipalRef | None
    """None when policy did."""
    decided_by_kind: DeciderKind
    note: str
    decide_time: Instant
    expire_time: Instant
    holder: PrincipalRef | None = None
    """The one who may commit under it; anyone when None."""
    max_uses: int | None = None
    """How many decisions may rest on it; None sets no number, for a proposal commits once."""
    is_used_up: bool = False
    """Whether as many decisions rest on it already."""
    policy_version: bytes = b""
    """Of the bundle that allowed it, where policy did."""
    determining_policies: tuple[str, ...] = ()
    """The policies that allowed it, where policy did."""


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decided, as the registry knows it now."""

    principal: Principal | None
    """None when it was revoked since."""
    person: frozenset[PrincipalRef]
    """Every principal that is the same person over verified, unrevoked links, itself included."""

    @property
    def may_decide(self) -> bool:
        """Whether it is active, of a kind that decides, and has the right now."""
        return self.principal is not None and self.principal.may(Right.DECIDE)


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
    validator_profile: str = ""
    """The one that judged it, which is not always the one that was chosen; empty for the chosen one."""
    validator_profile_version: str = ""
    findings: tuple[Finding, ...] = ()
    """What each validator said; `validation` is the worst of it."""
    subject: PrincipalRef | None = None
    """Of the grant under which it was proposed."""
    cited: CitedMemory = NOTHING_CITED
    """What became of the memory that it cites."""

    def once_approved(self) -> "PolicyQuestion":
        """The same question with a standing approval."""
        return replace(self, approved=True)


@dataclass(frozen=True, slots=True)
class PolicyAnswer:
    """The outcome and the ids of the policies that determined it."""

    outcome: DecisionOutcome
    determining_policies: tuple[str, ...]
    persons_needed: int = 0
    """How many persons must approve: 0 unless an approval is required (`@quorum`)."""


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
    persons_needed: int = 0
    """How many persons policy wanted to approve: 0 where it wanted none."""

    @property
    def activates(self) -> bool:
        """Whether policy allowed it without a person, so that a person can take it back until one adopts it."""
        return self.outcome is DecisionOutcome.ALLOW and not self.approval_references

    @property
    def next_state(self) -> str:
        """What the audit log says that it came to."""
        return AUTO_APPROVED if self.activates else self.outcome.value


@dataclass(frozen=True, slots=True)
class SignedDecision:
    """A decision receipt with its statement and digest."""

    receipt: DecisionReceipt
    statement: Statement
    digest: bytes
    external_key_ids: tuple[str, ...] = field(default=(), compare=False)
    """Of the keys by which external decisions were signed that it rests on: the store keeps them beside it."""


@dataclass(frozen=True, slots=True)
class DecisionFacts:
    """What policy judges, read in one transaction after the decision's sequence was drawn."""

    proposal: StoredProposal
    is_newest_revision: bool
    validation: SignedValidation | None
    """The newest one of the revision."""
    approvals: tuple[Approval, ...]
    """The decisions on the revision, in the order in which they were taken."""
    deciders: Mapping[PrincipalRef, Decider]
    """Every person among those who took them."""
    namespace: MemoryNamespace
    holder: Principal | None
    bundle: str
    """Source text of the active policy bundle."""
    cited: CitedMemory = NOTHING_CITED
    """What became by now of the memory that the revision cites, as its proposer may read it."""
    externals: tuple[ExternalAuthority, ...] = ()
    """Who else may have a say in the tenant."""


def unless_withdrawn(answer: PolicyAnswer, cited: CitedMemory) -> PolicyAnswer:
    """Deny, whatever policy says, where a proposal rests on memory that is read no more, named as `cited:<record id>`.

    What a record said when it was cited, or was stamped with, is no authorisation (ADR-328 test 13): whoever still
    means it proposes anew, by what is known now.
    """
    if not cited.withdrawn:
        return answer
    return PolicyAnswer(DecisionOutcome.DENY, tuple(f"cited:{record_id}" for record_id in sorted(cited.withdrawn)))
