"""What the verbs answer with. Each holds the message it came in, and says in words what people ask of it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from capability_authority.client.credentials import Reference
from capability_authority.client.words import word_of
from capability_authority.offline import RevocationFeed
from capability_authority.v1 import memory_service_pb2, proposal_service_pb2, types_pb2
from capability_authority.v1.statements_pb2 import CommitCapability, CommitReceipt, SignedStatement
from capability_authority.v1.statements_pb2 import Revocation as RevocationItem

__all__ = [
    "CapabilityVerdict",
    "Committed",
    "Finding",
    "IssuedCapability",
    "MemoryRecord",
    "PolicyBundle",
    "PolicyDecision",
    "Proposal",
    "ProposalWithdrawal",
    "Receipt",
    "RecordRevocation",
    "Review",
    "Revision",
    "RevisionLike",
    "Revocation",
    "RevocationNews",
    "Validation",
]


class RevisionLike(Protocol):
    """Whatever names one revision of a proposal: a `Proposal`, or a `Revision`."""

    @property
    def proposal_id(self) -> str:
        """The id that the authority gave."""
        ...

    @property
    def revision(self) -> int:
        """1 and up."""
        ...


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of a proposal, by name."""

    proposal_id: str
    revision: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """One revision of a proposal as the authority stores it."""

    message: proposal_service_pb2.Proposal
    """All of it."""
    validation_receipt: SignedStatement | None = None
    """The newest validation receipt of the revision, when it was asked for by `get_proposal` and there is one."""
    decisions: tuple[proposal_service_pb2.RevisionDecision, ...] = ()
    """What was decided on it, in that order, when it was asked for by `get_proposal`; the newest 200."""
    content_erased: bool = False
    """Whether its content failed for secrets and was erased after its review; told by `get_proposal`."""

    def __repr__(self) -> str:
        """Short: the content may be large."""
        return f"<Proposal {self.proposal_id} revision {self.revision}, {self.state}>"

    @property
    def proposal_id(self) -> str:
        """The id that the authority gave, the same in every revision."""
        return self.message.proposal_id

    @property
    def supersedes_record_id(self) -> str:
        """Of the record whose place its commit takes; empty when it corrects none."""
        return self.message.supersedes_record_id

    @property
    def revision(self) -> int:
        """1 and up."""
        return self.message.revision

    @property
    def state(self) -> str:
        """For example "proposed" or "validated"; the words of `ProposalState`."""
        return word_of(proposal_service_pb2.ProposalState, self.message.state)

    @property
    def memory_namespace(self) -> str:
        """Where the memory would live."""
        return self.message.memory_namespace

    @property
    def memory_type(self) -> str:
        """For example "durable_fact"; the words of `MemoryType`."""
        return word_of(types_pb2.MemoryType, self.message.memory_type)

    @property
    def provenance(self) -> str:
        """What the authority stamped: "system_observation", "tool_result", "user_claim", "agent_output", "unknown"."""
        return word_of(types_pb2.Provenance, self.message.provenance)

    @property
    def proposer(self) -> Reference:
        """Who proposed it."""
        return Reference(self.message.proposer.namespace, self.message.proposer.id)

    @property
    def content(self) -> bytes:
        """The exact bytes; empty in a listed proposal, and where `content_erased`."""
        return self.message.content

    @property
    def content_digest(self) -> str:
        """Of the exact bytes."""
        return self.message.content_digest

    @property
    def media_type(self) -> str:
        """Of the content."""
        return self.message.media_type

    @property
    def proposal_digest(self) -> str:
        """Covers every field of the revision."""
        return self.message.proposal_digest


@dataclass(frozen=True, slots=True)
class Finding:
    """What one validator said."""

    validator: str
    validator_version: str
    outcome: str
    """"pass", "review" or "fail"."""
    reason: str
    """A machine word such as "exact_duplicate"; empty when the outcome is "pass"."""
    confidence: float
    """From 0 to 1."""


@dataclass(frozen=True, slots=True)
class Validation:
    """What the validators of the profile said of one revision."""

    receipt: SignedStatement = field(repr=False)
    """The signed validation receipt, to issue with."""
    outcome: str
    """"pass", "review" (a person must look) or "fail"; "unspecified" while `state` is "validating"."""
    findings: tuple[Finding, ...]
    state: str
    """The state of the proposal now. While it is "validating" there is no receipt yet."""
    request_id: str = field(default="", repr=False)
    """Of the request: asked for again under it, what takes long goes on."""


@dataclass(frozen=True, slots=True)
class Review:
    """What came of a person's decision on one revision."""

    approval_reference: str
    """Named by decision receipts and capabilities that rest on this approval."""
    state: str
    """The state of the proposal now."""


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """What policy said of one holder committing one revision."""

    receipt: SignedStatement = field(repr=False)
    """The signed decision receipt, to issue with."""
    outcome: str
    """"allow", "require_approval" or "deny". Only "allow" lets a capability be issued."""
    determining_policies: tuple[str, ...]
    policy_version: str
    """The digest of the policy bundle."""


@dataclass(frozen=True, slots=True)
class PolicyBundle:
    """A policy bundle and where it decides."""

    policy_version: str
    """Its digest, which decisions name."""
    bundle: str = field(repr=False)
    """Cedar source, exactly as the operator loaded it."""
    load_time: datetime
    active_memory_namespaces: tuple[str, ...]
    """Those of the caller's tenant that it decides in now, by name."""


