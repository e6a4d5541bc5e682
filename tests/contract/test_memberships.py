"""The port `Memberships` and its operator's side: visibility is access control from live membership (semantics §8)."""

import pytest

from authority.domain.citation import CitedRecord
from authority.domain.identity import PrincipalKind, Right
from authority.domain.membership import SCOPED, Scope
from authority.domain.proposal import Visibility
from authority.domain.reasons import Reason
from authority.domain.recall import RecallHit, RecallQuery
from authority.domain.refusal import Refusal
from authority.domain.validation import ValidationOutcome
from authority.usecases.administer import AlreadyThere, NotThere
from authority.usecases.export_record import ExportForm
from authority.usecases.paging import Page, PageRequest
from authority.usecases.recall_records import RecallRequest
from tests.contract.test_audit_log import listed as audited
from tests.contract.test_recall import found
from tests.contract.test_records import recorded, seen
from tests.world.membership import CREW, PORT, for_scope, join, leave, of_visibility
from tests.world.world import NAMESPACE, Person, World, must, reason_of

OTHERS = [Scope(Visibility.CHANNEL, "crew"), Scope(Visibility.TEAM, "crew2"), Scope(Visibility.TEAM, "Crew")]
"""What is not the crew."""


# --- who is a member -------------------------------------------------------------------------------------------------


async def test_a_member_is_one_while_it_is_one_and_its_principal_lives(world: World) -> None:
    store, agent = world.authority.store, world.agent
    assert not await store.memberships.is_member(world.tenant, agent.ref, CREW)
    # when the agent joins the crew, then it is in the crew of its tenant and nowhere else
    await join(world, agent, CREW)
    assert await store.memberships.is_member(world.tenant, agent.ref, CREW)
    assert not any([await store.memberships.is_member(world.tenant, agent.ref, other) for other in OTHERS])
    assert not await store.memberships.is_member((await world.neighbour()).tenant, agent.ref, CREW)
    # when it leaves and comes back, then each is seen at once
    await leave(world, agent, CREW)
    assert not await store.memberships.is_member(world.tenant, agent.ref, CREW)
    await join(world, agent, CREW)
    assert await store.memberships.is_member(world.tenant, agent.ref, CREW)
    # and of a revoked principal nothing is left
    await store.administration.revoke_principal(world.tenant, agent.ref, world.now())
    assert not await store.memberships.is_member(world.tenant, agent.ref, CREW)


async def test_each_change_of_a_membership_is_told_once_and_what_changes_nothing_is_refused(world: World) -> None:
    # given an agent that joined two scopes, left one, and came back to it
    await join(world, world.agent, CREW, PORT)
    await leave(world, world.agent, PORT)
    await join(world, world.agent, PORT)
    await leave(world, world.agent, PORT)
    # when what is so already is asked for, or for a principal that is none, then nothing changes
    await world.authority.store.administration.revoke_principal(world.tenant, world.observer.ref, world.now())
    with pytest.raises(AlreadyThere, match="crew"):
        await join(world, world.agent, CREW)
    for scope in (PORT, Scope(Visibility.TEAM, "nobody")):
        with pytest.raises(NotThere):
            await leave(world, world.agent, scope)
    with pytest.raises(NotThere, match="no active principal"):
        await join(world, world.observer, CREW)
    # then the list has who is in, and the audit log every change once
    kept = await world.authority.store.membership_administration.list_memberships(world.tenant)
    assert [(it.principal, it.scope, it.add_time) for it in kept] == [(world.agent.ref, CREW, world.now())]
    events, _ = await audited(world, oldest_first=True)
    told = [(it.kind, it.subject, it.previous_state, it.next_state) for it in (event.event for event in events)]
    crew, port = f"team:crew:{world.agent.ref}", f"channel:port:{world.agent.ref}"
    assert [it for it in told if it[0].startswith("membership")] == [
        ("membership.add", crew, "", "active"),
        ("membership.add", port, "", "active"),
        ("membership.remove", port, "active", "removed"),
        ("membership.add", port, "removed", "active"),
        ("membership.remove", port, "active", "removed"),
    ]


