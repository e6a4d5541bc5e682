"""What the RPCs call: one attribute for each verb."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.aggregate import AggregateCount
from authority.domain.audit import AuditFilter, ToldEvent
from authority.domain.capability import Presentation
from authority.domain.citation import Citation, Cited
from authority.domain.decision import SignedDecision
from authority.domain.evidence import Evidence
from authority.domain.identity import Caller
from authority.domain.invocation import Call
from authority.domain.plan import StoredReceipt
from authority.domain.policy_version import PolicyVersion
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.recall import RecallHit
from authority.domain.record import MemoryRecord
from authority.domain.refusal import Refusal
from authority.domain.replay import ReplayAnswer
from authority.domain.review import AwaitedReview
from authority.domain.statement import Statement
from authority.usecases.authenticate import Shown
from authority.usecases.cite import CitationRequest
from authority.usecases.commit import CommitAnswer, CommitRequest
from authority.usecases.commit_stream import CommitItem
from authority.usecases.correct_record import Correction
from authority.usecases.create_proposal import ProposalRequest
from authority.usecases.decide_proposal import ApprovalRequest
from authority.usecases.evaluate_policy import PolicyRequest
from authority.usecases.export_record import ExportForm, RecordExport
from authority.usecases.grants.look_after import FoundGrant, GrantRevocation
from authority.usecases.grants.make import GrantExchange, GrantRequest
from authority.usecases.grants.verify import GrantQuestion, GrantVerdict
from authority.usecases.issue import IssueRequest
from authority.usecases.paging import Page, PageRequest
from authority.usecases.ports import (
    IssuedCapability,
    MadeGrant,
    RecordedApproval,
    RecordedValidation,
    RequestMark,
    RevokedCapability,
    RevokedGrant,
    WithdrawnProposal,
    WrittenUnvalidated,
)
from authority.usecases.prove_by_envelope import Proven
from authority.usecases.put_evidence import EvidenceRequest
from authority.usecases.read_audit import AuditWatch
from authority.usecases.read_evidence import EvidenceQuery
from authority.usecases.read_key_set import PublishedKeySet
from authority.usecases.read_proposals import FoundProposal
from authority.usecases.read_receipts import FoundReceipt, ReceiptQuery
from authority.usecases.recall_aggregate import AggregateRequest
from authority.usecases.recall_records import RecallRequest
from authority.usecases.reserve_replay import ReplayRequest
from authority.usecases.resolve_key import ResolvedKey
from authority.usecases.revoke_capability import RevocationRequest
from authority.usecases.revoke_record import RecordRevocation, RevocationAnswer
from authority.usecases.validate_proposal import StillValidating, ValidationRequest
from authority.usecases.verify_action_envelope import EnvelopeQuestion, EnvelopeVerdict
from authority.usecases.verify_capability import CapabilityVerdict
from authority.usecases.watch_revocations import RevocationWatch
from authority.usecases.withdraw_proposal import ProposalWithdrawal
from authority.usecases.write_unvalidated import UnvalidatedRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCases:
    """The use cases behind the RPCs, wired by bootstrap: each is the `__call__` of the class of that name."""

    authenticate: Callable[[Shown, Call], Awaitable[Caller | Refusal]]
    admit_stream: Callable[[Caller], Awaitable[Refusal | None]]

    issue: Callable[[Caller, IssueRequest], Awaitable[IssuedCapability | Refusal]]
    issue_batch: Callable[
        [Caller, Sequence[IssueRequest | Refusal], float], Awaitable[list[IssuedCapability | Refusal] | Refusal]
    ]
    issue_grant: Callable[[Caller, GrantRequest], Awaitable[MadeGrant | Refusal]]
    exchange_grant: Callable[[Caller, GrantExchange], Awaitable[MadeGrant | Refusal]]
    revoke_grant: Callable[[Caller, GrantRevocation], Awaitable[RevokedGrant | Refusal]]
    get_grant: Callable[[Caller, bytes], Awaitable[FoundGrant | Refusal]]
    verify_grant: Callable[[Caller, GrantQuestion], Awaitable[GrantVerdict | Refusal]]
    verify_capability: Callable[[Caller, Statement, Presentation | None], Awaitable[CapabilityVerdict | Refusal]]
    prove_by_envelope: Callable[[Shown, CommitRequest, bytes], Awaitable[Proven | Refusal]]
    commit: Callable[[Caller, CommitRequest], Awaitable[CommitAnswer | Refusal]]
    commit_batch: Callable[
        [Caller, Sequence[CommitRequest | Refusal], float], Awaitable[list[CommitAnswer | Refusal] | Refusal]
    ]
    open_commit_stream: Callable[[Caller], Awaitable[CommitItem | Refusal]]
    revoke_capability: Callable[[Caller, RevocationRequest], Awaitable[RevokedCapability | Refusal]]
    get_receipt: Callable[[Caller, ReceiptQuery], Awaitable[FoundReceipt | Refusal]]
    list_receipts: Callable[[Caller, str, PageRequest], Awaitable[Page[StoredReceipt] | Refusal]]
    get_key_set: Callable[[], Awaitable[PublishedKeySet]]
    open_revocation_watch: Callable[[Caller, int], Awaitable[RevocationWatch]]

    create_proposal: Callable[[Caller, ProposalRequest], Awaitable[StoredProposal | Refusal]]
    get_proposal: Callable[[Caller, str, int], Awaitable[FoundProposal | Refusal]]
    list_proposals: Callable[
        [Caller, str, ProposalState | None, PageRequest], Awaitable[Page[StoredProposal] | Refusal]
    ]
    list_reviews: Callable[[Caller, str, PageRequest], Awaitable[Page[AwaitedReview] | Refusal]]
    validate_proposal: Callable[[Caller, ValidationRequest], Awaitable[RecordedValidation | StillValidating | Refusal]]
    decide_proposal: Callable[[Caller, ApprovalRequest], Awaitable[RecordedApproval | Refusal]]
    withdraw_proposal: Callable[[Caller, ProposalWithdrawal], Awaitable[WithdrawnProposal | Refusal]]
    decide_proposals: Callable[
        [Caller, RequestMark, Sequence[ApprovalRequest | Refusal]],
        Awaitable[list[RecordedApproval | Refusal] | Refusal],
    ]

    evaluate_policy: Callable[[Caller, PolicyRequest], Awaitable[SignedDecision | Refusal]]
    get_policy_version: Callable[[Caller, bytes], Awaitable[PolicyVersion | Refusal]]

    get_record: "GetMemoryRecord"
    list_records: "ListMemoryRecords"
    write_unvalidated: Callable[[Caller, UnvalidatedRequest], Awaitable[WrittenUnvalidated | Refusal]]
    revoke_record: Callable[[Caller, RecordRevocation], Awaitable[RevocationAnswer | Refusal]]
    recall: Callable[[Caller, RecallRequest], Awaitable[Page[RecallHit] | Refusal]]
    recall_aggregate: Callable[[Caller, AggregateRequest], Awaitable[Sequence[AggregateCount] | Refusal]]
    register_citation: Callable[[Caller, CitationRequest], Awaitable[Citation | Refusal]]
    export_record: Callable[[Caller, str, ExportForm], Awaitable[RecordExport | Refusal]]
    list_citations: Callable[[Caller, Cited, PageRequest], Awaitable[Page[Citation] | Refusal]]
    correct_record: Callable[[Caller, Correction], Awaitable[StoredProposal | Refusal]]

    put_evidence: Callable[[Caller, EvidenceRequest], Awaitable[Evidence | Refusal]]
    read_evidence: Callable[[Caller, EvidenceQuery], Awaitable[Evidence | Refusal]]

    resolve_key: Callable[[Caller, str], Awaitable[ResolvedKey | Refusal]]
    reserve_replay: Callable[[Caller, ReplayRequest], Awaitable[ReplayAnswer | Refusal]]
    verify_action_envelope: Callable[[Caller, EnvelopeQuestion], Awaitable[EnvelopeVerdict | Refusal]]

    list_audit_events: "ListEvents"
    open_audit_watch: "OpenWatch"


class GetMemoryRecord(Protocol):
    """`GetRecord`."""

    async def __call__(
        self, caller: Caller, record_id: str, *, with_unvalidated: bool = False
    ) -> MemoryRecord | Refusal:
        """Answers it."""
        ...


class ListMemoryRecords(Protocol):
    """`ListRecords`."""

    async def __call__(
        self, caller: Caller, memory_namespace: str, page: PageRequest, *, with_unvalidated: bool = False
    ) -> Page[MemoryRecord] | Refusal:
        """Answers it."""
        ...


class ListEvents(Protocol):
    """`ListAuditEvents`."""

    async def __call__(
        self, caller: Caller, wanted: AuditFilter, page: PageRequest, *, oldest_first: bool
    ) -> Page[ToldEvent] | Refusal:
        """Answers it."""
        ...


class OpenWatch(Protocol):
    """`OpenAuditWatch`."""

    async def __call__(
        self, caller: Caller, wanted: AuditFilter, cursor: str, *, from_beginning: bool
    ) -> AuditWatch | Refusal:
        """Answers it."""
        ...
