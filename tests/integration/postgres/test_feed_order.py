"""The order of a feed of revocations is the order in which they were acknowledged, whatever was withdrawn where."""

import asyncio
from importlib import resources

import asyncpg

from authority.domain.statement import KeyPurpose
from authority.signing.rotation import Scope, generate
from tests.integration.postgres.superuser import Superuser, are_waiting, until
from tests.world.world import World, must


async def test_a_key_of_the_authority_and_a_withdrawal_of_a_tenant_exclude_each_other(
    world: World, superuser: Superuser, module_database: str
) -> None:
    # given a withdrawal of the tenant that is under way: it shares the global lock, and has the tenant's alone
    authority, now = world.authority, world.now()
    key = generate(authority.folder, KeyPurpose.GRANT, now, Scope(world.tenant))
    await authority.store.administration.add_issuer_key(key, now)
    issued, neighbour = await world.issued(), await world.neighbour()
    theirs = await neighbour.issued()
    slow = await asyncpg.connect(module_database)
    transaction = slow.transaction()
    await transaction.start()
    await slow.execute("select pg_advisory_xact_lock_shared(authority.global_lock())")
    await slow.execute("select pg_advisory_xact_lock(authority.tenant_lock($1))", str(world.tenant))

    # when a key is withdrawn everywhere, then that waits, and a neighbour's withdrawal behind it
    everywhere = asyncio.create_task(authority.store.administration.revoke_issuer_key(key.key_id, None, now))
    await until(lambda: are_waiting(superuser))
    there = asyncio.create_task(neighbour.revoke(theirs))
    await until(lambda: are_waiting(superuser, 2))
    assert not everywhere.done()
    await transaction.rollback()
    await slow.close()
    await everywhere
    must(await there)
    must(await world.revoke(issued))

    # then each feed has the key before its own
    for one in (world, neighbour):
        items = must(await authority.store.revocation_feed.news(one.tenant, 0, 100)).items
        assert [item.revoked.subject for item in items][-2] == key.key_id


async def test_a_feed_is_read_by_its_key(world: World, superuser: Superuser) -> None:
    # given many withdrawals of another tenant
    neighbour = await world.neighbour()
    await superuser.execute(
        """
        insert into authority.revocation (tenant, sequence, kind, subject, revoke_time)
        select $1, 1000000 + n, 'capability', 'c' || n, now() from generate_series(1, 3000) n
        """,
        str(neighbour.tenant),
    )
    await superuser.execute("analyze authority.revocation")
    must(await world.revoke(await world.issued()))
    # then a reader of this one's reads nothing of them
    async with superuser.transaction():
        await superuser.execute("set local role authority_read")
        await superuser.execute("select set_config('authority.tenants', $1, true)", str(world.tenant))
        plan = await superuser.fetch(
            "explain select sequence from authority.revocation"  # noqa: S608
            f" where tenant = '{world.tenant}' and sequence > 0 order by sequence limit 101"
        )
    assert "revocation_in_order" in " ".join(row[0] for row in plan)
    items = must(await world.authority.store.revocation_feed.news(world.tenant, 0, 100_000)).items
    assert str(neighbour.tenant) not in {str(item.revoked.tenant) for item in items}


async def test_withdrawals_from_before_the_feed_are_in_it(world: World, superuser: Superuser) -> None:
    # given withdrawals that an earlier version told to the audit log alone
    must(await world.revoke(await world.issued()))
    administration = world.authority.store.administration
    await administration.revoke_principal_key(world.tenant, world.user.key_id, world.now())
    tenant = str(world.tenant)
    kept = await superuser.fetch("select kind, subject from authority.revocation where tenant = $1", tenant)
    await superuser.execute("delete from authority.revocation where tenant = $1", tenant)
    # when the migration's statement is run, then they are, in their order
    await superuser.execute(backfill())
    found = await superuser.fetch(
        "select kind, subject from authority.revocation where tenant = $1 order by sequence", tenant
    )
    assert [tuple(row) for row in found] == [tuple(row) for row in kept]
    assert len(found) == 2


def backfill() -> str:
    """The statement of the migration that fills the feed, for what is not in it already."""
    text = (resources.files("authority.postgres") / "migrations/0008.audit_and_revocations.sql").read_text("utf-8")
    statement = text[text.index("insert into authority.revocation") : text.index("order by e.event_id")]
    return f"{statement} order by e.event_id on conflict do nothing"
