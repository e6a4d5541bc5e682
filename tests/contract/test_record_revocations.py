"""The port `RecordRevocations`: what every store keeps to, and the verb over it."""

import asyncio

import pytest

from authority.domain.audit import AuditFilter
from authority.domain.freshness import Freshness
from authority.domain.identity import PrincipalKind, Right
from authority.domain.proposal import Visibility
from authority.domain.reasons import Reason
from authority.domain.record import RecordParties
from authority.domain.references import DAY, HOUR, SECOND, after
from authority.domain.refusal import Refusal
from authority.domain.revocation import RevokedKind
from authority.signing.revision_tokens import SealedRevisionTokens
from authority.usecases.paging import PageRequest
from authority.usecases.ports import RevokedRecord
from authority.usecases.revoke_record import RecordRevocation
from tests.world.world import NAMESPACE, PERMIT_ALL, Person, World, all_are, must, reason_of

NOT_FOUND = Refusal(Reason.NOT_FOUND)


async def recorded(world: World, content: bytes | None = None, *, by: Person | None = None) -> str:
    """The id of a new record, proposed by the user unless told otherwise."""
    _, answer = await world.committed(content, by=by or world.user)
    return answer.receipt.record_id


async def seen(world: World, record_id: str, by: Person | None = None) -> bool:
    """Whether the reader gets the record, and by a list just as well."""
    by = by or world.user
    found = await world.authority.do.get_record(by.calls(), record_id)
    listed = must(await world.authority.do.list_records(by.calls(), NAMESPACE, PageRequest(100, "")))
    assert (record_id in [it.record_id for it in listed.items]) == (reason_of(found) is None)
    return reason_of(found) is None


async def test_g05_a_revoked_record_is_absent_everywhere_and_its_history_stays(world: World) -> None:
    # given a record and another beside it
    issued, answer = await world.committed()
    record_id, other = answer.receipt.record_id, await recorded(world)

    # when it is revoked, then nobody reads it, and the other one is read as before
    revoked = must(await world.revoke_record(record_id, note="it was never true"))
    assert (revoked.revoke_time, revoked.replayed) == (world.now(), False)
    for reader in (world.user, world.agent, world.admin):
        assert not await seen(world, record_id, reader)
    assert await seen(world, other)

    # and a replay of the commit answers with the receipt of then
    replay = must(await world.commit(issued))
    assert (replay.receipt, replay.replayed) == (answer.receipt, True)
    assert await world.authority.store.receipts.by_record(world.tenant, record_id) == answer.receipt
    assert await world.counts() == all_are(2)


async def test_g05_a_page_that_was_begun_before_goes_on_without_it(world: World) -> None:
    # given the first page of three records, one on a page
    ids = [await recorded(world) for _ in range(3)]
    first = must(await world.authority.do.list_records(world.user.calls(), NAMESPACE, PageRequest(1, "")))
    assert [it.record_id for it in first.items] == ids[:1]

    # when the second is revoked, then the next page is the third, and the last
    must(await world.revoke_record(ids[1]))
    rest = must(await world.authority.do.list_records(world.user.calls(), NAMESPACE, PageRequest(1, first.next_token)))
    assert ([it.record_id for it in rest.items], rest.next_token) == (ids[2:], "")


async def test_the_answer_has_a_token_for_recalls_that_must_know_of_it(world: World) -> None:
    # given a record that is revoked twice, then both tokens stand for the one tombstone
    record_id = await recorded(world)
    marks = [world.mark(world.user, None, record_id) for _ in range(2)]
    for mark in marks:
        request = RecordRevocation(mark, record_id, "", "")
        answer = must(await world.authority.do.revoke_record(world.user.calls(), request))
        stands_for = SealedRevisionTokens(bytes(32)).open(world.tenant, answer.revision_token)
        assert stands_for == Freshness(tombstone_sequence=answer.revoked.sequence)


