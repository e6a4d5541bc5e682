"""A recall that is asked for freshness, on a real standby that lags: it says so, and never passes for an answer."""

from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import asyncpg
import pytest

from authority.domain.freshness import Freshness
from authority.domain.reasons import Reason
from authority.domain.recall import RecallAnswer, RecallQuery
from authority.domain.refusal import Refusal
from authority.embedded import PostgresServer, start_postgres
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.migrate import migrate
from authority.postgres.recall import PostgresRecall
from tests.installation.copies import copied
from tests.integration.postgres.superuser import Superuser, until
from tests.world.authority import Authority
from tests.world.stores import connected, postgres_store
from tests.world.world import NAMESPACE, World, must, reason_of

QUICK = {"fsync": "off"}


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[PostgresServer, PostgresServer]]:
    """A primary and its standby, which began as a copy of the stopped primary's folder."""
    with start_postgres(tmp_path / "primary", settings=QUICK) as primary:
        migrate(primary.url)
        folder = primary.folder
    copy = copied(tmp_path / "primary", tmp_path / "standby") / folder.relative_to(tmp_path / "primary")
    (copy / "standby.signal").touch()
    with start_postgres(tmp_path / "primary", settings=QUICK) as primary:
        follows = {**QUICK, "primary_conninfo": primary.url.rpartition("/")[0]}
        with start_postgres(tmp_path / "standby", settings=follows) as standby:
            yield primary, standby


@pytest.fixture
async def world(servers: tuple[PostgresServer, PostgresServer], tmp_path: Path) -> AsyncIterator[World]:
    async with connected(servers[0].url) as databases:
        yield await World.begin(Authority.open(tmp_path / "keys", partial(postgres_store, databases)))


@pytest.fixture
async def standby(servers: tuple[PostgresServer, PostgresServer]) -> AsyncIterator[Superuser]:
    connection = await asyncpg.connect(servers[1].url)
    yield connection
    await connection.close()


@pytest.fixture
async def recall(servers: tuple[PostgresServer, PostgresServer]) -> AsyncIterator[PostgresRecall]:
    """Reads on the standby."""
    database = Database(await connect_pool(PoolSettings(servers[1].url, Power.READ, 2)))
    yield PostgresRecall(database)
    await database.close()


async def test_a_lagging_standby_refuses_until_it_has_what_the_token_names(
    world: World, standby: Superuser, recall: PostgresRecall
) -> None:
    async def ask(fresh: Freshness | None) -> RecallAnswer | Refusal:
        query = RecallQuery(memory_namespace=NAMESPACE, text="tea")
        return await recall.search(
            world.tenant, query, reader=world.agent.ref, after=None, size=10, fresh=fresh, now=world.now()
        )

    async def has(fresh: Freshness) -> bool:
        return reason_of(await ask(fresh)) is None

    # given a standby that stands still, and a commit on the primary
    await standby.execute("select pg_wal_replay_pause()")
    _, answer = await world.committed(b"tea")
    committed = Freshness(receipt_id=answer.receipt.receipt_id)
    # then it tells what it has to whoever does not ask for more, and whoever does is to ask again
    assert must(await ask(None)).hits == ()
    assert reason_of(await ask(committed)) is Reason.DEPENDENCY_UNAVAILABLE
    # and once it goes on it answers with the record
    await standby.execute("select pg_wal_replay_resume()")
    await until(lambda: has(committed))
    assert [hit.record.record_id for hit in must(await ask(committed)).hits] == [answer.receipt.record_id]

    # given that it stands still again, and the record is revoked
    await standby.execute("select pg_wal_replay_pause()")
    revoked = Freshness(tombstone_sequence=must(await world.revoke_record(answer.receipt.record_id)).sequence)
    # then it refuses, until it finds the record no more
    assert reason_of(await ask(revoked)) is Reason.DEPENDENCY_UNAVAILABLE
    await standby.execute("select pg_wal_replay_resume()")
    await until(lambda: has(revoked))
    assert must(await ask(revoked)).hits == ()
