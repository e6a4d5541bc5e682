"""The one definition of a visible record: planned as if its text stood in each query, under the reader's own wall."""

import asyncpg
import pytest

from authority.postgres.sql import query
from tests.integration.postgres.superuser import Superuser
from tests.integration.postgres.test_rights import acting_as
from tests.world.world import World

READING = {
    "record_by_id": ("'test|t'", "gen_random_uuid()", "'test|user'", "now()", "false"),
    "record_page": ("'test|t'", "'notes'", "'test|user'", "now()", "gen_random_uuid()", "5", "false"),
    "duplicate_record": ("'test|t'", "'notes'", "sha256('tea')", "gen_random_uuid()", "'test|user'"),
    "recall_page": (
        "'test|t'",
        "'notes'",
        "'test|user'",
        "now()",
        "'tea'",
        *["null"] * 6,
        "20",
        *["null"] * 5,
        "1000000",
        "false",
    ),
}


@pytest.mark.parametrize("name", READING)
async def test_a_query_is_planned_as_if_the_definition_stood_in_it(superuser: Superuser, name: str) -> None:
    # given the query with its arguments, when the role that reads asks for its plan
    sql = query(name)
    for number, argument in reversed(list(enumerate(READING[name], start=1))):
        sql = sql.replace(f"${number}", argument)
    async with acting_as(superuser, "authority_read"):
        plan = "\n".join(row[0] for row in await superuser.fetch(f"explain {sql}"))

    # then no function is called for it, and the tenant wall stands in it
    assert "Function Scan" not in plan
    assert "tombstone" in plan
    assert "hashed SubPlan" in plan
    assert "tenant = ANY ((InitPlan" in plan


async def test_a_superseded_record_is_seen_by_nobody(world: World, superuser: Superuser) -> None:
    # given a record, and another one beside it
    _, answer = await world.committed()
    _, other = await world.committed()
    superseded, stays = answer.receipt.record_id, other.receipt.record_id

    # when it is superseded, then it is gone from reading, and its content may be proposed again
    await superuser.execute(
        "update authority.memory_record set superseded_by = $1, supersede_time = now() where record_id = $2",
        stays,
        superseded,
    )
    records = world.authority.store.records
    assert await records.get(world.tenant, superseded, world.user.ref, world.now()) is None
    found = await records.page(
        world.tenant, memory_namespace="notes", reader=world.user.ref, after="", size=9, now=world.now()
    )
    assert [record.record_id for record in found] == [stays]


async def test_the_committer_marks_a_record_superseded_and_changes_nothing_else_of_it(superuser: Superuser) -> None:
    async with acting_as(superuser, "authority_committer"):
        await superuser.execute("update authority.memory_record set superseded_by = null, supersede_time = null")
        for column in ("content", "decision_sequence", "visibility", "expire_time"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await superuser.execute(f"update authority.memory_record set {column} = {column}")  # noqa: S608