async def test_every_record_of_the_memory_namespace_with_this_content_goes_and_no_other(world: World) -> None:
    # given two records that say the same, which two proposals validated at once became, and the same elsewhere
    await world.make_namespace("ledger", PERMIT_ALL)
    grounds = [await world.allowed(b"the same") for _ in range(2)]
    ids = [must(await world.commit(await world.issued_on(ground))).receipt.record_id for ground in grounds]
    _, elsewhere = await world.committed(b"the same", memory_namespace="ledger")

    # when one of them is revoked, then both are gone, by one sequence, and the one elsewhere stays
    first = must(await world.revoke_record(ids[0]))
    assert [await seen(world, record_id) for record_id in ids] == [False, False]
    assert must(await world.revoke_record(ids[1])) == RevokedRecord(first.revoke_time, first.sequence, replayed=True)
    found = await world.authority.do.get_record(world.user.calls(), elsewhere.receipt.record_id)
    assert reason_of(found) is None

    # and of each that is gone the audit log and the feed tell once; the one that was named stands at its sequence
    kind = AuditFilter(kind="memory.revoke")
    told = await world.authority.store.audit_log.page(world.tenant, kind, oldest_first=True, after="", size=9)
    assert sorted(event.event.subject for event in told) == sorted(ids)
    # (but for what other tests have withdrawn of the authority's keys)
    news = must(await world.authority.store.revocation_feed.news(world.tenant, 0, 100_000))
    items = [item for item in news.items if item.revoked.tenant == world.tenant]
    assert {item.revoked.subject: item.revoked.kind for item in items} == dict.fromkeys(ids, RevokedKind.RECORD)
    assert [item.sequence for item in items if item.revoked.subject == ids[0]] == [first.sequence]


async def test_the_first_answer_is_given_again_whatever_the_request(world: World) -> None:
    record_id = await recorded(world)
    first = must(await world.revoke_record(record_id, request_id="r"))
    world.authority.clock.advance(SECOND)

    # when it is revoked again, by the same request, by another one, and by somebody else, then the first time is told
    again = [
        must(await world.revoke_record(record_id, request_id="r")),
        must(await world.revoke_record(record_id, request_id="another")),
        must(await world.revoke_record(record_id, by=world.admin)),
    ]
    assert again == [RevokedRecord(first.revoke_time, first.sequence, replayed=True)] * 3


async def test_of_many_that_revoke_one_at_once_one_does_it(world: World) -> None:
    record_id = await recorded(world)
    answers = await asyncio.gather(*(world.revoke_record(record_id) for _ in range(8)))
    revoked = [must(answer) for answer in answers]
    assert [it.replayed for it in revoked].count(False) == 1
    assert len({(it.revoke_time, it.sequence) for it in revoked}) == 1


async def test_a_request_id_used_for_another_record_is_a_conflict_and_revokes_nothing(world: World) -> None:
    record_id, other = await recorded(world), await recorded(world)
    must(await world.revoke_record(record_id, request_id="r"))
    conflict = Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"})
    assert await world.revoke_record(other, request_id="r") == conflict
    assert await seen(world, other)


# --- what comes after -------------------------------------------------------------------------------------------------


async def test_g07_a_commit_that_was_decided_before_is_refused_for_ever(world: World) -> None:
    # given a record, and a capability for another proposal of its content, which was decided before the withdrawal
    decided = [await world.allowed(b"again") for _ in range(2)]
    record_id = must(await world.commit(await world.issued_on(decided[0]))).receipt.record_id
    late = await world.issued_on(decided[1], key="late")
    must(await world.revoke_record(record_id))

    # then the late commit is refused, a capability issued anew on the same decision too, and nothing is brought back
    assert reason_of(await world.commit(late)) is Reason.REVOKED
    assert reason_of(await world.commit(await world.issued_on(decided[1], key="later"))) is Reason.REVOKED
    assert not await seen(world, record_id)
    assert await world.counts() == all_are(1)


async def test_g07_content_decided_anew_is_a_record_of_its_own_and_can_be_revoked_again(world: World) -> None:
    # given a revoked record whose content is proposed, decided and committed anew
    record_id = await recorded(world, b"again")
    first = must(await world.revoke_record(record_id))
    anew = await recorded(world, b"again")
    assert anew != record_id
    assert (await seen(world, anew), await seen(world, record_id)) == (True, False)

    # when the new one is revoked, too, then that is a revocation of its own, and the old one's answer is what it was
    world.authority.clock.advance(SECOND)
    second = must(await world.revoke_record(anew))
    assert not second.replayed
    assert second.sequence > first.sequence
    assert not await seen(world, anew)
    again = must(await world.revoke_record(record_id))
    assert again == RevokedRecord(first.revoke_time, first.sequence, replayed=True)


