"""Corrections: what every store keeps to of a proposal that supersedes a record, and the verb that opens it."""

import asyncio
from collections.abc import Mapping

import pytest

from authority.domain.identity import PrincipalKind, Right
from authority.domain.proposal import MemoryType, Provenance, StoredProposal, Visibility
from authority.domain.reasons import Reason
from authority.domain.record import MemoryRecord
from authority.domain.references import HOUR, SECOND, after
from authority.domain.refusal import Refusal
from authority.usecases.paging import PageRequest
from tests.world.world import NAMESPACE, PERMIT_ALL, Issued, Person, World, all_are, must, reason_of

NOT_FOUND = Refusal(Reason.NOT_FOUND, {"field": "record_id"})


async def recorded(world: World, content: bytes | None = None) -> str:
    """The id of a new record."""
    _, answer = await world.committed(content)
    return answer.receipt.record_id


async def correcting(world: World, record_id: str, content: bytes | None = None) -> Issued:
    """A capability for a correction of the record."""
    ground = await world.allow(must(await world.correct(record_id, content)))
    return await world.issued_on(ground)


async def corrected(world: World, record_id: str) -> str:
    """The id of the record that took the place of this one."""
    return must(await world.commit(await correcting(world, record_id))).receipt.record_id


async def seen(world: World, by: Person | None = None) -> Mapping[str, MemoryRecord]:
    """What the reader gets, by lists and one by one alike."""
    by = by or world.user
    listed = must(await world.authority.do.list_records(by.calls(), NAMESPACE, PageRequest(100, "")))
    got = [must(await world.authority.do.get_record(by.calls(), it.record_id)) for it in listed.items]
    assert got == list(listed.items)
    return {record.record_id: record for record in got}


async def test_the_commit_of_a_correction_takes_the_place_of_the_record(world: World) -> None:
    # given a record, and another beside it
    issued, answer = await world.committed(b"the office opens at 9")
    old, other = answer.receipt.record_id, await recorded(world)

    # when a correction is opened, validated, decided and issued, then nothing has changed for readers
    correction = await correcting(world, old, b"the office opens at 8")
    assert (await seen(world)).keys() == {old, other}

    # and once it is committed they read it in place of the record, which is gone
    new = must(await world.commit(correction)).receipt.record_id
    found = await seen(world)
    assert found.keys() == {new, other}
    assert (found[new].content, found[new].supersedes_record_id) == (b"the office opens at 8", old)
    assert found[other].supersedes_record_id == ""
    assert reason_of(await world.authority.do.get_record(world.user.calls(), old)) is Reason.NOT_FOUND

    # and receipts stay history: each commit replays
    assert must(await world.commit(issued)).receipt == answer.receipt
    assert must(await world.commit(correction)).replayed
    assert await world.counts() == all_are(3)


async def test_a_correction_is_a_proposal_of_its_own_and_keeps_what_is_not_said(world: World) -> None:
    # given a record that is its proposer's alone to see
    _, answer = await world.committed(memory_type=MemoryType.PREFERENCE, visibility=Visibility.PRIVATE)

    # when the user corrects it, then type, visibility and memory namespace are the record's, and the proposal a new one
    revision = must(await world.correct(answer.receipt.record_id)).revision
    assert (revision.memory_type, revision.visibility) == (MemoryType.PREFERENCE, Visibility.PRIVATE)
    assert (revision.memory_namespace, revision.revision) == (NAMESPACE, 1)
    assert revision.supersedes_record_id == answer.receipt.record_id

    # and what is said is taken
    said = must(
        await world.correct(
            answer.receipt.record_id, memory_type=MemoryType.DURABLE_FACT, visibility=Visibility.WORKSPACE
        )
    ).revision
    assert (said.memory_type, said.visibility) == (MemoryType.DURABLE_FACT, Visibility.WORKSPACE)


async def test_g12_the_provenance_of_a_correction_is_its_callers(world: World) -> None:
    record_id = await recorded(world)
    by_agent = must(await world.correct(record_id, by=world.agent)).revision
    by_user = must(await world.correct(record_id)).revision
    assert (by_agent.provenance, by_user.provenance) == (Provenance.AGENT_OUTPUT, Provenance.USER_CLAIM)


