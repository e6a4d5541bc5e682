"""The world of one tenant: its people, its memory namespace, and verbs that tests read like sentences.

A verb in the present (`propose`, `commit`) makes one call and answers what the caller would get, a refusal too. A verb
in the past (`proposed`, `allowed`, `issued`, `committed`) comes about by however many calls, and must succeed.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Self, TypeAlias, TypedDict, TypeVar, Unpack

from authority.domain import limits
from authority.domain.capability import OpenedCapability, Presentation
from authority.domain.citation import Citation
from authority.domain.decision import ApprovalVerdict, DecisionOutcome, SignedDecision
from authority.domain.identity import RIGHTS_BY_KIND, Caller, Principal, PrincipalKind, Proof, Right
from authority.domain.plan import Claim, CommitOutcome, CommitPlan, CommitReceipt
from authority.domain.proposal import Cost, MemoryType, ProposalRevision, StoredProposal, Visibility
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.domain.validation import SignedValidation
from authority.policy.bundle import bundle_version, default_bundle
from authority.usecases.administer import CommitCounts, NewMemoryNamespace, NewPrincipal
from authority.usecases.cite import CitationRequest
from authority.usecases.commit import CommitAnswer, CommitRequest
from authority.usecases.correct_record import Correction
from authority.usecases.create_proposal import ProposalRequest
from authority.usecases.decide_proposal import ApprovalRequest
from authority.usecases.evaluate_policy import PolicyRequest
from authority.usecases.grants.presented import PresentedGrant
from authority.usecases.issue import IssueRequest
from authority.usecases.ports import (
    IssuedCapability,
    RecordedApproval,
    RecordedValidation,
    RequestMark,
    RevokedCapability,
    RevokedRecord,
)
from authority.usecases.revoke_capability import RevocationRequest
from authority.usecases.revoke_record import RecordRevocation
from authority.usecases.said_memory import SaidMemory
from authority.usecases.validate_proposal import StillValidating, ValidationRequest
from capability_authority.offline import PrivateKey
from tests.world.authority import HERE, Authority

Value = TypeVar("Value")

NAMESPACE = "notes"
PERMIT_ALL = '@id("permit-all")\npermit (principal, action, resource);\n'
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
"""Of every call that a test makes."""
_TRACEPARENT = f"00-{TRACE_ID}-00f067aa0ba902b7-01"
WITHIN_S = 30.0
"""How long a caller of commit or issue waits."""
KINDS = (PrincipalKind.AGENT, PrincipalKind.USER, PrincipalKind.OBSERVER, PrincipalKind.SERVICE, PrincipalKind.ADMIN)
_NUMBERS = count(1)


def must(answer: Value | Refusal) -> Value:
    """The answer, when it is none of refusal."""
    assert not isinstance(answer, Refusal), answer
    return answer


def reason_of(answer: object) -> Reason | None:
    """Why it was refused; None for what was not."""
    return answer.reason if isinstance(answer, Refusal) else None


def all_are(number: int) -> CommitCounts:
    """So many of each of the four: what must be true after every case (cases.md, Invariant)."""
    return CommitCounts(consumed_capabilities=number, receipts=number, records=number, events=number)


def soon(within_s: float) -> float:
    """A deadline so many seconds from now."""
    return asyncio.get_running_loop().time() + within_s


@dataclass(frozen=True, slots=True)
class Person:
    """A registered principal with its key."""

    principal: Principal
    key: PrivateKey

    @property
    def ref(self) -> PrincipalRef:
        """Inside the tenant."""
        return self.principal.ref

    @property
    def key_id(self) -> str:
        """The id of its key."""
        return self.key.public_key.key_id

    def calls(self) -> Caller:
        """A call of the person, authenticated a moment ago."""
        return Caller(self.principal, self.key_id, Proof(b"", None), one_use=False)


class Said(TypedDict, total=False):
    """What a test says of a proposal, in place of the ordinary."""

    by: Person
    proposal_id: str
    request_id: str
    memory_namespace: str
    memory_type: MemoryType
    media_type: str
    source_refs: tuple[str, ...]
    subject_refs: tuple[str, ...]
    evidence_digests: tuple[bytes, ...]
    validator_profile: str
    visibility: Visibility
    visibility_scope: str
    valid_from_time: Instant
    valid_until_time: Instant
    record_expire_time: Instant
    expire_time: Instant
    grant: PresentedGrant
    correlation_id: str
    costs: tuple[Cost, ...]


def _said_memory(content: bytes, said: Said) -> SaidMemory:
    return SaidMemory(
        content=content,
        media_type=said.get("media_type", "text/plain"),
        source_refs=said.get("source_refs", ("thread:1",)),
        subject_refs=said.get("subject_refs", ("client:7",)),
        visibility=said.get("visibility"),
        visibility_scope=said.get("visibility_scope", ""),
        valid_from_time=said.get("valid_from_time"),
        valid_until_time=said.get("valid_until_time"),
        record_expire_time=said.get("record_expire_time"),
        correlation_id=said.get("correlation_id", ""),
        costs=said.get("costs", ()),
    )


class Presented(TypedDict, total=False):
    """What a holder presents in place of what its capability binds."""

    content: bytes
    content_digest: bytes
    media_type: str
    evidence_digests: tuple[bytes, ...]
    commit_idempotency_key: str


@dataclass(frozen=True, slots=True)
class Allowed:
    """A revision that was validated and that policy lets the holder commit."""

    proposal: StoredProposal
    validation: SignedValidation
    decision: SignedDecision

    @property
    def revision(self) -> ProposalRevision:
        """The revision."""
        return self.proposal.revision


@dataclass(frozen=True, slots=True)
class IssueTerms:
    """What IssueCapability is asked for; under a request id of its own unless it has one."""

    ground: Allowed
    key: str
    holder: Person
    request_id: str | None = None
    lifetime_ms: int = limits.CAPABILITY_LIFETIME_DEFAULT_MS
    audience: str = HERE.audience


@dataclass(frozen=True, slots=True)
class Issued:
    """A capability with its holder, and the content that it binds."""

    ground: Allowed
    capability: OpenedCapability
    holder: Person

    @property
    def presentation(self) -> Presentation:
        """Exactly what the capability binds."""
        terms = self.capability.terms
        return Presentation(
            content=self.ground.proposal.content,
            content_digest=terms.content_digest,
            media_type=terms.media_type,
            evidence_digests=terms.evidence_digests,
            commit_idempotency_key=terms.commit_idempotency_key,
        )


CommitOnStream: TypeAlias = Callable[[Issued | Refusal], Awaitable[CommitAnswer | Refusal]]
"""Sends an item of an open stream, and waits for its outcome."""


@dataclass(frozen=True, slots=True)
class World:
    """One tenant of an authority."""

    authority: Authority
    tenant: TenantRef
    people: dict[PrincipalKind, Person]
    numbers: "count[int]"

    @classmethod
    async def begin(cls, authority: Authority, *, bundle: str | None = None) -> Self:
        """A new tenant with one person of each kind, issuer keys, and a memory namespace under the default policy."""
        tenant = TenantRef("cognitum-tenant", f"tenant-{next(_NUMBERS)}")
        world = cls(authority, tenant, {}, count(1))
        await authority.make_keys(tenant)
        for kind in KINDS:
            world.people[kind] = await world.register(kind, kind.value)
        await world.make_namespace(NAMESPACE, bundle or default_bundle())
        return world

    async def neighbour(self) -> "World":
        """Another tenant of the same authority."""
        return await World.begin(self.authority)

    async def register(self, kind: PrincipalKind, name: str, rights: frozenset[Right] | None = None) -> Person:
        """A principal with a key, whose rights are those of its kind unless given."""
        rights = RIGHTS_BY_KIND[kind] if rights is None else rights
        principal = Principal(self.tenant, PrincipalRef("test", name), kind, rights)
        key = PrivateKey.generate()
        new = NewPrincipal(
            tenant=self.tenant,
            ref=principal.ref,
            kind=kind,
            rights=rights,
            key_id=key.public_key.key_id,
            public_key=key.public_key.raw,
        )
        await self.authority.store.administration.add_principal(new, self.now())
        return Person(principal, key)

    async def load(self, bundle: str) -> bytes:
        """The version of the bundle, loaded."""
        version = bundle_version(bundle)
        await self.authority.store.administration.load_policy(version, bundle, self.now())
        return version

    async def make_namespace(self, name: str, bundle: str, *, privileged: bool = False) -> None:
        """A memory namespace under the bundle."""
        new = NewMemoryNamespace(
            tenant=self.tenant, name=name, policy_version=await self.load(bundle), privileged=privileged
        )
        await self.authority.store.administration.add_namespace(new, self.now())

    def person(self, kind: PrincipalKind) -> Person:
        """The one person of the kind that every world begins with."""
        return self.people[kind]

    @property
    def agent(self) -> Person:
        """Proposes; what it says is agent output."""
        return self.people[PrincipalKind.AGENT]

    @property
    def user(self) -> Person:
        """Proposes, and may decide."""
        return self.people[PrincipalKind.USER]

    @property
    def observer(self) -> Person:
        """Proposes system observations."""
        return self.people[PrincipalKind.OBSERVER]

    @property
    def service(self) -> Person:
        """Issues, holds and commits."""
        return self.people[PrincipalKind.SERVICE]

    @property
    def admin(self) -> Person:
        """Decides."""
        return self.people[PrincipalKind.ADMIN]

    def now(self) -> Instant:
        """What the clock shows."""
        return self.authority.clock.now()

    def mark(self, by: Person, request_id: str | None, *meaning: object) -> RequestMark:
        """The mark of a request with this meaning; a new request id unless one is given."""
        request_id = request_id or f"request-{next(self.numbers)}"
        return RequestMark(self.tenant, by.ref, request_id, hashlib.sha256(repr(meaning).encode()).digest(), TRACE_ID)

    # --- one call each -----------------------------------------------------------------------------------------------

    async def propose(self, content: bytes | None = None, **said: Unpack[Said]) -> StoredProposal | Refusal:
        """CreateProposal, by the user with some fact of its own unless told otherwise."""
        by = said.get("by", self.user)
        content = f"fact {next(self.numbers)}".encode() if content is None else content
        meaning = sorted((name, value) for name, value in said.items() if name not in {"by", "request_id"})
        request = ProposalRequest(
            mark=self.mark(by, said.get("request_id"), "propose", content, meaning),
            proposal_id=said.get("proposal_id", ""),
            memory_namespace=said.get("memory_namespace", NAMESPACE),
            memory_type=said.get("memory_type", MemoryType.DURABLE_FACT),
            said=_said_memory(content, said),
            evidence_digests=said.get("evidence_digests", ()),
            validator_profile=said.get("validator_profile", ""),
            expire_time=said.get("expire_time"),
            grant=said.get("grant"),
        )
        return await self.authority.do.create_proposal(by.calls(), request)

    async def validate(
        self, proposal: StoredProposal, *, by: Person | None = None, request_id: str | None = None
    ) -> RecordedValidation | Refusal:
        """ValidateProposal, by the service."""
        by, revision = by or self.service, proposal.revision
        key = (revision.proposal_id, revision.revision)
        request = ValidationRequest(self.mark(by, request_id, "validate", key), *key)
        answer = await self.authority.do.validate_proposal(by.calls(), request)
        assert not isinstance(answer, StillValidating)
        return answer

    async def decide(
        self,
        proposal: StoredProposal,
        *,
        holder: Person | None = None,
        by: Person | None = None,
        request_id: str | None = None,
        externals: tuple[Statement, ...] = (),
    ) -> SignedDecision | Refusal:
        """EvaluatePolicy, by the service for itself; `externals` are what external authorities decided."""
        by, holder, revision = by or self.service, holder or self.service, proposal.revision
        key = (revision.proposal_id, revision.revision, holder.ref)
        request = PolicyRequest(self.mark(by, request_id, "decide", key, *externals), *key, externals)
        return await self.authority.do.evaluate_policy(by.calls(), request)

    async def approve(
        self,
        proposal: StoredProposal,
        verdict: ApprovalVerdict = ApprovalVerdict.APPROVE,
        *,
        by: Person | None = None,
        expire_time: Instant | None = None,
        request_id: str | None = None,
    ) -> RecordedApproval | Refusal:
        """DecideProposal, by the admin."""
        by, revision = by or self.admin, proposal.revision
        key = (revision.proposal_id, revision.revision, proposal.digest, verdict)
        mark = self.mark(by, request_id, "approve", key)
        request = ApprovalRequest(mark, *key, note="", expire_time=expire_time)
        return await self.authority.do.decide_proposal(by.calls(), request)

    async def issue(
        self,
        ground: Allowed,
        key: str,
        *,
        holder: Person | None = None,
        by: Person | None = None,
        request_id: str | None = None,
        lifetime_ms: int = limits.CAPABILITY_LIFETIME_DEFAULT_MS,
        within_s: float = WITHIN_S,
    ) -> IssuedCapability | Refusal:
        """IssueCapability under the commit idempotency key, by the service for itself."""
        asked = IssueTerms(ground, key, holder or self.service, request_id, lifetime_ms)
        by = by or self.service
        return await self.authority.do.issue(by.calls(), self.issue_request(asked, by, soon(within_s)))

    async def issue_batch(
        self, batch: Sequence[IssueTerms | Refusal], *, by: Person | None = None, within_s: float = WITHIN_S
    ) -> list[IssuedCapability | Refusal] | Refusal:
        """BatchIssueCapabilities, by the service; a refusal stands for an item of a bad shape."""
        by, deadline = by or self.service, soon(within_s)
        requests = [one if isinstance(one, Refusal) else self.issue_request(one, by, deadline) for one in batch]
        return await self.authority.do.issue_batch(by.calls(), requests, deadline)

    async def commit(
        self, issued: Issued, *, by: Person | None = None, within_s: float = WITHIN_S, **presented: Unpack[Presented]
    ) -> CommitAnswer | Refusal:
        """CommitValidated, by the holder; `presented` are fields that differ from what the capability binds."""
        presentation = replace(issued.presentation, **presented)
        deadline = soon(within_s)
        request = CommitRequest(issued.capability.statement, presentation, deadline, _TRACEPARENT)
        return await self.authority.do.commit((by or issued.holder).calls(), request)

    async def commit_batch(
        self, batch: Sequence[Issued | Refusal], *, by: Person | None = None, within_s: float = WITHIN_S
    ) -> list[CommitAnswer | Refusal] | Refusal:
        """BatchCommitValidated, by the service; a refusal stands for an item of a bad shape."""
        deadline = soon(within_s)
        requests = [
            one if isinstance(one, Refusal) else CommitRequest(one.capability.statement, one.presentation, deadline)
            for one in batch
        ]
        return await self.authority.do.commit_batch((by or self.service).calls(), requests, deadline)

    async def open_stream(self, *, by: Person | None = None, within_s: float = WITHIN_S) -> CommitOnStream | Refusal:
        """StreamCommitValidated, by the service: what it answers to items; a refusal stands for one of a bad shape."""
        commit = await self.authority.do.open_commit_stream((by or self.service).calls())
        if isinstance(commit, Refusal):
            return commit

        async def send(item: Issued | Refusal) -> CommitAnswer | Refusal:
            if isinstance(item, Refusal):
                return await commit(item)
            deadline = asyncio.get_running_loop().time() + within_s
            return await commit(CommitRequest(item.capability.statement, item.presentation, deadline))

        return send

    async def revoke(
        self, issued: Issued, *, by: Person | None = None, request_id: str | None = None
    ) -> RevokedCapability | Refusal:
        """RevokeCapability, by the holder."""
        by, capability_id = by or issued.holder, issued.capability.terms.capability_id
        request = RevocationRequest(self.mark(by, request_id, "revoke", capability_id), capability_id)
        return await self.authority.do.revoke_capability(by.calls(), request)

    async def revoke_record(
        self, record_id: str, *, by: Person | None = None, request_id: str | None = None, note: str = ""
    ) -> RevokedRecord | Refusal:
        """RevokeRecord, by the user."""
        by = by or self.user
        mark = self.mark(by, request_id, "revoke record", record_id, note)
        answer = await self.authority.do.revoke_record(by.calls(), RecordRevocation(mark, record_id, note, ""))
        return answer if isinstance(answer, Refusal) else answer.revoked

    async def cite(
        self, record_id: str, ref: str, *, by: Person | None = None, kind: str = "answer", request_id: str | None = None
    ) -> Citation | Refusal:
        """RegisterCitation, by the agent."""
        by, terms = by or self.agent, (record_id, kind, ref)
        request = CitationRequest(self.mark(by, request_id, "cite", terms), *terms)
        return await self.authority.do.register_citation(by.calls(), request)

    async def correct(
        self, record_id: str, content: bytes | None = None, **said: Unpack[Said]
    ) -> StoredProposal | Refusal:
        """CorrectRecord, by the user with some fact of its own unless told otherwise."""
        by = said.get("by", self.user)
        content = f"fact {next(self.numbers)}".encode() if content is None else content
        meaning = sorted((name, value) for name, value in said.items() if name not in {"by", "request_id"})
        request = Correction(
            mark=self.mark(by, said.get("request_id"), "correct", record_id, content, meaning),
            record_id=record_id,
            memory_type=said.get("memory_type"),
            said=_said_memory(content, said),
            evidence_digests=said.get("evidence_digests", ()),
            validator_profile=said.get("validator_profile", ""),
        )
        return await self.authority.do.correct_record(by.calls(), request)

    # --- however many calls it takes ----------------------------------------------------------------------------------

    async def proposed(self, content: bytes | None = None, **said: Unpack[Said]) -> StoredProposal:
        """A revision, kept."""
        return must(await self.propose(content, **said))

    async def validated(self, content: bytes | None = None, **said: Unpack[Said]) -> StoredProposal:
        """A revision that passed."""
        proposal = await self.proposed(content, **said)
        must(await self.validate(proposal))
        return proposal

    async def allowed(
        self, content: bytes | None = None, *, holder: Person | None = None, **said: Unpack[Said]
    ) -> Allowed:
        """A revision that its holder may commit, by an approval where policy asks for one."""
        return await self.allow(await self.proposed(content, **said), holder=holder)

    async def allow(
        self, proposal: StoredProposal, *, holder: Person | None = None, approval_expires: Instant | None = None
    ) -> Allowed:
        """Validates, decides, and approves where policy asks for it."""
        validation = must(await self.validate(proposal)).signed
        decision = must(await self.decide(proposal, holder=holder))
        if decision.receipt.outcome is DecisionOutcome.REQUIRE_APPROVAL:
            must(await self.approve(proposal, expire_time=approval_expires))
            decision = must(await self.decide(proposal, holder=holder))
        assert decision.receipt.outcome is DecisionOutcome.ALLOW, decision.receipt
        return Allowed(proposal, validation, decision)

    async def issued(
        self, content: bytes | None = None, *, key: str = "", holder: Person | None = None, **said: Unpack[Said]
    ) -> Issued:
        """A capability under the key, a new one unless given."""
        ground = await self.allowed(content, holder=holder, **said)
        return await self.issued_on(ground, key=key, holder=holder)

    async def issued_on(
        self,
        ground: Allowed,
        *,
        key: str = "",
        holder: Person | None = None,
        lifetime_ms: int = limits.CAPABILITY_LIFETIME_DEFAULT_MS,
    ) -> Issued:
        """A capability on this ground."""
        key, holder = key or f"key-{next(self.numbers)}", holder or self.service
        capability = must(await self.issue(ground, key, holder=holder, lifetime_ms=lifetime_ms)).capability
        return Issued(ground, capability, holder)

    async def committed(
        self, content: bytes | None = None, *, key: str = "", holder: Person | None = None, **said: Unpack[Said]
    ) -> tuple[Issued, CommitAnswer]:
        """A record."""
        issued = await self.issued(content, key=key, holder=holder, **said)
        return issued, must(await self.commit(issued))

    # --- below the use cases ------------------------------------------------------------------------------------------

    async def carry_out(self, plan: CommitPlan, *, within_s: float = WITHIN_S) -> CommitOutcome:
        """Hands the plan to the committer."""
        return await self.authority.store.committer.commit(plan, soon(within_s))

    async def counts(self) -> CommitCounts:
        """What there is of the four things that every commit makes one of."""
        return await self.authority.store.administration.count_commits(self.tenant)

    def terms(self, ground: Allowed, key: str, *, holder: Person | None = None, request_id: str = "") -> IssueTerms:
        """What a batch asks for, by the service for itself unless told otherwise."""
        return IssueTerms(ground, key, holder or self.service, request_id or None)

    def issue_request(self, asked: IssueTerms, by: Person, deadline: float) -> IssueRequest:
        """What the use case is asked."""
        ground, holder = asked.ground, asked.holder
        digests = (ground.validation.digest, ground.decision.digest)
        meaning = ("issue", *digests, asked.key, holder.ref, asked.audience, asked.lifetime_ms)
        return IssueRequest(
            mark=self.mark(by, asked.request_id, meaning),
            proposal_id=ground.revision.proposal_id,
            proposal_revision=ground.revision.revision,
            holder=holder.ref,
            holder_key_id=holder.key_id,
            audience=asked.audience,
            commit_idempotency_key=asked.key,
            validation_receipt=ground.validation.statement,
            decision_receipt=ground.decision.statement,
            lifetime_ms=asked.lifetime_ms,
            deadline=deadline,
        )

    def plan(self, issued: Issued, *, verdict: Refusal | None = None, **presented: Unpack[Presented]) -> CommitPlan:
        """What the use case would hand to the committer: with a receipt, or with the refusal it came to."""
        presentation = replace(issued.presentation, **presented)
        authority, terms = self.authority, issued.capability.terms
        fingerprint = authority.reader.fingerprint(terms, presentation)
        receipt = CommitReceipt(
            receipt_id=authority.ids.new(),
            issuer=HERE.issuer,
            record_id=authority.ids.new(),
            capability=terms,
            capability_digest=issued.capability.digest,
            request_fingerprint=fingerprint,
            commit_time=self.now(),
        )
        return CommitPlan(
            claim=Claim(terms.tenant, terms.holder, presentation.commit_idempotency_key, fingerprint),
            capability=issued.capability,
            refusal=verdict,
            receipt=None if verdict else authority.signer.sign_receipt(receipt),
            receipt_id=receipt.receipt_id,
            record_id=receipt.record_id,
            event_id=authority.ids.new(),
            planned_time=self.now(),
            traceparent="",
        )
