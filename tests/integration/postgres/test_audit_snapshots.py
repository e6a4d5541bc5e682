"""Watches of the audit log read by snapshots: nothing is lost or told twice, whatever commits meanwhile (case H01)."""

import asyncio

import asyncpg
import pytest

from authority.domain.audit import AuditFilter
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres.audit_position import Place, Position, Seen, position_of
from authority.postgres.migrate import migrate
from authority.usecases.ports import AuditNews
from tests.integration.postgres.superuser import Superuser
from tests.world.world import World, must, reason_of

ALL = AuditFilter()
TELL = """
insert into authority.audit_event (
  tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time)
values ($1, 'test.tell', 'test|x', $2, '', '', '[]', '', '', now())
"""


async def news(world: World, after: str, size: int = 100) -> AuditNews:
    return must(await world.authority.store.audit_log.news(world.tenant, ALL, after, size))


def subjects(found: AuditNews) -> list[str]:
    return [told.event.subject for told in found.events]


async def test_h01_what_commits_late_with_an_early_id_is_told_once(
    world: World, superuser: Superuser, module_database: str
) -> None:
    # given a transaction that has drawn the first id and stays open
    log = world.authority.store.audit_log
    position = await log.now(world.tenant)
    slow = await asyncpg.connect(module_database)
    transaction = slow.transaction()
    await transaction.start()
    await slow.execute(TELL, str(world.tenant), "first id, last commit")

    # when another one commits meanwhile, then that is told, and nothing else
    await superuser.execute(TELL, str(world.tenant), "second id")
    found = await news(world, position)
    assert subjects(found) == ["second id"]

    # and what comes then, and again while the first one is open still
    await superuser.execute(TELL, str(world.tenant), "third id")
    found = await news(world, found.position)
    assert subjects(found) == ["third id"]
    assert subjects(await news(world, found.position)) == []

    # and once the first one commits, it is told, once
    await transaction.commit()
    await slow.close()
    found = await news(world, found.position)
    assert subjects(found) == ["first id, last commit"]
    assert subjects(await news(world, found.position)) == []


async def test_h01_parts_of_what_is_new_are_fixed_when_they_are_begun(
    world: World, superuser: Superuser, module_database: str
) -> None:
    # given five events, of which one is not committed yet, read one at a time
    log = world.authority.store.audit_log
    start = await log.now(world.tenant)
    slow = await asyncpg.connect(module_database)
    transaction = slow.transaction()
    await transaction.start()
    await slow.execute(TELL, str(world.tenant), "late")
    for number in range(4):
        await superuser.execute(TELL, str(world.tenant), str(number))
    first = await news(world, start, 1)

    # when that one commits, and others come, between the parts
    await transaction.commit()
    await slow.close()
    await superuser.execute(TELL, str(world.tenant), "after")
    found, position = subjects(first), first.position
    while (part := await news(world, position, 1)).events:
        found += subjects(part)
        position = part.position

    # then each is told once, those of the first look before those of the next
    assert found == ["0", "1", "2", "3", "late", "after"]


async def test_h01_with_many_who_commit_at_once_every_event_is_told_once(world: World, superuser: Superuser) -> None:
    # given a reader that never rests, while commits run beside each other
    log = world.authority.store.audit_log
    position, found = await log.now(world.tenant), []
    working = asyncio.gather(*(world.committed() for _ in range(12)))
    while not working.done():
        part = await news(world, position, 3)
        found += [told.event_id for told in part.events]
        position = part.position
    await working
    while (part := await news(world, position, 3)).events:
        found += [told.event_id for told in part.events]
        position = part.position

    # then it has told all that there is, once
    rows = await superuser.fetch(
        "select event_id from authority.audit_event where tenant = $1 and kind <> all ($2)",
        str(world.tenant),
        ["principal.add", "memory_namespace.add"],
    )
    assert sorted(found) == sorted(row["event_id"] for row in rows)
    assert len(found) == len(set(found)) == 12 * 5


