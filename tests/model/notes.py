"""What the model knows: a few dicts, written from the answers to calls that succeeded."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from authority.domain.capability import Presentation
from authority.domain.decision import ApprovalVerdict, DecisionOutcome
from authority.domain.plan import StoredReceipt
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.references import Instant, PrincipalRef
from authority.domain.statement import KeyPurpose
from authority.domain.validation import SignedValidation
from tests.world.granting import Granted
from tests.world.world import Allowed, Issued, IssueTerms, Person

Claim = tuple[PrincipalRef, str]
"""A holder and its idempotency key."""
Request = tuple[PrincipalRef, str]
"""A caller and its request id."""
Fingerprint = Mapping[str, object]
"""What a key stands for: the terms of the request fingerprint in which one tenant's requests can differ."""
Revision = tuple[str, int]
Told = tuple[str, str, str, str]
"""Of an audit event: kind, actor, subject, next state."""


@dataclass(slots=True)
class Head:
    """Which revision of a proposal is current, and where it stands."""

    revision: int
    state: ProposalState


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a person said of a revision."""

    reference: str
    verdict: ApprovalVerdict
    validation: bytes
    expire: Instant
    moment: int


@dataclass(frozen=True, slots=True)
class Ground:
    """A decision of policy: what it was under, and its place in the order of decisions and tombstones."""

    allowed: Allowed
    policy: str
    moment: int

    @property
    def revision(self) -> Revision:
        """Of the proposal that was decided on."""
        return revision_of(self.allowed.proposal)

    @property
    def outcome(self) -> DecisionOutcome:
        """What policy said."""
        return self.allowed.decision.receipt.outcome

    @property
    def approval(self) -> str:
        """The reference of the approval that it rests on; empty when none was asked for."""
        return next(iter(self.allowed.decision.receipt.approval_references), "")

    @property
    def activates(self) -> bool:
        """Whether policy allowed it without a person."""
        return self.outcome is DecisionOutcome.ALLOW and not self.approval

    @property
    def expire(self) -> Instant:
        """When the first of its two receipts expires."""
        return min(self.allowed.validation.receipt.expire_time, self.allowed.decision.receipt.expire_time)

    @property
    def signers(self) -> set[str]:
        """The keys that signed its two receipts."""
        return {self.allowed.validation.statement.key_id, self.allowed.decision.statement.key_id}


@dataclass(frozen=True, slots=True)
class Burial:
    """A tombstone: its place in the order of decisions and tombstones, and how it was answered, if anybody asked."""

    moment: int
    first: tuple[Instant, int] | None = None
    """The time and the sequence that every later revocation must answer with, too."""


@dataclass(frozen=True, slots=True)
class Lent:
    """A grant in its holder's hands: what each block of its chain allows, and what it was made under."""

    granted: Granted
    uses: Mapping[bytes, int]
    """By the digest of a block, root first."""
    concurrency: Mapping[bytes, int]
    holders: tuple[Person, ...]
    policy: str

    @property
    def expire(self) -> Instant:
        """When it expires; none of its ancestors does earlier."""
        return self.granted.grant.terms.expire_time

    @property
    def standing(self) -> set[str]:
        """The principals whose withdrawal is its own."""
        return {str(holder.ref) for holder in self.holders}

    @property
    def keys(self) -> set[str]:
        """The holders' keys."""
        return {holder.key_id for holder in self.holders}


@dataclass(frozen=True, slots=True)
class Wish:
    """A request for a capability."""

    ground: Ground
    key: str
    holder: Person
    lifetime_ms: int
    request_id: str
    lent: Lent | None = None
    """The grant that it is made under, if any."""

    @property
    def claim(self) -> Claim:
        """What it is to be issued under."""
        return self.holder.ref, self.key

    @property
    def terms(self) -> IssueTerms:
        """What is asked."""
        return IssueTerms(self.ground.allowed, self.key, self.holder, self.request_id, self.lifetime_ms)


