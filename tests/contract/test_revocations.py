"""The port `Revocations`: what every store keeps to, and the verb over it."""

import asyncio

import pytest

from authority.domain import limits
from authority.domain.identity import PrincipalKind, Right
from authority.domain.reasons import Reason
from authority.domain.references import SECOND
from authority.domain.refusal import Refusal
from authority.usecases.ports import RevokedCapability
from authority.usecases.revoke_capability import RevocationRequest
from tests.world.world import Issued, Person, World, all_are, must, reason_of

LIFETIME_MS = limits.CAPABILITY_LIFETIME_DEFAULT_MS
NOT_FOUND = Refusal(Reason.NOT_FOUND)


async def test_a_revoked_capability_commits_nothing_any_more(world: World) -> None:
    issued = await world.issued()
    assert must(await world.revoke(issued)) == RevokedCapability(world.now(), replayed=False)
    for _ in range(2):
        assert reason_of(await world.commit(issued)) is Reason.REVOKED
    assert await world.counts() == all_are(0)


async def test_the_first_answer_is_given_again_whatever_the_request(world: World) -> None:
    # given a capability revoked at a time
    issued, first = await world.issued(), world.now()
    must(await world.revoke(issued, request_id="r"))
    world.authority.clock.advance(SECOND)

    # when it is revoked again: by the same request, by another one, and by somebody else
    again = [
        must(await world.revoke(issued, request_id="r")),
        must(await world.revoke(issued, request_id="another")),
        must(await world.revoke(issued, by=world.admin)),
    ]
    # then that time is answered
    assert again == [RevokedCapability(first, replayed=True)] * 3


async def test_an_expired_capability_is_revoked_too(world: World) -> None:
    # given one capability whose time is over, and one that gave way to another
    issued, replaced = await world.issued(), await world.issued(key="k")
    world.authority.clock.advance(LIFETIME_MS)
    live = await world.issued_on(replaced.ground, key="k")

    # when they are revoked, then they are, and the live one of the same key is not
    for expired in (issued, replaced):
        assert not must(await world.revoke(expired)).replayed
        assert must(await world.revoke(expired)).replayed
    must(await world.commit(live))


async def test_a_consumed_capability_names_its_receipt_and_is_not_revoked(world: World) -> None:
    # given a commit
    issued, answer = await world.committed()
    settled = Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": answer.receipt.receipt_id})

    # when its capability is to be revoked, then it is too late: that uses no request id up, and the retry still replays
    for _ in range(2):
        assert await world.revoke(issued, request_id="r") == settled
    assert must(await world.commit(issued)).replayed
    must(await world.revoke(await world.issued(), request_id="r"))
    assert await world.counts() == all_are(1)


async def test_the_retry_of_a_settled_commit_replays_though_the_capability_at_hand_was_revoked(world: World) -> None:
    # given a revoked capability, whose key was issued anew and committed
    first = await world.issued(key="k")
    must(await world.revoke(first))
    second = await world.issued_on(first.ground, key="k")
    receipt = must(await world.commit(second)).receipt

    # then either of the two replays the commit: a settled claim answers before every refusal
    for issued in (first, second):
        replay = must(await world.commit(issued))
        assert (replay.receipt, replay.replayed) == (receipt, True)
    assert reason_of(await world.revoke(second)) is Reason.ALREADY_COMMITTED


async def test_a_request_id_used_for_another_capability_is_a_conflict_and_revokes_nothing(world: World) -> None:
    first, other = await world.issued(), await world.issued()
    must(await world.revoke(first, request_id="r"))
    conflict = Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"})
    assert await world.revoke(other, request_id="r") == conflict
    must(await world.commit(other))


async def test_a_request_id_is_used_up_by_a_revocation_that_was_one_already(world: World) -> None:
    first, other = await world.issued(), await world.issued()
    must(await world.revoke(first))
    must(await world.revoke(first, request_id="r"))
    assert reason_of(await world.revoke(other, request_id="r")) is Reason.IDEMPOTENCY_CONFLICT


async def test_of_many_that_revoke_one_at_once_one_does_it(world: World) -> None:
    issued = await world.issued()
    answers = await asyncio.gather(*(world.revoke(issued) for _ in range(8)))
    revoked = [must(answer) for answer in answers]
    assert [it.replayed for it in revoked].count(False) == 1
    assert len({it.revoke_time for it in revoked}) == 1


