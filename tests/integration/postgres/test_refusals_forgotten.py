"""Counts of refusals are kept for three months, and then go with whatever is counted next (case G16)."""

from collections.abc import Mapping

from authority.domain.tally import Counted, minute_of
from authority.postgres.connections import Database, Power
from authority.postgres.refusal_counts import PostgresRefusalCounts
from tests.integration.postgres.superuser import Superuser
from tests.integration.postgres.test_rights import acting_as
from tests.world.clock import LATE
from tests.world.world import World

MANY = 1_100
"""More than are forgotten at once."""


async def counted_long_ago(superuser: Superuser, world: World, age: str, number: int = 1) -> None:
    """So many counts of the tenant, of minutes that are so long past and before."""
    await superuser.execute(
        "insert into authority.refusal_count (tenant, minute, principal, reason, count)"
        " select $1, date_trunc('minute', now()) - $2::text::interval - n * interval '1 minute', 'test|agent',"
        " 'EXPIRED', 1 from generate_series(0, $3::integer - 1) n",
        str(world.tenant),
        age,
        number,
    )


async def kept(superuser: Superuser, world: World) -> int:
    """How many counts of the tenant there are."""
    count = await superuser.fetchval(
        "select count(*) from authority.refusal_count where tenant = $1", str(world.tenant)
    )
    assert isinstance(count, int)
    return count


def one_more(world: World) -> dict[Counted, int]:
    """A refusal of this minute."""
    return {Counted(world.tenant, minute_of(LATE), world.agent.ref, "EXPIRED"): 1}


async def test_g16_what_is_old_is_forgotten_some_at_a_time_by_what_comes(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    # given many counts of more than three months ago, one of a day less, and a neighbour's
    counts, neighbour = PostgresRefusalCounts(databases[Power.ISSUE]), await world.neighbour()
    await counted_long_ago(superuser, world, "92 days", MANY)
    await counted_long_ago(superuser, world, "89 days")
    await counted_long_ago(superuser, neighbour, "92 days")
    # when refusals are counted, then each time a thousand of the old go, and no other
    left = []
    for _ in range(3):
        await counts.add(one_more(world))
        left.append(await kept(superuser, world))
    assert left == [MANY - 1_000 + 2, 2, 2]
    assert await kept(superuser, neighbour) == 1


async def test_no_right_lets_counts_be_forgotten_before(world: World, superuser: Superuser) -> None:
    # given counts, when whoever may delete tries to, then only what is three months old goes
    for age, deleted in (("89 days", "DELETE 0"), ("91 days", "DELETE 1")):
        await superuser.execute("delete from authority.refusal_count where tenant = $1", str(world.tenant))
        await counted_long_ago(superuser, world, age)
        async with acting_as(superuser, "authority_issue"), superuser.transaction():
            await superuser.execute("select set_config('authority.tenants', $1, true)", str(world.tenant))
            status = await superuser.execute("delete from authority.refusal_count where tenant = $1", str(world.tenant))
        assert status == deleted