async def test_an_expired_record_is_revoked_too(world: World) -> None:
    _, answer = await world.committed(record_expire_time=after(world.now(), HOUR))
    world.authority.clock.advance(DAY)
    assert not must(await world.revoke_record(answer.receipt.record_id)).replayed


# --- who may ----------------------------------------------------------------------------------------------------------

OTHERS: dict[str, tuple[PrincipalKind, frozenset[Right], bool]] = {
    "user_that_decides": (PrincipalKind.USER, frozenset({Right.DECIDE}), True),
    "admin_without_a_right": (PrincipalKind.ADMIN, frozenset(), True),
    "user_that_reads": (PrincipalKind.USER, frozenset({Right.READ, Right.PROPOSE}), False),
    "service_that_issues_and_commits": (PrincipalKind.SERVICE, frozenset({Right.ISSUE, Right.COMMIT}), False),
    "agent": (PrincipalKind.AGENT, frozenset({Right.READ, Right.PROPOSE}), False),
    "agent_that_was_given_to_decide": (PrincipalKind.AGENT, frozenset({Right.DECIDE}), False),
    "observer": (PrincipalKind.OBSERVER, frozenset({Right.PROPOSE}), False),
}


@pytest.mark.parametrize(("kind", "rights", "may"), OTHERS.values(), ids=OTHERS)
async def test_the_caller_column(world: World, kind: PrincipalKind, rights: frozenset[Right], *, may: bool) -> None:
    record_id, other = await recorded(world), await world.register(kind, "other", rights)
    answer = await world.revoke_record(record_id, by=other)
    assert reason_of(answer) is (None if may else Reason.NOT_FOUND)
    assert await seen(world, record_id) is not may


async def test_the_holder_who_committed_it_may(world: World) -> None:
    record_id = await recorded(world)
    assert not must(await world.revoke_record(record_id, by=world.service)).replayed


PROPOSERS = {
    PrincipalKind.USER: True,
    PrincipalKind.OBSERVER: True,
    PrincipalKind.AGENT: False,
    PrincipalKind.MODEL: False,
}


@pytest.mark.parametrize(("kind", "may"), PROPOSERS.items())
async def test_a_proposer_may_unless_it_is_an_agent_or_a_model(world: World, kind: PrincipalKind, *, may: bool) -> None:
    # given a record of a proposer that may nothing else
    proposer = await world.register(kind, "proposer", frozenset({Right.PROPOSE}))
    record_id = await recorded(world, by=proposer)
    answer = await world.revoke_record(record_id, by=proposer)
    assert answer == NOT_FOUND if not may else not must(answer).replayed
    assert await seen(world, record_id) is not may


async def test_whoever_decides_withdraws_what_only_its_proposer_reads(world: World) -> None:
    _, answer = await world.committed(visibility=Visibility.PRIVATE)
    assert not await seen(world, answer.receipt.record_id, world.admin)
    assert not must(await world.revoke_record(answer.receipt.record_id, by=world.admin)).replayed


async def test_g02_what_is_anothers_what_is_revoked_and_what_is_missing_sound_alike(world: World) -> None:
    # given a record, a revoked one, a neighbour's, and an id that nothing has
    neighbour = await world.neighbour()
    mine, revoked, theirs = await recorded(world), await recorded(world), await recorded(neighbour)
    must(await world.revoke_record(revoked))
    absent = world.authority.ids.new()

    # when an agent asks for any of them, or an admin for what is not the tenant's, then each hears the same
    for record_id in (mine, revoked, theirs, absent):
        assert await world.revoke_record(record_id, by=world.agent) == NOT_FOUND
    for record_id in (theirs, absent):
        assert await world.revoke_record(record_id, by=world.admin, request_id="r") == NOT_FOUND
    assert await seen(world, mine)
    assert await seen(neighbour, theirs)

    # and what was refused has used no request id up
    assert not must(await world.revoke_record(mine, by=world.admin, request_id="r")).replayed


async def test_whose_a_record_is_stays_known_whatever_becomes_of_it(world: World) -> None:
    record_id, store = await recorded(world, by=world.agent), world.authority.store.record_revocations
    parties = RecordParties(world.agent.ref, world.service.ref)
    assert await store.parties_of(world.tenant, record_id) == parties
    must(await world.revoke_record(record_id))
    assert await store.parties_of(world.tenant, record_id) == parties
    assert await store.parties_of((await world.neighbour()).tenant, record_id) is None
    assert await store.parties_of(world.tenant, world.authority.ids.new()) is None