async def test_a_correction_may_say_the_same_and_no_other_proposal_may(world: World) -> None:
    # given a record, when a correction says the same of another time, then it is no duplicate of what it corrects
    old = await recorded(world, b"the office is closed")
    correction = must(await world.correct(old, b"the office is closed", valid_from_time=after(world.now(), HOUR)))
    new = must(await world.commit(await world.issued_on(await world.allow(correction)))).receipt.record_id
    assert await seen(world) == {}
    world.authority.clock.advance(HOUR)
    assert (await seen(world)).keys() == {new}

    # and what was superseded stands in nobody's way, but what took its place does
    again = await world.proposed(b"the office is closed")
    [finding] = [it for it in must(await world.validate(again)).signed.receipt.findings if it.reason]
    assert finding.reason == f"duplicate_of:{new}"


async def test_a_next_revision_corrects_the_same_record(world: World) -> None:
    record_id = await recorded(world)
    first = must(await world.correct(record_id)).revision
    second = await world.proposed(proposal_id=first.proposal_id)
    assert (second.revision.revision, second.revision.supersedes_record_id) == (2, record_id)
    new = must(await world.commit(await world.issued_on(await world.allow(second)))).receipt.record_id
    assert (await seen(world)).keys() == {new}


async def test_history_keeps_what_took_whose_place_and_when(world: World) -> None:
    old = await recorded(world)
    correction = await correcting(world, old)
    world.authority.clock.advance(SECOND)
    new = must(await world.commit(correction)).receipt.record_id
    histories = world.authority.store.histories
    before, after_it = [await histories.of_record(world.tenant, record_id, world.user.ref) for record_id in (old, new)]
    assert before
    assert after_it
    assert (before.superseded_by, before.supersede_time, before.record.supersedes_record_id) == (new, world.now(), "")
    assert (after_it.superseded_by, after_it.supersede_time, after_it.record.supersedes_record_id) == ("", None, old)


# --- several corrections, and what happens meanwhile ------------------------------------------------------------------


async def test_of_two_corrections_the_first_that_is_committed_wins(world: World) -> None:
    # given two corrections of one record, and a second capability for the first
    record_id = await recorded(world)
    first, second = await correcting(world, record_id), await correcting(world, record_id)
    twin = await world.issued_on(first.ground, key="twin")
    answer = must(await world.commit(first))

    # then the other one has nothing left to correct, and the first goes on as every settled commit does
    assert reason_of(await world.commit(second)) is Reason.NOT_VALIDATED
    assert reason_of(await world.commit(twin)) is Reason.ALREADY_COMMITTED
    assert must(await world.commit(first)).receipt == answer.receipt
    assert (await seen(world)).keys() == {answer.receipt.record_id}
    assert await world.counts() == all_are(2)


@pytest.mark.parametrize("together", [False, True], ids=["one by one", "in one batch"])
async def test_of_many_corrections_at_once_exactly_one_wins(world: World, *, together: bool) -> None:
    record_id = await recorded(world)
    corrections = [await correcting(world, record_id) for _ in range(6)]
    if together:
        answers = must(await world.commit_batch(corrections))
        assert reason_of(answers[0]) is None, "of items that contend the first wins"
    else:
        answers = list(await asyncio.gather(*(world.commit(correction) for correction in corrections)))
    assert sorted(map(str, map(reason_of, answers))) == ["None", *[str(Reason.NOT_VALIDATED)] * 5]
    assert len(await seen(world)) == 1
    assert await world.counts() == all_are(2)


async def test_corrections_of_several_records_in_one_batch_are_each_their_own(world: World) -> None:
    old = [await recorded(world) for _ in range(3)]
    batch = [await correcting(world, record_id) for record_id in old]
    answers = [must(answer) for answer in must(await world.commit_batch([*batch, await world.issued()]))]
    found = await seen(world)
    assert [found[it.receipt.record_id].supersedes_record_id for it in answers] == [*old, ""]
    assert len(found) == 4


async def test_a_correction_of_a_correction_follows_the_chain(world: World) -> None:
    first = await recorded(world)
    second = await corrected(world, first)
    third = await corrected(world, second)
    assert (await seen(world)).keys() == {third}
    for gone in (first, second):
        assert await world.correct(gone) == NOT_FOUND


async def test_g07_a_correction_of_what_was_revoked_meanwhile_is_refused(world: World) -> None:
    record_id = await recorded(world)
    correction = await correcting(world, record_id)
    must(await world.revoke_record(record_id))
    assert reason_of(await world.commit(correction)) is Reason.REVOKED
    assert await seen(world) == {}
    assert await world.counts() == all_are(1)


