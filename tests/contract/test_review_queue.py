"""The port `ReviewQueue`, by ListProposals: what waits for persons, and why (semantics §7)."""

from dataclasses import dataclass

from authority.domain.decision import ApprovalVerdict, DecisionOutcome
from authority.domain.identity import PrincipalKind
from authority.domain.reasons import Reason
from authority.domain.references import DAY
from authority.domain.review import AwaitedReview
from authority.domain.validation import ValidationOutcome
from authority.usecases.paging import PageRequest
from tests.world.granting import Granting
from tests.world.identities import link
from tests.world.reviewing import TWO_PERSONS, Review
from tests.world.world import PERMIT_ALL, Person, World, must, reason_of


@dataclass(frozen=True, slots=True)
class Queue:
    """A memory namespace where two persons must approve."""

    world: World
    name: str

    @classmethod
    async def begin(cls, world: World) -> "Queue":
        name = f"queue-{next(world.numbers)}"
        await world.make_namespace(name, TWO_PERSONS)
        return cls(world, name)

    async def review(self, by: Person | None = None, *, asked: bool = True) -> Review:
        """A validated proposal; unless told otherwise policy has asked for persons."""
        self.world.authority.clock.advance(1)
        proposal = await self.world.proposed(by=by or self.world.agent, memory_namespace=self.name)
        review = Review(self.world, proposal, must(await self.world.validate(proposal)).signed)
        if asked:
            await review.judged()
        return review

    async def seen(self, by: Person | None = None, size: int = 50) -> list[AwaitedReview]:
        """All of it, page after page."""
        found: list[AwaitedReview] = []
        token = ""
        while True:
            caller = (by or self.world.admin).calls()
            page = must(await self.world.authority.do.list_reviews(caller, self.name, PageRequest(size, token)))
            found += page.items
            if not (token := page.next_token):
                return found

    async def ids(self, by: Person | None = None, size: int = 50) -> list[str]:
        """Of what is in it."""
        return [it.proposal.revision.proposal_id for it in await self.seen(by, size)]


def id_of(review: Review) -> str:
    return review.proposal.revision.proposal_id


async def test_what_waits_is_told_with_why_and_how_many_approve(world: World) -> None:
    # given a proposal that policy asks two persons for, one of whom approved
    queue = await Queue.begin(world)
    review = await queue.review()
    await review.approved(world.user)
    [awaited] = await queue.seen()
    assert awaited.proposal.revision == review.proposal.revision
    assert awaited.proposal.content == b""
    assert (awaited.asking_policies, awaited.persons_needed, awaited.persons_approving) == (("two-persons",), 2, 1)
    # when the same person does again it waits, when somebody linked with them does, too, when another does no more
    await review.approved(world.user)
    other = await world.register(PrincipalKind.USER, "other-name")
    await link(world, world.user, other)
    await review.approved(other)
    assert [it.persons_approving for it in await queue.seen()] == [1]
    await review.approved(world.admin)
    assert await queue.ids() == []
    # and one who takes it back brings it into the queue again
    must(await review.decide(world.user, ApprovalVerdict.REVOKE))
    assert [it.persons_approving for it in await queue.seen()] == [0]


async def test_the_oldest_is_first_and_pages_hold_each_once(world: World) -> None:
    queue = await Queue.begin(world)
    reviews = [await queue.review() for _ in range(5)]
    assert await queue.ids(size=2) == [id_of(it) for it in reviews]


async def test_only_what_waits_is_in_it(world: World) -> None:
    # given one that policy was not asked about, one turned down, one superseded, one whose time is over, one committed
    queue = await Queue.begin(world)
    await queue.review(asked=False)
    must(await (await queue.review()).decide(world.admin, ApprovalVerdict.REJECT))
    revised = await queue.review()
    await world.proposed(by=world.agent, proposal_id=id_of(revised), memory_namespace=queue.name)
    done = await queue.review()
    await done.approved(world.user, world.admin)
    must(await world.commit(await done.issued()))
    waits = await queue.review()
    assert await queue.ids() == [id_of(waits)]
    # and when it is validated anew, policy has to be asked anew
    must(await world.validate(waits.proposal))
    assert await queue.ids() == []
    expire = (await queue.review()).proposal.revision.expire_time
    assert expire is not None
    assert len(await queue.ids()) == 1
    world.authority.clock.advance(expire - world.now() + DAY)
    assert await queue.ids() == []


