"""Migration 0006 makes what was kept before searchable, as the owner of the tables, who is held by the tenant wall."""

from collections.abc import AsyncIterator
from importlib import resources

import pytest

from authority.domain.recall import RecallQuery
from tests.integration.postgres.superuser import Superuser
from tests.world.world import NAMESPACE, World, must

TABLES = ("proposal", "memory_record")


def backfill() -> str:
    """What the migration does once the columns are there."""
    file = resources.files("authority.postgres").joinpath("migrations/0006.recall.sql")
    _, _, text = file.read_text("utf-8").partition("create function authority.search_of_old")
    assert text
    return f"create function authority.search_of_old{text}"


@pytest.fixture
async def as_owner(superuser: Superuser) -> AsyncIterator[Superuser]:
    """A connection of the tables' owner, who is no superuser."""
    (before,) = {
        row["tableowner"]
        for row in await superuser.fetch(
            "select tableowner from pg_tables where schemaname = 'authority' and tablename = any ($1)", TABLES
        )
    }
    await superuser.execute(
        "create role tables_owner nosuperuser; grant create, usage on schema authority to tables_owner"
    )
    for table in TABLES:
        await superuser.execute(f"alter table authority.{table} owner to tables_owner")
    await superuser.execute("set role tables_owner")
    yield superuser
    await superuser.execute("reset role")
    for table in TABLES:
        await superuser.execute(f"alter table authority.{table} owner to {before}")
    await superuser.execute("revoke create, usage on schema authority from tables_owner; drop role tables_owner")


async def found(world: World, text: str) -> list[str]:
    """What the agent finds."""
    query = RecallQuery(memory_namespace=NAMESPACE, text=text)
    answer = await world.authority.store.recall.search(
        world.tenant, query, reader=world.agent.ref, after=None, size=10, fresh=None, now=world.now()
    )
    return [hit.record.record_id for hit in must(answer).hits]


async def test_what_was_kept_before_is_found_like_what_comes_after(
    world: World, superuser: Superuser, as_owner: Superuser
) -> None:
    # given two records and a proposal of a version that knew no search
    plain = (await world.committed(b"Tea is preferred."))[1].receipt.record_id
    told = (await world.committed(b'{"n":7,"tea":["is out"]}', media_type="application/json"))[1].receipt.record_id
    waiting = await world.issued(b"Tea is late.")
    await as_owner.execute("reset role")
    for table in TABLES:
        await superuser.execute(f"update authority.{table} set search = null")  # noqa: S608 - names of our own
    assert await found(world, "tea") == []

    # when the migration runs
    await as_owner.execute("set role tables_owner")
    await as_owner.execute(backfill())

    # then they are found as they would be now, also what is committed later, and the wall stands again
    assert await found(world, "preferred") == [plain]
    assert await found(world, "out") == [told]
    assert await found(world, "7") == []
    late = must(await world.commit(waiting)).receipt.record_id
    assert set(await found(world, "tea")) == {plain, told, late}
    assert await as_owner.fetchval("select count(*) from authority.memory_record") == 0
    assert await as_owner.fetchval("select to_regproc('authority.search_of_old')") is None