# --- who may ----------------------------------------------------------------------------------------------------------

OTHERS: dict[str, tuple[PrincipalKind, frozenset[Right], bool]] = {
    "service_that_issues": (PrincipalKind.SERVICE, frozenset({Right.ISSUE}), True),
    "user_that_issues": (PrincipalKind.USER, frozenset({Right.ISSUE}), True),
    "admin_without_a_right": (PrincipalKind.ADMIN, frozenset(), True),
    "service_that_commits": (PrincipalKind.SERVICE, frozenset({Right.COMMIT, Right.READ}), False),
    "user_that_decides": (PrincipalKind.USER, frozenset({Right.DECIDE, Right.READ}), False),
    "agent": (PrincipalKind.AGENT, frozenset({Right.READ}), False),
}


@pytest.mark.parametrize(("kind", "rights", "may"), OTHERS.values(), ids=OTHERS)
async def test_the_caller_column(world: World, kind: PrincipalKind, rights: frozenset[Right], *, may: bool) -> None:
    issued, other = await world.issued(), await world.register(kind, "other", rights)
    answer = await world.revoke(issued, by=other)
    assert answer == (RevokedCapability(world.now(), replayed=False) if may else NOT_FOUND)
    assert reason_of(await world.commit(issued)) is (Reason.REVOKED if may else None)


async def test_a_holder_revokes_its_own_even_without_a_right(world: World) -> None:
    # given a capability whose holder may nothing else
    poor = await world.register(PrincipalKind.SERVICE, "poor", frozenset({Right.COMMIT}))
    issued = await world.issued(holder=poor)
    assert not must(await world.revoke(issued)).replayed


async def test_g02_what_is_anothers_what_is_revoked_and_what_is_missing_sound_alike(world: World) -> None:
    # given a live, a revoked and a consumed capability, and a neighbour's
    neighbour, agent = await world.neighbour(), world.agent
    live, revoked = await world.issued(), await world.issued()
    consumed, _ = await world.committed()
    must(await world.revoke(revoked))
    theirs = await neighbour.issued()

    # when an agent asks for any of them, or for one that was never issued, then it learns nothing, and nothing changes
    absent = world.authority.ids.new()
    for issued in (live, revoked, consumed, theirs):
        assert await world.revoke(issued, by=agent) == NOT_FOUND
    assert await revoke_id(world, absent, by=agent) == NOT_FOUND

    # and whoever may revoke here is told no more of a neighbour's
    for admin in (world.admin, world.service):
        assert await world.revoke(theirs, by=admin) == NOT_FOUND
        assert await revoke_id(world, absent, by=admin) == NOT_FOUND
    must(await world.commit(live))
    must(await neighbour.commit(theirs))


async def test_a_refused_request_uses_no_request_id_up(world: World) -> None:
    issued = await world.issued()
    assert await revoke_id(world, world.authority.ids.new(), by=world.service, request_id="r") == NOT_FOUND
    assert not must(await world.revoke(issued, request_id="r")).replayed


async def revoke_id(
    world: World, capability_id: str, *, by: Person, request_id: str | None = None
) -> RevokedCapability | Refusal:
    """RevokeCapability for whatever id."""
    request = RevocationRequest(world.mark(by, request_id, "revoke", capability_id), capability_id)
    return await world.authority.do.revoke_capability(by.calls(), request)


# --- who looks --------------------------------------------------------------------------------------------------------


async def look(world: World, issued: Issued, by: Person) -> Reason | None:
    verdict = must(
        await world.authority.do.verify_capability(by.calls(), issued.capability.statement, issued.presentation)
    )
    return reason_of(verdict.refusal)


async def test_who_looks_is_told_of_the_revocation_inside_the_tenant_alone(world: World) -> None:
    issued, neighbour = await world.issued(), await world.neighbour()
    assert await look(world, issued, world.agent) is None
    must(await world.revoke(issued))
    assert await look(world, issued, world.agent) is Reason.REVOKED
    assert await look(world, issued, neighbour.admin) is None

    # and of what stands higher in the table, that
    world.authority.clock.advance(LIFETIME_MS)
    assert await look(world, issued, world.agent) is Reason.EXPIRED