async def test_of_two_causes_the_upper_one_answers_a_correction(world: World) -> None:
    # given a correction of a record that was superseded (NOT_VALIDATED) and then revoked (REVOKED), of another version
    record_id = await recorded(world)
    correction = await correcting(world, record_id)
    await corrected(world, record_id)
    assert reason_of(await world.commit(correction)) is Reason.NOT_VALIDATED
    must(await world.revoke_record(record_id))
    assert reason_of(await world.commit(correction)) is Reason.REVOKED
    must(await world.propose(proposal_id=correction.ground.revision.proposal_id))
    assert reason_of(await world.commit(correction)) is Reason.REVOKED


async def test_g05_revoking_either_of_the_two_brings_nothing_back(world: World) -> None:
    # given a corrected record, when the old one is revoked, then its correction stays
    old = await recorded(world)
    new = await corrected(world, old)
    must(await world.revoke_record(old))
    assert (await seen(world)).keys() == {new}

    # and when that is revoked, then none is left, and the old one does not come back
    must(await world.revoke_record(new))
    assert await seen(world) == {}


# --- who may ----------------------------------------------------------------------------------------------------------

CALLERS: dict[str, tuple[PrincipalKind, frozenset[Right], Reason | None]] = {
    "agent": (PrincipalKind.AGENT, frozenset({Right.PROPOSE, Right.READ}), None),
    "user": (PrincipalKind.USER, frozenset({Right.PROPOSE, Right.READ}), None),
    "observer_that_may_not_read": (PrincipalKind.OBSERVER, frozenset({Right.PROPOSE}), Reason.NOT_ALLOWED),
    "user_that_may_not_propose": (PrincipalKind.USER, frozenset({Right.READ, Right.DECIDE}), Reason.NOT_ALLOWED),
    "admin": (PrincipalKind.ADMIN, frozenset({Right.READ, Right.DECIDE, Right.ISSUE}), Reason.NOT_ALLOWED),
}


@pytest.mark.parametrize(("kind", "rights", "refused"), CALLERS.values(), ids=CALLERS)
async def test_the_caller_column(
    world: World, kind: PrincipalKind, rights: frozenset[Right], refused: Reason | None
) -> None:
    record_id, other = await recorded(world), await world.register(kind, "other", rights)
    assert reason_of(await world.correct(record_id, by=other)) is refused


async def test_g02_what_is_invisible_anothers_gone_or_missing_sounds_alike(world: World) -> None:
    # given a private record, one that expires, a revoked one, a superseded one, a neighbour's, and an id of nothing
    private = (await world.committed(visibility=Visibility.PRIVATE))[1].receipt.record_id
    brief = (await world.committed(record_expire_time=after(world.now(), HOUR)))[1].receipt.record_id
    revoked, superseded = await recorded(world), await recorded(world)
    must(await world.revoke_record(revoked))
    await corrected(world, superseded)
    theirs = await recorded(await world.neighbour())
    world.authority.clock.advance(HOUR)
    for record_id in (private, brief, revoked, superseded, theirs, world.authority.ids.new()):
        assert await world.correct(record_id, by=world.agent, request_id="r") == NOT_FOUND

    # and none of that has used the request id up
    assert isinstance(await world.correct(await recorded(world), by=world.agent, request_id="r"), StoredProposal)


async def test_a_correction_stays_in_its_memory_namespace(world: World) -> None:
    await world.make_namespace("ledger", PERMIT_ALL)
    _, answer = await world.committed(memory_namespace="ledger")
    assert must(await world.correct(answer.receipt.record_id)).revision.memory_namespace == "ledger"


# --- retries ----------------------------------------------------------------------------------------------------------


async def test_a_retry_is_answered_with_the_first_proposal_whatever_became_of_the_record(world: World) -> None:
    record_id = await recorded(world)
    first = must(await world.correct(record_id, b"8", request_id="r"))
    assert await world.correct(record_id, b"8", request_id="r") == first
    must(await world.revoke_record(record_id))
    assert await world.correct(record_id, b"8", request_id="r") == first


async def test_a_request_id_of_another_request_is_a_conflict(world: World) -> None:
    record_id, other = await recorded(world), await recorded(world)
    must(await world.correct(record_id, b"8", request_id="r"))
    conflict = Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"})
    assert await world.correct(other, b"8", request_id="r") == conflict
    must(await world.revoke_record(other))
    assert await world.correct(other, b"8", request_id="r") == conflict
