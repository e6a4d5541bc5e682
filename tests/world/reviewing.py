"""Verbs of review: a proposal that several persons decide on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypedDict, Unpack

from authority.domain.decision import ApprovalVerdict, DecisionOutcome, DecisionReceipt, SignedDecision
from authority.domain.proposal import StoredProposal
from authority.domain.references import Instant, PrincipalRef
from authority.domain.refusal import Refusal
from authority.domain.validation import SignedValidation
from authority.usecases.decide_proposal import ApprovalRequest
from authority.usecases.ports import RecordedApproval
from tests.world.world import Allowed, Issued, Person, World, must

TWO_PERSONS = """@id("allow") permit (principal, action, resource);
@id("two-persons") @outcome("require_approval") @quorum("2")
forbid (principal, action, resource) unless { context.approved };
"""
"""Policy that lets nothing be committed that two persons have not approved."""
ONE_PERSON = TWO_PERSONS.replace('@quorum("2")', "")
"""Or one."""


Asked: TypeAlias = ApprovalRequest | Refusal
"""One of many decisions; a refusal stands for one of a bad shape."""


class Terms(TypedDict, total=False):
    """What limits an approval, in place of the ordinary."""

    expire_time: Instant
    holder: PrincipalRef
    max_uses: int
    note: str


@dataclass(frozen=True, slots=True)
class Review:
    """A validated proposal of the agent, in a memory namespace with a policy of its own."""

    world: World
    proposal: StoredProposal
    validation: SignedValidation

    @classmethod
    async def begin(cls, world: World, bundle: str = TWO_PERSONS, *, by: Person | None = None) -> "Review":
        """Nothing is decided yet."""
        name = f"reviewed-{next(world.numbers)}"
        await world.make_namespace(name, bundle)
        proposal = await world.proposed(by=by or world.agent, memory_namespace=name)
        return cls(world, proposal, must(await world.validate(proposal)).signed)

    def request(
        self, by: Person, verdict: ApprovalVerdict, request_id: str | None = None, **terms: Unpack[Terms]
    ) -> ApprovalRequest:
        """What DecideProposal is asked."""
        revision = self.proposal.revision
        key = (revision.proposal_id, revision.revision, self.proposal.digest, verdict)
        mark = self.world.mark(by, request_id, "review", key, sorted(terms.items()))
        return ApprovalRequest(
            mark,
            *key,
            note=terms.get("note", ""),
            expire_time=terms.get("expire_time"),
            holder=terms.get("holder"),
            max_uses=terms.get("max_uses"),
        )

    async def decide(
        self,
        by: Person,
        verdict: ApprovalVerdict = ApprovalVerdict.APPROVE,
        request_id: str | None = None,
        **terms: Unpack[Terms],
    ) -> RecordedApproval | Refusal:
        """DecideProposal."""
        request = self.request(by, verdict, request_id, **terms)
        return await self.world.authority.do.decide_proposal(by.calls(), request)

    async def approved(self, *persons: Person) -> list[str]:
        """The references of their approvals, in their order."""
        return [must(await self.decide(person)).reference for person in persons]

    async def judged(self, holder: Person | None = None, request_id: str | None = None) -> SignedDecision:
        """What policy says now of the holder, the service."""
        return must(await self.world.decide(self.proposal, holder=holder, request_id=request_id))

    async def outcome(self, holder: Person | None = None) -> DecisionOutcome:
        """The outcome alone."""
        return (await self.judged(holder)).receipt.outcome

    async def issued(self, decision: SignedDecision | None = None) -> Issued:
        """A capability on what policy says now."""
        return await self.world.issued_on(self.ground(decision or await self.judged()))

    def ground(self, decision: SignedDecision) -> Allowed:
        """What a capability is asked for on, whatever was decided."""
        return Allowed(self.proposal, self.validation, decision)


async def decide_many(
    world: World, by: Person, requests: Sequence[Asked], request_id: str | None = None
) -> list[RecordedApproval | Refusal] | Refusal:
    """DecideProposal, of many."""
    meaning = [it if isinstance(it, Refusal) else (it.proposal_id, it.verdict, it.note) for it in requests]
    mark = world.mark(by, request_id, "many", meaning)
    return await world.authority.do.decide_proposals(by.calls(), mark, requests)


def named(receipt: DecisionReceipt) -> set[str]:
    """The approvals that a decision rests on."""
    return set(receipt.approval_references)


async def approved_for_two_decisions(world: World) -> None:
    """A proposal that one person approved for two decisions of policy, one of which was taken."""
    review = await Review.begin(world, ONE_PERSON)
    must(await review.decide(world.admin, max_uses=2))
    assert await review.outcome() is DecisionOutcome.ALLOW
