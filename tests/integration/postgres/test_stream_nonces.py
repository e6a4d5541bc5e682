"""What opened a stream is forgotten once no clock can take it for fresh, some at a time, and never before."""

from collections.abc import Mapping

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres.connections import Database, Power
from authority.postgres.stream_nonces import PostgresStreamNonces
from tests.integration.postgres.superuser import Superuser
from tests.integration.postgres.test_rights import acting_as
from tests.world.world import World


async def grow_old(superuser: Superuser, world: World, age: str) -> None:
    """All of the tenant's nonces were used so long ago."""
    await superuser.execute(
        "update authority.stream_nonce set use_time = now() - $2::text::interval where tenant = $1",
        str(world.tenant),
        age,
    )


async def left(superuser: Superuser, world: World) -> int:
    """How many of the tenant's are remembered."""
    count = await superuser.fetchval("select count(*) from authority.stream_nonce where tenant = $1", str(world.tenant))
    assert isinstance(count, int)
    return count


async def test_what_is_old_is_forgotten_some_at_a_time_by_what_comes(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    # given many proofs that opened streams two hours ago
    nonces, key_id = PostgresStreamNonces(databases[Power.ISSUE]), world.service.key_id
    for number in range(230):
        assert await nonces.use(world.tenant, key_id, number.to_bytes(16, "big")) is None
    await grow_old(superuser, world, "2 hours")
    # when others open streams, then each takes a hundred of them away
    remembered = []
    for number in range(230, 234):
        await nonces.use(world.tenant, key_id, number.to_bytes(16, "big"))
        remembered.append(await left(superuser, world))
    assert remembered == [131, 32, 3, 4]


async def test_i04_what_may_be_fresh_is_remembered(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    nonces, key_id = PostgresStreamNonces(databases[Power.ISSUE]), world.service.key_id
    await nonces.use(world.tenant, key_id, bytes(16))
    await grow_old(superuser, world, "59 minutes")
    await nonces.use(world.tenant, key_id, bytes(17))
    assert await nonces.use(world.tenant, key_id, bytes(16)) == Refusal(Reason.PROOF_REPLAYED)


async def test_others_are_not_forgotten_by_a_tenant(world: World, superuser: Superuser) -> None:
    neighbour, nonces = await world.neighbour(), world.authority.store.stream_nonces
    await nonces.use(neighbour.tenant, neighbour.service.key_id, bytes(16))
    await grow_old(superuser, neighbour, "2 hours")
    await nonces.use(world.tenant, world.service.key_id, bytes(16))
    assert await left(superuser, neighbour) == 1


async def test_i04_no_right_lets_a_proof_be_forgotten_while_it_may_be_fresh(world: World, superuser: Superuser) -> None:
    # given a proof that opened a stream
    await world.authority.store.stream_nonces.use(world.tenant, world.service.key_id, bytes(16))
    forget = "delete from authority.stream_nonce where tenant = $1"
    # when whoever may delete tries to, then it stays, until it is old
    for age, deleted in (("9 minutes", "DELETE 0"), ("11 minutes", "DELETE 1")):
        await grow_old(superuser, world, age)
        async with acting_as(superuser, "authority_issue"), superuser.transaction():
            await superuser.execute("select set_config('authority.tenants', $1, true)", str(world.tenant))
            assert await superuser.execute(forget, str(world.tenant)) == deleted