# --- who sees what ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", [CREW, PORT])
async def test_adr328_05_a_record_of_a_channel_or_team_is_its_live_members(world: World, scope: Scope) -> None:
    # given a record for a scope that the user is in, and an agent that is in others
    await join(world, world.user, scope)
    await join(world, world.agent, *(other for other in (CREW, PORT, *OTHERS) if other != scope))
    record_id = await recorded(world, b"tea", **for_scope(scope))

    async def shown() -> list[bool]:
        readers = (world.user, world.agent, world.admin)
        return [await seen(world, record_id, it.ref) and await found(world, "tea", it) == [record_id] for it in readers]

    assert await shown() == [True, False, False]
    # when the agent joins, it sees it from the next read on; when the proposer leaves, it sees it no more
    await join(world, world.agent, scope)
    assert await shown() == [True, True, False]
    await leave(world, world.user, scope)
    assert await shown() == [False, True, False]
    # and a principal that is revoked sees nothing
    await world.authority.store.administration.revoke_principal(world.tenant, world.agent.ref, world.now())
    assert await shown() == [False, False, False]


async def test_adr328_06_rights_are_judged_anew_on_every_page(world: World) -> None:
    # given five records of the crew, of which an agent has had a first page
    await join(world, world.user, CREW)
    await join(world, world.agent, CREW)
    ids = [await recorded(world, b"tea %d" % number, **for_scope(CREW)) for number in range(5)]

    async def page(token: str) -> Page[RecallHit]:
        query = RecallQuery(memory_namespace=NAMESPACE, text="tea")
        request = RecallRequest(query, PageRequest(2, token), "")
        return must(await world.authority.do.recall(world.agent.calls(), request))

    first = await page("")
    assert len(first.items) == 2
    # when one of the others is revoked, then the next page is without it at once
    others = [record_id for record_id in ids if record_id not in {hit.record.record_id for hit in first.items}]
    must(await world.revoke_record(others[0]))
    assert {hit.record.record_id for hit in (await page(first.next_token)).items} == set(others[1:])
    # and when the agent has left, the same page is empty
    await leave(world, world.agent, CREW)
    assert list((await page(first.next_token)).items) == []
    assert list((await page("")).items) == []


async def test_what_is_not_shown_is_neither_exported_nor_cited_nor_corrected(world: World) -> None:
    # given a record of the crew that its proposer cites
    await join(world, world.user, CREW)
    record_id = await recorded(world, b"tea", **for_scope(CREW))
    must(await world.cite(record_id, "answer 1", by=world.user))
    do, gone = world.authority.do, Refusal(Reason.NOT_FOUND)

    async def answers(by: Person) -> list[bool]:
        cited = must(await do.list_citations(by.calls(), CitedRecord(record_id), PageRequest(9, "")))
        return [
            not isinstance(await do.export_record(by.calls(), record_id, ExportForm.COMPACT), Refusal),
            not isinstance(await world.cite(record_id, "answer 2", by=by), Refusal),
            not isinstance(await world.correct(record_id, by=by), Refusal),
            bool(cited.items),
        ]

    assert await answers(world.user) == [True] * 4
    assert await answers(world.agent) == [False] * 4
    assert await do.export_record(world.agent.calls(), record_id, ExportForm.AUDIT) == gone
    # but an admin can answer what was learned, from what, and who allowed it: in the audit form alone
    assert await do.export_record(world.admin.calls(), record_id, ExportForm.COMPACT) == gone
    assert (
        must(await do.export_record(world.admin.calls(), record_id, ExportForm.AUDIT)).history.record.content == b"tea"
    )
    neighbour = await world.neighbour()
    assert await do.export_record(neighbour.admin.calls(), record_id, ExportForm.AUDIT) == gone


# --- who may propose, and who sees proposals -------------------------------------------------------------------------


@pytest.mark.parametrize("visibility", Visibility)
async def test_a_scope_is_named_for_channel_and_team_and_for_nothing_else(world: World, visibility: Visibility) -> None:
    await join(world, world.user, CREW, PORT)
    good, other = of_visibility(visibility), "" if visibility in SCOPED else "crew"
    revision = must(await world.propose(**good)).revision
    assert (revision.visibility, revision.visibility_scope) == (visibility, good["visibility_scope"])
    refused = await world.propose(visibility=visibility, visibility_scope=other)
    assert isinstance(refused, Refusal)
    assert (refused.reason, refused.facts["field"]) == (Reason.MALFORMED, "visibility_scope")


