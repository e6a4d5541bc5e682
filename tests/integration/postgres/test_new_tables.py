"""Tables that fill faster than they are analysed: a commit reads its own rows, not those that came before."""

import datetime as dt
from collections.abc import Mapping

from authority.domain.plan import Committed
from authority.postgres.commit_call import CommitCall
from authority.postgres.connections import Database, Power
from tests.integration.postgres.superuser import Superuser
from tests.world.stores import ANY_CLOCK_MS, SOURCE
from tests.world.world import World


async def test_a_commit_into_tables_never_analysed_reads_no_others_of_its_tenant(
    world: World, superuser: Superuser, databases: Mapping[Power, Database]
) -> None:
    # given plans of the function made while the tables were empty, on the one connection that there is
    commits = databases[Power.COMMIT]
    call = CommitCall(commits, world.authority.clock, SOURCE, dt.timedelta(milliseconds=ANY_CLOCK_MS))
    for _ in range(3):
        assert isinstance((await call.ask([world.plan(await world.issued())]))[0], Committed)
    # when many came after, never analysed
    plans = [world.plan(await world.issued()) for _ in range(120)]
    before = await lookups(superuser, commits)
    for plan in plans:
        assert isinstance((await call.ask([plan]))[0], Committed)
    # then no lookup went by the index that reads them all: only the claim looks there
    after = await lookups(superuser, commits)
    assert after["commit_receipt_one_per_record"] - before["commit_receipt_one_per_record"] == len(plans)
    for index in ("commit_receipt_one_per_idempotency_key", "capability_key"):
        assert after[index] > before[index] + len(plans)


async def lookups(superuser: Superuser, commits: Database) -> dict[str, int]:
    """How often each index of receipts and capabilities was looked into so far."""
    async with commits.pool.acquire() as connection:
        await connection.execute("select pg_stat_force_next_flush()")
    await superuser.execute("select pg_stat_clear_snapshot()")
    found = await superuser.fetch(
        "select indexrelname, idx_scan from pg_stat_all_indexes where relname in ('commit_receipt', 'capability')"
    )
    return {row["indexrelname"]: row["idx_scan"] for row in found}
