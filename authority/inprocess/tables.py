"""What all the in-process adapters of one authority share: dicts for tables, keyed as the database keys them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from authority.domain.action_envelope import ActionProof
from authority.domain.audit import AuditEvent
from authority.domain.capability import OpenedCapability
from authority.domain.citation import Citation
from authority.domain.credential import Credential
from authority.domain.decision import Approval, Decider, SignedDecision
from authority.domain.evidence import Evidence
from authority.domain.external_authority import ExternalAuthority
from authority.domain.identity import Principal
from authority.domain.key_alias import KeyAlias
from authority.domain.likeness import Traits
from authority.domain.membership import Reader, Scope
from authority.domain.plan import Claim, StoredReceipt
from authority.domain.principal_link import PrincipalLink, same_person
from authority.domain.proposal import ProposalRevision, ProposalState, StoredProposal
from authority.domain.reasons import Reason
from authority.domain.record import MemoryNamespace, MemoryRecord, Mode, is_current
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.replay import Reservation
from authority.domain.revocation import Revoked
from authority.domain.statement import IssuerKey
from authority.domain.tally import Counted
from authority.domain.unvalidated import UnvalidatedRecord
from authority.domain.validation import SignedValidation
from authority.usecases.administer import ListedPolicy
from authority.usecases.administer_aggregates import ListedAggregate
from authority.usecases.ports import KeptGrant, RequestMark

Answer = TypeVar("Answer")

_UNKNOWN: Final = Instant(0)
"""When what signs nothing was registered."""


@dataclass(frozen=True, slots=True)
class KeptPrincipal:
    """A registered principal."""

    principal: Principal
    is_active: bool


@dataclass(frozen=True, slots=True)
class KeptMembership:
    """Since when a principal is a member, and since when no more."""

    add_time: Instant
    remove_time: Instant | None = None


@dataclass(frozen=True, slots=True)
class KeptKey:
    """A proof key and the one principal that owns it."""

    owner: PrincipalRef
    public_key: bytes
    """Empty for what is shown instead of a signature."""
    is_active: bool
    credential: Credential | None = None
    create_time: Instant = _UNKNOWN

    @property
    def signs(self) -> bool:
        """False for what is shown instead of a signature."""
        return bool(self.public_key)


@dataclass(frozen=True, slots=True)
class Head:
    """Which revision of a proposal is current, the state of that one, and the receipt once it is committed."""

    revision: int
    state: ProposalState
    receipt_id: str | None = None
    supersedes_record_id: str = ""
    withdraw_time: Instant | None = None


@dataclass(frozen=True, slots=True)
class KeptCapability:
    """An issued capability. `state` is issued, consumed, expired or revoked."""

    opened: OpenedCapability
    claim: Claim
    state: str
    revoke_time: Instant | None = None


@dataclass(frozen=True, slots=True)
class GrantUse:
    """One use of one grant, its own or a descendant's, beside which these were spent."""

    tenant: TenantRef
    grant_digest: bytes
    capability_id: str | None
    """None for what is no capability."""
    tokens: int
    usd_micros: int


@dataclass(frozen=True, slots=True)
class KeptReceipt:
    """A commit receipt and what it is found by."""

    stored: StoredReceipt
    claim: Claim
    capability_id: str
    proposal_id: str
    memory_namespace: str


@dataclass(frozen=True, slots=True)
class KeptRecord:
    """A record, the sequence of the decision that allowed it, and the record that corrected it and when, if one did."""

    record: MemoryRecord
    decision_sequence: int
    superseded_by: str = ""
    supersede_time: Instant | None = None


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Withdrawn content: what was decided before the sequence stays invisible for ever."""

    sequence: int
    time: Instant
    note: str = ""


@dataclass(slots=True)
class Delivery:
    """What became of an event so far."""

    claim_token: str | None = None
    claim_until_time: Instant | None = None
    attempts: int = 0
    last_error: str = ""
    retry_time: Instant | None = None
    park_time: Instant | None = None
    delivered_time: Instant | None = None


@dataclass(slots=True)
class Event:
    """What the outbox tells of a record, and its place among the record's events, counted from one."""

    tenant: TenantRef
    event_id: str
    kind: str
    record_id: str
    sequence: int = 1
    payload: Mapping[str, object] = field(default_factory=dict)
    traceparent: str = ""
    create_time: Instant | None = None
    delivery: Delivery = field(default_factory=Delivery)