async def test_nobody_proposes_to_a_channel_or_team_of_others(world: World) -> None:
    # given a user of the crew, then neither others of the tenant nor it elsewhere may propose for it
    await join(world, world.user, CREW)
    first = await world.proposed(**for_scope(CREW))
    assert reason_of(await world.propose(by=world.agent, **for_scope(CREW))) is Reason.NOT_ALLOWED
    for other in OTHERS:
        assert reason_of(await world.propose(**for_scope(other))) is Reason.NOT_ALLOWED
    # nor it itself once it has left, in a next revision either
    await leave(world, world.user, CREW)
    again = await world.propose(proposal_id=first.revision.proposal_id, **for_scope(CREW))
    assert reason_of(again) is Reason.NOT_ALLOWED


async def test_the_scope_of_a_correction_is_the_records_unless_said(world: World) -> None:
    await join(world, world.user, CREW, PORT)
    record_id = await recorded(world, b"tea", **for_scope(CREW))
    kept = must(await world.correct(record_id)).revision
    wider = must(await world.correct(record_id, visibility=Visibility.WORKSPACE)).revision
    moved = must(await world.correct(record_id, **for_scope(PORT))).revision
    said = [(it.visibility, it.visibility_scope) for it in (kept, wider, moved)]
    assert said == [(CREW.kind, CREW.id), (Visibility.WORKSPACE, ""), (PORT.kind, PORT.id)]
    assert reason_of(await world.correct(record_id, visibility=Visibility.CHANNEL)) is Reason.MALFORMED


@pytest.mark.parametrize("visibility", Visibility)
async def test_a_proposal_is_for_deciders_its_proposer_and_readers_of_what_it_would_become(
    world: World, visibility: Visibility
) -> None:
    # given a proposal of each visibility, a reader, and one who may only propose
    await join(world, world.user, CREW, PORT)
    reader = await world.register(PrincipalKind.USER, "reader", frozenset({Right.READ}))
    proposal_id = (await world.proposed(**of_visibility(visibility))).revision.proposal_id

    async def sees(by: Person) -> bool:
        do = world.authority.do
        got = not isinstance(await do.get_proposal(by.calls(), proposal_id, 0), Refusal)
        page = must(await do.list_proposals(by.calls(), NAMESPACE, None, PageRequest(9, "")))
        assert ([it.revision.proposal_id for it in page.items] == [proposal_id]) is got
        return got

    # then deciders see it, the reader what would be shown to it, and nobody without a right to either
    assert await sees(world.user)
    assert await sees(world.admin)
    assert await sees(reader) is (visibility is Visibility.WORKSPACE)
    assert not await sees(world.observer)
    # and a reader that joins sees what is for the members
    await join(world, reader, CREW, PORT)
    assert await sees(reader) is (visibility is not Visibility.PRIVATE)


async def test_no_validator_tells_a_proposer_what_others_wrote_where_it_cannot_read(world: World) -> None:
    # given a record that is the user's alone
    await recorded(world, b"the combination is 4711", visibility=Visibility.PRIVATE)
    # when an agent guesses it, then it learns nothing; the user is told that it said so before
    guessed = await world.proposed(b"the combination is 4711", by=world.agent)
    again = await world.proposed(b"the combination is 4711")
    outcomes = [must(await world.validate(it)).signed.receipt.outcome for it in (guessed, again)]
    assert outcomes == [ValidationOutcome.PASS, ValidationOutcome.FAIL]


async def test_who_left_a_team_still_gets_the_answer_to_what_it_proposed_before(world: World) -> None:
    # Given a proposal for a team, whose answer was lost, and whose proposer is in the team no more
    await join(world, world.agent, CREW)
    kept = must(await world.propose(b"ours", by=world.agent, request_id="lost", **for_scope(CREW)))
    await leave(world, world.agent, CREW)
    # When it asks again, then it gets what was kept; and nothing new
    again = await world.propose(b"ours", by=world.agent, request_id="lost", **for_scope(CREW))
    assert must(again).digest == kept.digest
    assert reason_of(await world.propose(by=world.agent, **for_scope(CREW))) is Reason.NOT_ALLOWED
