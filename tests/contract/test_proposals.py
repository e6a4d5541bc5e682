"""The port `Proposals`: what every store keeps to."""

import asyncio
from dataclasses import replace

import pytest

from authority.domain.decision import ApprovalVerdict
from authority.domain.proposal import Cost, MemoryType, ProposalState, Provenance, StoredProposal, Visibility
from authority.domain.reasons import Reason
from authority.domain.references import DAY, Instant
from authority.domain.refusal import Refusal
from authority.usecases.ports import Proposals, Sees
from tests.world.membership import CREW, join
from tests.world.world import NAMESPACE, PERMIT_ALL, World, must, reason_of


@pytest.fixture
def proposals(world: World) -> Proposals:
    return world.authority.store.proposals


def key_of(proposal: StoredProposal) -> tuple[str, int]:
    """The proposal's id and revision."""
    return proposal.revision.proposal_id, proposal.revision.revision


async def test_a_memory_namespace_is_found_by_its_name_in_its_tenant(world: World, proposals: Proposals) -> None:
    found = await proposals.namespace(world.tenant, NAMESPACE)
    assert found is not None
    assert (found.tenant, found.name, found.privileged) == (world.tenant, NAMESPACE, False)
    assert await proposals.namespace(world.tenant, "unknown") is None


async def test_g02_another_tenants_proposals_and_namespaces_are_absent(world: World, proposals: Proposals) -> None:
    neighbour = await world.neighbour()
    await neighbour.make_namespace("theirs", PERMIT_ALL)
    theirs = await neighbour.validated()
    assert await proposals.get(world.tenant, *key_of(theirs)) is None
    assert await proposals.newest_validation(world.tenant, *key_of(theirs)) is None
    assert await proposals.namespace(world.tenant, "theirs") is None


async def test_a_proposal_is_kept_whole(world: World, proposals: Proposals) -> None:
    # given a proposal that says everything it can say, at the edges of what it can say
    content = '{"a":"\U0001f9fe","b":[1,2.5]}'.encode()
    await join(world, world.agent, CREW)
    kept = await world.proposed(
        content,
        by=world.agent,
        memory_type=MemoryType.PROCEDURE,
        media_type="application/json",
        source_refs=("thread:1", "mail:ä,{}\"'"),
        subject_refs=(),
        evidence_digests=(b"\x00" * 32, b"\xff" * 32),
        visibility=Visibility.TEAM,
        visibility_scope="crew",
        valid_from_time=Instant(0),
        valid_until_time=Instant(253_402_300_799_999),
        record_expire_time=Instant(world.now() + DAY + 1),
        correlation_id="run-1",
        costs=(Cost("extract", "small, model", 2**31, 0, 2**63 - 1), Cost("critique", "ü", 0, 1, 0)),
    )

    # then it is found as it was, and its provenance is what the service stamped
    assert await proposals.get(world.tenant, *key_of(kept)) == kept
    assert await proposals.get(world.tenant, kept.revision.proposal_id, 0) == kept
    assert (kept.content, kept.state) == (content, ProposalState.PROPOSED)
    assert kept.revision.provenance is Provenance.AGENT_OUTPUT


async def test_a_newer_revision_supersedes_the_older_one(world: World, proposals: Proposals) -> None:
    # given a validated revision
    first = await world.validated()
    proposal_id = first.revision.proposal_id

    # when its proposer makes another
    second = await world.proposed(proposal_id=proposal_id)

    # then 0 means the new one, and the old one is what it was, superseded
    assert key_of(second) == (proposal_id, 2)
    assert await proposals.get(world.tenant, proposal_id, 0) == second
    assert await proposals.get(world.tenant, proposal_id, 1) == replace(first, state=ProposalState.SUPERSEDED)
    assert await proposals.get(world.tenant, proposal_id, 3) is None


async def test_a_request_id_is_answered_with_what_it_made(world: World) -> None:
    # given a proposal made under a request id, and moved on since
    first = await world.proposed(b"tea", request_id="r")
    must(await world.validate(first))

    # when the same request comes again, then no second one is made: the first is answered, as it stands now
    again = await world.proposed(b"tea", request_id="r")
    assert again == replace(first, state=ProposalState.VALIDATED)


async def test_a_request_id_used_for_another_request_is_a_conflict(world: World) -> None:
    await world.proposed(b"tea", request_id="r")
    refused = await world.propose(b"coffee", request_id="r")
    assert refused == Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"})


async def test_a_request_id_is_its_callers_and_tenants_own(world: World) -> None:
    # given a request id used by the user, then another's use of it, here or elsewhere, is a request of its own
    neighbour = await world.neighbour()
    first = await world.proposed(b"tea", request_id="r")
    for other in (await world.proposed(b"milk", request_id="r", by=world.agent), await neighbour.proposed(b"tea")):
        assert other.revision.proposer != first.revision.proposer or other.revision.tenant != first.revision.tenant