@dataclass(slots=True)
class Tables:
    """Everything that is kept. Adapters change it between two awaits and never in the middle: each change is whole."""

    policies: dict[bytes, tuple[ListedPolicy, str]] = field(default_factory=dict)
    external_authorities: dict[tuple[TenantRef, str], ExternalAuthority] = field(default_factory=dict)
    issuer_keys: dict[str, IssuerKey] = field(default_factory=dict)
    namespaces: dict[tuple[TenantRef, str], MemoryNamespace] = field(default_factory=dict)
    principals: dict[tuple[TenantRef, PrincipalRef], KeptPrincipal] = field(default_factory=dict)
    keys: dict[tuple[TenantRef, str], KeptKey] = field(default_factory=dict)
    upstream_proofs: dict[tuple[TenantRef, str], ActionProof] = field(default_factory=dict)
    """By the receipt of what they proved."""
    key_aliases: list[KeyAlias] = field(default_factory=list)
    """In the order in which they were given."""
    links: list[PrincipalLink] = field(default_factory=list)
    token_identities: dict[tuple[TenantRef, str], KeptKey] = field(default_factory=dict)
    answers: dict[tuple[TenantRef, PrincipalRef, str], tuple[bytes, object]] = field(default_factory=dict)
    heads: dict[tuple[TenantRef, str], Head] = field(default_factory=dict)
    revisions: dict[tuple[TenantRef, str, int], StoredProposal] = field(default_factory=dict)
    validations: dict[tuple[TenantRef, bytes], SignedValidation] = field(default_factory=dict)
    traits: dict[tuple[TenantRef, str, int], Traits] = field(default_factory=dict)
    """By revision: what its content is compared by."""
    to_erase: dict[tuple[TenantRef, str, int], Instant] = field(default_factory=dict)
    """By revision: when it failed for secrets."""
    approvals: list[Approval] = field(default_factory=list)
    approval_sequences: dict[str, int] = field(default_factory=dict)
    """The place of each decision on a revision, by its reference: policy's own have the decision's."""
    approval_uses: Counter[str] = field(default_factory=Counter)
    """How many decisions rest on an approval."""
    decisions: dict[tuple[TenantRef, bytes], SignedDecision] = field(default_factory=dict)
    grants: dict[tuple[TenantRef, bytes], KeptGrant] = field(default_factory=dict)
    grant_uses: list[GrantUse] = field(default_factory=list)
    """In the order in which they were spent."""
    capabilities: dict[tuple[TenantRef, str], KeptCapability] = field(default_factory=dict)
    receipts: dict[tuple[TenantRef, str], KeptReceipt] = field(default_factory=dict)
    records: dict[tuple[TenantRef, str], KeptRecord] = field(default_factory=dict)
    unvalidated: dict[tuple[TenantRef, str], UnvalidatedRecord] = field(default_factory=dict)
    tombstones: dict[tuple[TenantRef, str, bytes], tuple[Tombstone, ...]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    citations: dict[str, Citation] = field(default_factory=dict)
    evidence: dict[tuple[TenantRef, bytes], Evidence] = field(default_factory=dict)
    aggregates: dict[tuple[TenantRef, str], ListedAggregate] = field(default_factory=dict)
    memberships: dict[tuple[TenantRef, PrincipalRef, Scope], KeptMembership] = field(default_factory=dict)
    stream_nonces: set[tuple[TenantRef, str, bytes]] = field(default_factory=set)
    replay_reservations: dict[tuple[TenantRef, bytes], Reservation] = field(default_factory=dict)
    """By replay key."""
    audit: list[AuditEvent] = field(default_factory=list)
    revocations: dict[int, Revoked] = field(default_factory=dict)
    """By sequence, in its order."""
    refusals: Counter[Counted] = field(default_factory=Counter)
    sequence: int = 0

    def externals_of(self, tenant: TenantRef) -> tuple[ExternalAuthority, ...]:
        """Who else may have a say on policy in the tenant, by issuer."""
        found = [it for (of, _), it in self.external_authorities.items() if of == tenant]
        return tuple(sorted(found, key=lambda it: it.issuer))

    def next_sequence(self) -> int:
        """The next place in the order of decisions and revocations."""
        self.sequence += 1
        return self.sequence

    def tell(self, event: AuditEvent) -> None:
        """Writes an event of the audit log."""
        self.audit.append(event)

    def withdraw(self, revoked: Revoked, sequence: int | None = None) -> None:
        """Tells the feed of a withdrawal, under the next sequence unless it has drawn one."""
        self.revocations[self.next_sequence() if sequence is None else sequence] = revoked

    def answered(self, mark: RequestMark, kind: type[Answer]) -> Answer | Refusal | None:
        """What the request id was answered with first; IDEMPOTENCY_CONFLICT when it was used for something else."""
        digest, answer = self.answers.get((mark.tenant, mark.principal, mark.request_id), (mark.digest, None))
        if digest != mark.digest:
            return Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"})
        assert answer is None or isinstance(answer, kind)
        return answer

    def answer(self, mark: RequestMark, answer: Answer) -> Answer:
        """Keeps the answer under the request id, and gives it."""
        self.answers[mark.tenant, mark.principal, mark.request_id] = (mark.digest, answer)
        return answer

    def proposal(self, tenant: TenantRef, proposal_id: str, revision: int) -> StoredProposal | None:
        """The revision, the current one for 0, in the state that the head gives it."""
        head = self.heads.get((tenant, proposal_id))
        found = head and self.revisions.get((tenant, proposal_id, revision or head.revision))
        if not head or not found:
            return None
        is_current = found.revision.revision == head.revision
        return replace(found, state=head.state if is_current else ProposalState.SUPERSEDED)

    def is_current(self, proposal: StoredProposal) -> bool:
        """Whether no newer revision superseded it."""
        revision = proposal.revision
        return self.heads[revision.tenant, revision.proposal_id].revision == revision.revision

    def newest_validation(self, tenant: TenantRef, proposal_id: str, revision: int) -> SignedValidation | None:
        """The validation of the revision that was kept last."""
        judged = (tenant, proposal_id, revision)
        of_revision = [
            signed
            for (of_tenant, _), signed in self.validations.items()
            if (of_tenant, signed.receipt.proposal_id, signed.receipt.proposal_revision) == judged
        ]
        return of_revision[-1] if of_revision else None

    def approvals_of(self, tenant: TenantRef, proposal_id: str, revision: int) -> tuple[Approval, ...]:
        """The decisions on the revision in the order in which they were taken."""
        decided = (tenant, proposal_id, revision)
        return tuple(
            replace(approval, is_used_up=self._is_used_up(approval))
            for approval in self.approvals
            if (approval.tenant, approval.proposal_id, approval.proposal_revision) == decided
        )

    def keep_approval(self, approval: Approval, sequence: int) -> None:
        """Keeps a decision on a revision at its place."""
        self.approvals.append(approval)
        self.approval_sequences[approval.reference] = sequence

    def deciders_of(self, tenant: TenantRef, proposal_id: str, revision: int) -> dict[PrincipalRef, Decider]:
        """Every person who decided on the revision, as registered now."""
        deciders = {approval.decided_by for approval in self.approvals_of(tenant, proposal_id, revision)}
        return {ref: Decider(self.active_principal(tenant, ref), self.person(tenant, ref)) for ref in deciders if ref}

    def person(self, tenant: TenantRef, ref: PrincipalRef) -> frozenset[PrincipalRef]:
        """Every principal that is the same person."""
        return same_person(ref, (link for link in self.links if link.tenant == tenant))

    def _is_used_up(self, approval: Approval) -> bool:
        return approval.max_uses is not None and self.approval_uses[approval.reference] >= approval.max_uses

    def active_principal(self, tenant: TenantRef, ref: PrincipalRef) -> Principal | None:
        """The principal when it is not revoked."""
        kept = self.principals.get((tenant, ref))
        return kept.principal if kept and kept.is_active else None

    def active_key(self, tenant: TenantRef, owner: PrincipalRef, key_id: str) -> KeptKey | None:
        """The key when it is the owner's and not revoked."""
        kept = self.keys.get((tenant, key_id))
        return kept if kept and kept.is_active and kept.owner == owner else None

    def settled(self, tenant: TenantRef, holder: PrincipalRef, idempotency_key: str) -> StoredReceipt | None:
        """The receipt of the holder's key."""
        wanted = (tenant, holder, idempotency_key)
        claims = (
            (kept.claim.tenant, kept.claim.holder, kept.claim.idempotency_key, kept.stored)
            for kept in self.receipts.values()
        )
        return next((stored for *key, stored in claims if tuple(key) == wanted), None)

    def receipt_of_capability(self, tenant: TenantRef, capability_id: str) -> str | None:
        """The id of the receipt of the commit that consumed the capability."""
        receipts = (kept for (of_tenant, _), kept in self.receipts.items() if of_tenant == tenant)
        return next((kept.stored.receipt_id for kept in receipts if kept.capability_id == capability_id), None)

    def bury(
        self, tenant: TenantRef, memory_namespace: str, content_digest: bytes, now: Instant, note: str = ""
    ) -> int:
        """Withdraws the content under the next sequence, which it returns."""
        content = (tenant, memory_namespace, content_digest)
        sequence = self.next_sequence()
        self.tombstones[content] = (*self.tombstones.get(content, ()), Tombstone(sequence, now, note))
        return sequence

    def withdrawal_of(self, kept: KeptRecord) -> Tombstone | None:
        """The first tombstone of its content that is later than the decision that allowed the record."""
        record = kept.record
        content = (record.tenant, record.memory_namespace, record.content_digest)
        return self.buried_after(content, kept.decision_sequence)

    def buried_after(self, content: tuple[TenantRef, str, bytes], sequence: int) -> Tombstone | None:
        """The first tombstone of the content that is later."""
        return next((it for it in self.tombstones.get(content, ()) if it.sequence > sequence), None)

    def reader(self, tenant: TenantRef, ref: PrincipalRef) -> Reader | None:
        """The principal with the channels and teams that it is in now; None for one that is revoked or unknown."""
        if self.active_principal(tenant, ref) is None:
            return None
        live = (key for key, kept in self.memberships.items() if kept.remove_time is None)
        return Reader(ref, frozenset(scope for *of, scope in live if of == [tenant, ref]))

    def is_shown(self, one: MemoryRecord | ProposalRevision, reader: Reader | None) -> bool:
        """Whether its visibility includes the reader, whatever became of it."""
        return reader is not None and reader.is_shown(one.visibility, one.visibility_scope, one.proposer)

    def recalled_records(
        self, tenant: TenantRef, ref: PrincipalRef, now: Instant, *, with_unvalidated: bool
    ) -> Iterator[MemoryRecord]:
        """Visible records; where the memory namespace enforces, what was never validated only when it is asked for."""
        for record in self.visible_records(tenant, ref, now):
            enforced = self.namespaces[tenant, record.memory_namespace].mode is Mode.ENFORCE
            if record.validated or with_unvalidated or not enforced:
                yield record

    def living_records(self, tenant: TenantRef, ref: PrincipalRef) -> Iterator[MemoryRecord]:
        """Of the records shown to the principal, in the order of their ids, those neither withdrawn nor superseded."""
        reader = self.reader(tenant, ref)
        for (of_tenant, _), kept in sorted(self.records.items(), key=lambda item: item[0][1]):
            is_living = of_tenant == tenant and not kept.superseded_by and not self.withdrawal_of(kept)
            if is_living and self.is_shown(kept.record, reader):
                yield kept.record

    def visible_records(self, tenant: TenantRef, ref: PrincipalRef, now: Instant) -> Iterator[MemoryRecord]:
        """Of these those that are unexpired and valid now."""
        return (record for record in self.living_records(tenant, ref) if is_current(record, now))