async def test_events_from_before_the_migration_are_seen_first(world: World, superuser: Superuser) -> None:
    await superuser.execute("update authority.audit_event set xid = '0' where tenant = $1", str(world.tenant))
    old = await news(world, "", 4)
    await world.proposed()
    found = old
    kinds = [told.event.kind for told in old.events]
    while (found := await news(world, found.position, 4)).events:
        kinds += [told.event.kind for told in found.events]
    assert kinds == ["principal.add"] * 5 + ["memory_namespace.add", "proposal.create"]


async def test_a_database_that_was_restored_or_failed_over_refuses_an_old_cursor(world: World) -> None:
    log = world.authority.store.audit_log
    here = position_of(await log.now(world.tenant))
    assert here
    ahead = Seen.of(f"{here.seen.most + 10**6}:{here.seen.most + 10**6}:")
    others = [
        Position(Place(here.place.cluster, here.place.timeline + 1), here.seen),
        Position(Place("7000000000000000000", here.place.timeline), here.seen),
        # Put back from a copy of its files that is older than the cursor.
        Position(here.place, ahead),
        Position(here.place, here.seen, ahead, 1, 1),
    ]
    for other in others:
        refusal = await log.news(world.tenant, ALL, str(other), 1)
        assert isinstance(refusal, Refusal)
        assert (refusal.reason, refusal.facts["field"]) == (Reason.MALFORMED, "cursor")
    for text in ("0", ";;;;", f"{here.place};x;;0;0", f"{here.place};;;0;x"):
        assert reason_of(await log.news(world.tenant, ALL, text, 1)) is Reason.MALFORMED


@pytest.mark.parametrize(
    ("condition", "index"),
    [
        ("subject = 's'", "audit_event_by_subject"),
        ("correlation_id = 'c' and correlation_id <> ''", "audit_event_by_correlation"),
        ("xid >= '{late}'::xid8 and pg_visible_in_snapshot(xid, pg_current_snapshot())", "audit_event_by_transaction"),
        ("true", "audit_event_key"),
    ],
)
async def test_each_look_has_its_index_behind_the_tenant_wall(
    world: World, superuser: Superuser, condition: str, index: str
) -> None:
    # given many events, looked at by the role that reads them
    await superuser.execute(
        """
        insert into authority.audit_event (
          tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time)
        select $1, 'test.tell', 'test|x', 'subject' || n, '', '', '[]', 'run' || n, '', now() - n * interval '1 s'
        from generate_series(1, 3000) n
        """,
        str(world.tenant),
    )
    await superuser.execute("analyze authority.audit_event")
    late = await superuser.fetchval("select pg_snapshot_xmax(pg_current_snapshot())::text")
    order = "xid, event_id" if "xid" in condition else "event_id desc"
    async with superuser.transaction():
        await superuser.execute("set local role authority_read")
        await superuser.execute("select set_config('authority.tenants', $1, true)", str(world.tenant))
        plan = await superuser.fetch(
            f"explain select event_id from authority.audit_event where tenant = '{world.tenant}'"  # noqa: S608
            f" and {condition.format(late=late)} order by {order} limit 100"
        )
    assert index in " ".join(row[0] for row in plan)


async def test_events_that_a_dump_brought_from_another_cluster_are_older_than_anything(
    world: World, superuser: Superuser, module_database: str
) -> None:
    # given events whose transactions are those of another cluster, ahead of this one's
    tenant = str(world.tenant)
    await world.committed()
    await superuser.execute("update authority.audit_event set xid = '99999999999' where tenant = $1", tenant)
    await superuser.execute("comment on table authority.audit_event is '7000000000000000000'")
    position = await world.authority.store.audit_log.now(world.tenant)

    # when the restored database is migrated, as its operator is told to
    migrate(module_database)

    # then they are told first, and nothing of them is news
    whole = [told.event.kind for told in (await news(world, "")).events]
    assert whole[0] == "principal.add"
    assert whole[-1] == "memory.commit"
    await world.proposed()
    assert [told.event.kind for told in (await news(world, position)).events] == ["proposal.create"]
    # and once that is done, migrating again changes nothing
    newest = await superuser.fetchval(
        "select max(xid::text::bigint) from authority.audit_event where tenant = $1", tenant
    )
    migrate(module_database)
    again = await superuser.fetchval(
        "select max(xid::text::bigint) from authority.audit_event where tenant = $1", tenant
    )
    assert newest == again > 0