@dataclass(frozen=True, slots=True)
class Held:
    """A capability in its holder's hands, and the request that it was issued for."""

    wish: Wish
    issued: Issued

    @property
    def ground(self) -> Ground:
        """What it was issued on."""
        return self.wish.ground

    @property
    def key(self) -> str:
        """The only one under which it can be committed."""
        return self.wish.key

    @property
    def holder(self) -> Person:
        """Who holds it."""
        return self.wish.holder

    @property
    def claim(self) -> Claim:
        """What it is issued under."""
        return self.wish.claim

    @property
    def capability_id(self) -> str:
        """Its id."""
        return self.issued.capability.terms.capability_id

    @property
    def expire(self) -> Instant:
        """When it expires."""
        return self.issued.capability.terms.expire_time

    @property
    def signer(self) -> str:
        """The key that signed it."""
        return self.issued.capability.statement.key_id


@dataclass(frozen=True, slots=True)
class Settled:
    """A commit that was acknowledged."""

    held: Held
    fingerprint: Fingerprint
    receipt: StoredReceipt

    @property
    def content(self) -> bytes:
        """What the record says."""
        return self.held.ground.allowed.proposal.content


@dataclass(slots=True)
class Notes:
    """Everything that the model goes by."""

    policy: str
    signing: dict[KeyPurpose, str]
    """The issuer key that signs, as the operator made it."""
    heads: dict[str, Head] = field(default_factory=dict)
    validations: dict[Revision, list[SignedValidation]] = field(default_factory=dict)
    verdicts: dict[Revision, list[Verdict]] = field(default_factory=dict)
    activations: dict[Revision, list[Ground]] = field(default_factory=dict)
    """What policy allowed without a person."""
    issued: dict[str, Held] = field(default_factory=dict)
    """Every capability."""
    live: dict[Claim, Held] = field(default_factory=dict)
    """The capability issued last under a key."""
    stands_for: dict[Claim, Fingerprint] = field(default_factory=dict)
    """What a key was issued for first, and so for ever."""
    settled: dict[Claim, Settled] = field(default_factory=dict)
    committed: dict[str, Settled] = field(default_factory=dict)
    """By proposal."""
    buried: dict[bytes, list[Burial]] = field(default_factory=dict)
    """The tombstones of a content."""
    superseded: dict[str, str] = field(default_factory=dict)
    """Records that were corrected, and by which."""
    endings: list[tuple[str, str, int]] = field(default_factory=list)
    """What the outbox tells of records beside their commits: record, type, and place among the record's events."""
    revoked: dict[str, Instant] = field(default_factory=dict)
    """Capabilities that were revoked, and when first."""
    spent: Counter[bytes] = field(default_factory=Counter)
    """How often each grant was used, by itself or by a descendant."""
    met: set[bytes] = field(default_factory=set)
    """Grants that were made offline and are kept by now."""
    grants_revoked: set[bytes] = field(default_factory=set)
    """By their digests."""
    answered: dict[Request, str] = field(default_factory=dict)
    """Which requests were answered: of issuing with a key, of revoking with a capability."""
    withdrawn: set[str] = field(default_factory=set)
    """Principals, holder keys and issuer keys."""
    known: set[str] = field(default_factory=set)
    """Of the withdrawn issuer keys those that the process has learned of."""
    signing_here: dict[KeyPurpose, str] = field(default_factory=dict)
    """The issuer key that signs, as the process knows it."""
    running: dict[Claim, tuple[Fingerprint, Instant]] = field(default_factory=dict)
    """Leases that a dead process left behind, and when they were taken."""
    told: Counter[Told] = field(default_factory=Counter)
    """What the audit log must hold."""
    moment: int = 0

    def next_moment(self) -> int:
        """The next place in the order of decisions and tombstones."""
        self.moment += 1
        return self.moment

    def tell(self, kind: str, actor: PrincipalRef, subject: str, next_state: str) -> None:
        """Notes a change of state that the audit log must know of."""
        self.told[kind, str(actor), subject, next_state] += 1

    def learn_keys(self) -> None:
        """The process knows every issuer key as it is."""
        self.known = set(self.withdrawn)
        self.signing_here = dict(self.signing)

    def settle(self, held: Held, receipt: StoredReceipt) -> None:
        """A commit was acknowledged."""
        terms = held.issued.capability.terms
        settled = Settled(held, fingerprint(held.ground.allowed.proposal, held.issued.presentation), receipt)
        self.settled[terms.holder, held.key] = self.committed[terms.proposal_id] = settled
        self.heads[terms.proposal_id].state = ProposalState.COMMITTED
        self.tell("memory.commit", terms.holder, receipt.record_id, "consumed")
        if corrected := held.ground.allowed.revision.supersedes_record_id:
            self.superseded[corrected] = receipt.record_id
            self.endings.append((corrected, "memory.corrected.v1", 2))
            self.tell("memory.correct", terms.holder, corrected, "superseded")

    def turned_back(self, revision: Revision, moment: int) -> bool:
        """Whether a person decided against the revision later than that."""
        return any(it.verdict.is_against and it.moment > moment for it in self.verdicts.get(revision, []))

    def taken_back(self, revision: Revision, moment: int = 0) -> bool:
        """Whether a person took it back later than that."""
        verdicts = self.verdicts.get(revision, [])
        return any(it.verdict is ApprovalVerdict.REVOKE and it.moment > moment for it in verdicts)

    def is_adopted(self, revision: Revision) -> bool:
        """Whether a person adopted what policy allowed."""
        return any(it.verdict is ApprovalVerdict.ADOPT for it in self.verdicts.get(revision, []))

    def was_revoked(self, claim: Claim) -> bool:
        """Whether any capability of the holder's key was."""
        return any(self.issued[capability_id].claim == claim for capability_id in self.revoked)

    def live_under(self, digest: bytes, now: Instant) -> int:
        """How many capabilities under the grant can be committed still."""
        under = [held for held in self.issued.values() if held.wish.lent and digest in held.wish.lent.uses]
        waiting = [held for held in under if now < held.expire and held.capability_id not in self.revoked]
        return sum(not self.is_consumed(held) for held in waiting)

    def is_consumed(self, held: Held) -> bool:
        """Whether this very capability was committed."""
        settled = self.committed.get(held.ground.revision[0])
        return settled is not None and settled.held.capability_id == held.capability_id

    def burial_after(self, content: bytes, moment: int) -> Burial | None:
        """The first tombstone of the content after a decision."""
        return next((it for it in self.buried.get(content, []) if it.moment > moment), None)

    def withdrawal_of(self, settled: Settled) -> Burial | None:
        """The first tombstone of its content that is later than the decision that allowed the record."""
        return self.burial_after(settled.content, settled.held.ground.moment)

    def is_alive(self, settled: Settled) -> bool:
        """Whether the record was neither withdrawn nor superseded."""
        return self.withdrawal_of(settled) is None and settled.receipt.record_id not in self.superseded

    def corrected_by(self, proposal: StoredProposal) -> Settled | None:
        """The commit of the record that the proposal is to supersede."""
        named = proposal.revision.supersedes_record_id
        return next((it for it in self.committed.values() if it.receipt.record_id == named), None)


def revision_of(proposal: StoredProposal) -> Revision:
    """Names the revision."""
    return proposal.revision.proposal_id, proposal.revision.revision


def fingerprint(proposal: StoredProposal, presentation: Presentation) -> Fingerprint:
    """The terms of semantics §4 that are not the same for all requests under one key here."""
    return {
        "proposal_id": proposal.revision.proposal_id,
        "proposal_revision": proposal.revision.revision,
        "proposal_digest": proposal.digest,
        "content_digest": presentation.content_digest,
        "media_type": presentation.media_type,
        "evidence_digests": presentation.evidence_digests,
    }