async def test_two_requests_for_one_revision_make_one(world: World, proposals: Proposals) -> None:
    # given two revisions that both follow the first
    first = await world.proposed()
    follower = replace(first, revision=replace(first.revision, revision=2))
    ways = [proposals.create(world.mark(world.user, name, name), follower) for name in ("a", "b")]

    # when both are kept at once, then one is, and the other is told to look again
    answers = await asyncio.gather(*ways)
    assert sorted(map(reason_of, answers), key=str) == [None, Reason.CONTENTION]

    # and its request id is free: it made nothing
    loser = "b" if reason_of(answers[1]) else "a"
    third = replace(first, revision=replace(first.revision, revision=3))
    assert await proposals.create(world.mark(world.user, loser, "anything"), third) == third


async def test_of_revisions_proposed_at_once_each_gets_a_number(world: World) -> None:
    # given a proposal, when three revisions of it come at once, then the use case finds a place for each
    first = await world.proposed()
    ways = [world.proposed(proposal_id=first.revision.proposal_id) for _ in range(3)]
    assert sorted(it.revision.revision for it in await asyncio.gather(*ways)) == [2, 3, 4]


async def test_the_same_request_twice_at_once_makes_one(world: World) -> None:
    ways = [world.proposed(b"tea", request_id="r") for _ in range(5)]
    assert len({key_of(proposal) for proposal in await asyncio.gather(*ways)}) == 1


async def test_what_follows_no_revision_is_contention(world: World, proposals: Proposals) -> None:
    first = await world.proposed()
    for number in (1, 3):
        stray = replace(first, revision=replace(first.revision, revision=number))
        assert reason_of(await proposals.create(world.mark(world.user, None), stray)) is Reason.CONTENTION


async def test_a_committed_proposal_has_no_further_revision(world: World) -> None:
    issued, answer = await world.committed()
    refused = await world.propose(proposal_id=issued.ground.revision.proposal_id)
    assert refused == Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": answer.receipt.receipt_id})


async def test_the_newest_validation_is_the_last_one_kept(world: World, proposals: Proposals) -> None:
    proposal = await world.proposed()
    assert await proposals.newest_validation(world.tenant, *key_of(proposal)) is None
    for _ in range(3):
        newest = must(await world.validate(proposal)).signed.statement
        assert await proposals.newest_validation(world.tenant, *key_of(proposal)) == newest


# --- pages -----------------------------------------------------------------------------------------------------------


async def page_ids(world: World, **asked: object) -> list[str]:
    """The ids of a page with these filters, and no others."""
    everything = {"memory_namespace": NAMESPACE, "state": None, "after": "", "size": 50}
    filters = {**everything, "reader": world.user.ref, "sees": Sees.EVERY, "now": world.now(), **asked}
    page = await world.authority.store.proposals.page(world.tenant, **filters)  # type: ignore[arg-type]
    return [proposal.revision.proposal_id for proposal in page]


async def test_a_page_has_current_revisions_in_the_order_of_their_ids(world: World, proposals: Proposals) -> None:
    # given three proposals, of which the second has two revisions, and a neighbour's
    made = [await world.proposed() for _ in range(3)]
    newer = await world.proposed(proposal_id=made[1].revision.proposal_id)
    await (await world.neighbour()).proposed()

    # then the page has the newest of each, without its content
    page = await proposals.page(
        world.tenant,
        memory_namespace=NAMESPACE,
        state=None,
        reader=world.user.ref,
        sees=Sees.EVERY,
        after="",
        size=50,
        now=world.now(),
    )
    assert list(page) == [replace(proposal, content=b"") for proposal in (made[0], newer, made[2])]


async def test_pages_go_on_after_the_last_id_and_end(world: World) -> None:
    ids = [(await world.proposed()).revision.proposal_id for _ in range(5)]
    assert await page_ids(world, size=2) == ids[:2]
    assert await page_ids(world, after=ids[1], size=2) == ids[2:4]
    assert await page_ids(world, after=ids[3], size=2) == ids[4:]
    assert await page_ids(world, after=ids[4]) == []


async def test_a_page_is_filtered_by_state_and_proposer(world: World) -> None:
    proposed, by_agent, rejected = await world.proposed(), await world.proposed(by=world.agent), await world.validated()
    must(await world.approve(rejected, ApprovalVerdict.REJECT))
    ids = [proposal.revision.proposal_id for proposal in (proposed, by_agent, rejected)]

    assert await page_ids(world, state=ProposalState.PROPOSED) == ids[:2]
    assert await page_ids(world, state=ProposalState.REJECTED) == [ids[2]]
    assert await page_ids(world, sees=Sees.OWN, reader=world.agent.ref) == [ids[1]]
    assert await page_ids(world, sees=Sees.OWN, state=ProposalState.PROPOSED) == [ids[0]]


async def test_g01_a_page_is_of_one_memory_namespace_and_an_empty_name_is_none(world: World) -> None:
    await world.make_namespace("ledger", PERMIT_ALL)
    await world.proposed()
    in_ledger = await world.proposed(memory_namespace="ledger")
    assert await page_ids(world, memory_namespace="ledger") == [in_ledger.revision.proposal_id]
    assert await page_ids(world, memory_namespace="unknown") == []
    assert await page_ids(world, memory_namespace="") == []