async def test_what_validators_were_unsure_of_waits_before_policy_is_asked(world: World) -> None:
    # given evidence that nobody knows of, which validators leave to a person
    queue = await Queue.begin(world)
    proposal = await world.proposed(
        by=world.agent, memory_namespace=queue.name, validator_profile="guarded", evidence_digests=(b"\x01" * 32,)
    )
    must(await world.validate(proposal))
    [awaited] = await queue.seen()
    assert [(it.validator, it.outcome) for it in awaited.findings] == [("evidence", ValidationOutcome.REVIEW)]
    assert (awaited.asking_policies, awaited.persons_needed, awaited.persons_approving) == ((), 1, 0)


async def test_an_admin_sees_all_and_who_decides_what_is_not_their_own_matter(world: World) -> None:
    # given proposals of the user, of the agent, and of somebody who is the user under another name
    queue = await Queue.begin(world)
    other = await world.register(PrincipalKind.USER, "other-name")
    await link(world, world.user, other)
    own, agents, linked = [await queue.review(by) for by in (world.user, world.agent, other)]
    assert await queue.ids(world.admin) == [id_of(own), id_of(agents), id_of(linked)]
    assert await queue.ids(world.user) == [id_of(agents)]
    # and who decides nothing sees nothing, nor does anybody of another tenant
    ask, page = world.authority.do.list_reviews, PageRequest(50, "")
    for person in (world.agent, world.service):
        assert reason_of(await ask(person.calls(), queue.name, page)) is Reason.NOT_ALLOWED
    neighbour = await world.neighbour()
    assert reason_of(await ask(neighbour.admin.calls(), queue.name, page)) is Reason.NOT_FOUND


async def test_what_policy_allows_since_waits_no_more(world: World) -> None:
    queue = await Queue.begin(world)
    review = await queue.review()
    version = await world.load(PERMIT_ALL)
    await world.authority.store.administration.activate_policy(world.tenant, queue.name, version, world.now())
    assert await queue.ids() == [id_of(review)]
    await review.judged()
    assert await queue.ids() == []


async def test_an_approval_that_is_used_up_is_waited_for_again(world: World) -> None:
    # given a proposal that two persons approved, one of them for one decision of policy
    queue = await Queue.begin(world)
    review = await queue.review()
    await review.approved(world.user)
    must(await review.decide(world.admin, max_uses=1))
    assert await queue.ids() == []
    # when a decision has used that, then one person approves, and another is waited for
    assert await review.outcome() is DecisionOutcome.ALLOW
    assert [it.persons_approving for it in await queue.seen()] == [1]


async def test_i16_the_subject_and_the_actors_of_a_grant_are_not_asked_about_their_own_matter(world: World) -> None:
    # given a proposal under a grant, whose subject and whose first holder are persons who may decide
    queue, granting = await Queue.begin(world), Granting(world)
    actor = await world.register(PrincipalKind.USER, "actor")
    terms = {"actions": ("memory.propose",), "write_memory_namespaces": (queue.name,)}
    version = await world.load(TWO_PERSONS)
    root = await granting.issued(actor, subject=world.user.ref, policy_version=version, **terms)
    grant = (await granting.exchanged(root, world.agent)).presented
    proposal = await world.proposed(by=world.agent, memory_namespace=queue.name, grant=grant)
    review = Review(world, proposal, must(await world.validate(proposal)).signed)
    await review.judged()
    # then it waits for neither, and for anybody else
    other = await world.register(PrincipalKind.USER, "other")
    assert [await queue.ids(by) for by in (world.user, actor, other)] == [[], [], [id_of(review)]]
