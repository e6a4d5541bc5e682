"""ResolveKey and ReserveReplay: who may ask, what is answered, and what nobody is told."""

from authority.domain.identity import PrincipalKind
from authority.domain.reasons import Reason
from authority.domain.references import DAY, MINUTE, Instant, after
from authority.domain.refusal import Refusal
from authority.domain.replay import ReplayAnswer, ReplayOutcome
from authority.usecases.ports import RequestMark
from authority.usecases.reserve_replay import ReplayRequest
from authority.usecases.resolve_key import ResolvedKey
from tests.world.world import Person, World, must, reason_of

NOT_A_SERVICE = Refusal(Reason.NOT_ALLOWED, {"kind": "service"})
NO_KEY = Refusal(Reason.NOT_FOUND, {"field": "key_id"})


def reservation(by: Person, request_id: str, expire_time: Instant) -> ReplayRequest:
    """Of one and the same envelope."""
    return ReplayRequest(
        mark=RequestMark(by.principal.tenant, by.ref, request_id, b"d" * 32),
        replay_key=b"k" * 32,
        envelope_digest=b"e" * 32,
        expire_time=expire_time,
    )


async def test_adr328_09_only_services_ask(world: World) -> None:
    # given a principal of every kind, when it asks, then only a service is answered
    do, soon = world.authority.do, after(world.now(), MINUTE)
    for kind in PrincipalKind:
        person = await world.register(kind, f"a-{kind.value}")
        key = await do.resolve_key(person.calls(), world.service.key_id)
        replay = await do.reserve_replay(person.calls(), reservation(person, "r1", soon))
        if kind is PrincipalKind.SERVICE:
            assert isinstance(key, ResolvedKey)
            assert isinstance(replay, ReplayAnswer)
        else:
            assert [key, replay] == [NOT_A_SERVICE] * 2


async def test_whose_key_it_is_is_told_with_the_moment_it_was(world: World) -> None:
    await world.authority.store.key_aliases.add(world.tenant, "k1", world.agent.key_id, world.now())
    resolved = must(await world.authority.do.resolve_key(world.service.calls(), "k1"))
    assert resolved.key.key_id == world.agent.key_id
    assert resolved.key.public_key == world.agent.key.public_key.raw
    assert resolved.key.principal == world.agent.principal
    assert resolved.as_of_time == world.now()


async def test_g02_unknown_revoked_and_anothers_keys_sound_alike(world: World) -> None:
    # given a revoked key, a revoked name, a revoked principal's key, and a neighbour's
    store, neighbour = world.authority.store, await world.neighbour()
    gone, keyless = [await world.register(PrincipalKind.USER, name) for name in ("gone", "keyless")]
    await store.key_aliases.add(world.tenant, "old", world.user.key_id, world.now())
    await store.key_aliases.add(neighbour.tenant, "theirs", neighbour.user.key_id, world.now())
    await store.key_aliases.revoke(world.tenant, "old", world.now())
    await store.administration.revoke_principal(world.tenant, gone.ref, world.now())
    await store.administration.revoke_principal_key(world.tenant, keyless.key_id, world.now())
    # then all are answered as what never was
    absent = ("never", f"sha256:{'0' * 64}", "old", "theirs", gone.key_id, keyless.key_id, neighbour.user.key_id)
    for name in absent:
        assert await world.authority.do.resolve_key(world.service.calls(), name) == NO_KEY, name


async def test_e12_an_envelope_that_has_expired_or_never_will_is_not_reserved(world: World) -> None:
    do, now = world.authority.do, world.now()
    for expire_time, reason in (
        (Instant(0), Reason.EXPIRED),
        (now, Reason.EXPIRED),
        (after(now, 30 * DAY + 1), Reason.LIMIT_EXCEEDED),
    ):
        request = reservation(world.service, "r1", expire_time)
        assert reason_of(await do.reserve_replay(world.service.calls(), request)) is reason
    # and neither used anything up: the last moments at both ends can be reserved
    for request_id, expire_time, outcome in (
        ("r1", after(now, 30 * DAY), ReplayOutcome.RESERVED),
        ("r2", after(now, 1), ReplayOutcome.REPLAY),
    ):
        request = reservation(world.service, request_id, expire_time)
        assert must(await do.reserve_replay(world.service.calls(), request)).outcome is outcome


async def test_services_of_a_tenant_reserve_together(world: World) -> None:
    other, soon = await world.register(PrincipalKind.SERVICE, "other"), after(world.now(), MINUTE)
    outcomes = [
        must(await world.authority.do.reserve_replay(by.calls(), reservation(by, "r1", soon))).outcome
        for by in (world.service, other)
    ]
    assert outcomes == [ReplayOutcome.RESERVED, ReplayOutcome.REPLAY]
