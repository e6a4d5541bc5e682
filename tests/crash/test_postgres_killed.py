"""kill -9 of PostgreSQL under load: no acknowledged commit is lost, none is doubled; the service is not restarted."""

import asyncio
from pathlib import Path

from authority.embedded import start_postgres
from authority.postgres.migrate import migrate
from tests.installation.installation import Installation
from tests.installation.processes import eventually
from tests.installation.storage import storage_at
from tests.installation.team import all_of, team_at

COMMITS = 200


async def test_c01_a_database_that_crashes_under_load_loses_and_doubles_nothing(redis_url: str, tmp_path: Path) -> None:
    # Given a database that keeps what it acknowledges, two processes, and many capabilities
    with start_postgres(tmp_path / "postgres") as postgres:
        migrate(postgres.url)
        installation = Installation(postgres.url, redis_url, tmp_path)
        await installation.furnish()
        tenant = await installation.tenant()
        with installation.processes() as processes:
            first, second = await processes.serving_many(2)
            async with team_at(first.address, tenant) as near, team_at(second.address, tenant) as far:
                ready = await all_of((near, far)[number % 2].ready() for number in range(COMMITS))
                members = [(near, far)[number % 2] for number in range(COMMITS)]
                calls = (member.commit(one) for member, one in zip(members, ready, strict=True))
                committing = asyncio.create_task(all_of(calls, at_once=24))
                with storage_at(postgres.url) as storage:
                    await eventually(lambda: storage.counts().receipts > COMMITS // 4, "the load is under way")
                # When it is killed, and comes back
                postgres.kill()
                assert not committing.done()
                await asyncio.to_thread(postgres.restart)
                # Then every caller has a receipt of its own, and there is one record for each
                committed = await committing
                # And what the callers have is what the database has
                with storage_at(postgres.url) as storage:
                    assert storage.assert_whole().receipts == COMMITS
                    stored = {row[0] for row in storage.ask("select payload from authority.commit_receipt")}
        assert {one.receipt.statement.payload for one in committed} == stored