@dataclass(frozen=True, slots=True)
class IssuedCapability:
    """The right to commit exactly one content exactly once."""

    statement: SignedStatement
    terms: CommitCapability
    """What it binds, as it says itself; its signature is the authority's to judge."""
    replayed: bool
    """Whether it existed before this call."""

    def __repr__(self) -> str:
        """Short: the statement is bytes, and its terms are many."""
        until = f"{self.expire_time:%Y-%m-%dT%H:%M:%SZ}"
        return f"<IssuedCapability {self.capability_id} for {self.commit_idempotency_key!r} until {until}>"

    @property
    def capability_id(self) -> str:
        """Its id."""
        return self.terms.capability_id

    @property
    def commit_idempotency_key(self) -> str:
        """The only key under which it can be committed."""
        return self.terms.commit_idempotency_key

    @property
    def expire_time(self) -> datetime:
        """When it ends, in UTC."""
        return self.terms.expire_time.ToDatetime(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CapabilityVerdict:
    """What the authority says of a capability now. Nothing was used up."""

    granted: bool
    reason: str
    """The name of an ErrorReason without its prefix; empty when granted."""
    facts: dict[str, str]
    """What the refusal names, such as `term`."""
    receipt_id: str
    """Of the commit that consumed the capability; empty when none did."""


@dataclass(frozen=True, slots=True)
class Revocation:
    """A capability that was withdrawn for ever."""

    revoke_time: datetime
    """When it was revoked first, in UTC."""
    replayed: bool
    """Whether it was revoked before this call."""


@dataclass(frozen=True, slots=True)
class ProposalWithdrawal:
    """A proposal that was withdrawn for ever."""

    withdraw_time: datetime
    """When it was withdrawn first, in UTC."""
    replayed: bool
    """Whether it was withdrawn before this call."""


@dataclass(frozen=True, slots=True)
class RecordRevocation:
    """A record that was withdrawn for ever, with every other one of its memory namespace that said the same."""

    revoke_time: datetime
    """When it was revoked first, in UTC."""
    sequence: int
    """Its place among the decisions and revocations of the authority: what was decided before it stays withdrawn."""
    replayed: bool
    """Whether it was revoked before this call."""
    revision_token: str
    """`recall` takes it as `at_least_as_fresh_as`: its answer then knows of the revocation."""


@dataclass(frozen=True, slots=True)
class RevocationNews:
    """One message of a watch, taken in: what was withdrawn, or nothing for a while."""

    revoked: tuple[RevocationItem, ...]
    feed: RevocationFeed
    """Holds these, and all before them."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """A commit receipt."""

    receipt_id: str
    record_id: str
    statement: SignedStatement = field(repr=False)
    """The exact bytes of the first success; `SerializeToString` of it is what to keep as a file."""
    attestation: SignedStatement | None = field(repr=False)
    """When the key that signed the receipt was revoked since: the current receipt key vouches for it."""
    says: CommitReceipt | None = field(repr=False)
    """What the receipt says; None when it was not verified, for then it says nothing."""


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit that happened: now, or at the first attempt with the same key."""

    receipt: Receipt
    replayed: bool
    """Whether an earlier attempt with the same key did it."""
    revision_token: str = field(default="", compare=False)
    """`recall` takes it as `at_least_as_fresh_as`. It does not expire; another answer may give another one."""

    @property
    def receipt_id(self) -> str:
        """Of the receipt."""
        return self.receipt.receipt_id

    @property
    def record_id(self) -> str:
        """Of the memory record that was written."""
        return self.receipt.record_id


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """Learned memory: evidence, never a permission."""

    message: memory_service_pb2.MemoryRecord
    """All of it."""

    def __repr__(self) -> str:
        """Short: the content may be large."""
        return f"<MemoryRecord {self.record_id} in {self.memory_namespace}>"

    @property
    def record_id(self) -> str:
        """The id that the authority gave."""
        return self.message.record_id

    @property
    def supersedes_record_id(self) -> str:
        """Of the record that this one corrected; empty when it corrected none."""
        return self.message.supersedes_record_id

    @property
    def receipt_id(self) -> str:
        """Of the commit receipt that proves it was allowed; empty when it was written without validation."""
        return self.message.receipt_id

    @property
    def validated(self) -> bool:
        """False when it was written without validation: then nothing proves it and nobody decided on it."""
        return self.message.validated

    @property
    def memory_namespace(self) -> str:
        """Where it lives."""
        return self.message.memory_namespace

    @property
    def memory_type(self) -> str:
        """For example "durable_fact"; the words of `MemoryType`."""
        return word_of(types_pb2.MemoryType, self.message.memory_type)

    @property
    def provenance(self) -> str:
        """What the authority stamped: "system_observation", "tool_result", "user_claim", "agent_output", "unknown"."""
        return word_of(types_pb2.Provenance, self.message.provenance)

    @property
    def visibility(self) -> str:
        """Who may see it: "private", "channel", "team" or "workspace"."""
        return word_of(types_pb2.Visibility, self.message.visibility)

    @property
    def visibility_scope(self) -> str:
        """Id of the channel or team; empty when it is private or the workspace's."""
        return self.message.visibility_scope

    @property
    def content(self) -> bytes:
        """The exact bytes that were committed."""
        return self.message.content

    @property
    def content_digest(self) -> str:
        """Of the exact bytes."""
        return self.message.content_digest

    @property
    def media_type(self) -> str:
        """Of the content."""
        return self.message.media_type
