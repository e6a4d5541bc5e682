"""The second tenant wall: a row of a tenant that the transaction did not name is not there, whoever asks for all."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from authority.domain.plan import Committed
from authority.domain.record import Mode
from authority.domain.tally import Counted, minute_of
from authority.postgres.committer import CommitterSettings, PostgresCommitter
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.registry import PostgresRegistry
from tests.integration.postgres.parking import park_oldest_event
from tests.integration.postgres.superuser import Superuser
from tests.integration.postgres.test_rights import acting_as
from tests.world.aggregating import aggregated
from tests.world.authority import Authority
from tests.world.clock import LATE
from tests.world.enveloping import proven_by_envelope
from tests.world.evidence import kept
from tests.world.external import configured
from tests.world.granting import Granting
from tests.world.guarded import LEAKED, LONG, judged, make_guarded
from tests.world.identities import TOKEN, bind, link
from tests.world.interop import named_and_reserved
from tests.world.membership import CREW, join
from tests.world.reviewing import approved_for_two_decisions
from tests.world.stores import ANY_CLOCK_MS, SOURCE
from tests.world.unvalidated import set_mode, write_unvalidated
from tests.world.world import World, must

READERS = ("authority_committer", "authority_propose", "authority_issue", "authority_read", "authority_admin")
GLOBAL = {"policy_version", "issuer_key"}


@pytest.fixture(scope="module")
async def tenants(authority: Authority) -> tuple[World, World]:
    """Two tenants, each with a row in every table."""
    worlds = (await World.begin(authority), await World.begin(authority))
    for world in worlds:
        issued, answer = await world.committed(by=world.agent)
        granting = Granting(world)
        await granting.issued_under(await granting.issued(world.service))
        await authority.store.behind.bury(world.tenant, "elsewhere", issued.ground.revision.content_digest)
        must(await world.revoke(await world.issued()))
        refused = Counted(world.tenant, minute_of(LATE), world.service.ref, "EXPIRED")
        await authority.store.refusals.add({refused: 1})
        await park_oldest_event(world)
        await bind(world, world.service, TOKEN)
        await link(world, world.agent, world.user)
        await approved_for_two_decisions(world)
        await configured(world)
        must(await world.cite(answer.receipt.record_id, "answer 1"))
        await kept(world, b"a log")
        await join(world, world.user, CREW)
        await make_guarded(world)
        await judged(world, f'{{"predicate":"said","value":"{LONG}"}}', media_type="application/json")
        await aggregated(world)
        await judged(world, LEAKED)
        await authority.store.stream_nonces.use(world.tenant, world.service.key_id, bytes(16))
        await named_and_reserved(world)
    for world in worlds:  # Not above: each parks the oldest event that there is.
        await set_mode(world, Mode.OBSERVE)
        must(await write_unvalidated(world))
        await proven_by_envelope(world)
    return worlds


@pytest.fixture
async def walled(superuser: Superuser, tenants: tuple[World, World]) -> list[str]:
    """Every table that has a tenant."""
    rows = await superuser.fetch(
        "select relname from pg_class where relnamespace = 'authority'::regnamespace and relkind = 'r'"
    )
    return [row["relname"] for row in rows if row["relname"] not in GLOBAL]


async def seen(superuser: Superuser, table: str, tenant: str | None) -> set[str]:
    """The tenants whose rows a transaction that named this one gets, when its query asks for all."""
    async with superuser.transaction():
        if tenant is not None:
            await superuser.execute("select set_config('authority.tenants', $1, true)", tenant)
        rows = await superuser.fetch(f"select distinct tenant from authority.{table}")  # noqa: S608 - names of our own
    return {row["tenant"] for row in rows}


@pytest.mark.parametrize("role", READERS)
async def test_a_role_sees_the_named_tenants_and_no_others(
    superuser: Superuser, tenants: tuple[World, World], walled: list[str], role: str
) -> None:
    one, other = (str(world.tenant) for world in tenants)
    hidden = (
        {"outbox", "outbox_parked", "audit_event", "aggregate"}
        if role not in {"authority_committer", "authority_admin"}
        else set()
    )
    hidden |= {"upstream_proof"} if role in {"authority_propose", "authority_issue"} else set()
    hidden -= {"audit_event"} if role == "authority_read" else set()
    hidden |= (
        {"stream_nonce", "refusal_count", "replay_reservation"}
        if role in {"authority_propose", "authority_read"}
        else set()
    )
    async with acting_as(superuser, role):
        for table in set(walled) - hidden:
            assert await seen(superuser, table, None) == set(), table
            assert await seen(superuser, table, "") == set(), table
            assert await seen(superuser, table, one) == {one}, table
            assert await seen(superuser, table, f"{one},{other}") == {one, other}, table
            assert await seen(superuser, table, one.removesuffix("1")) <= {one.removesuffix("1")}, table
            assert await seen(superuser, table, "test|%") == set(), table


async def test_the_relay_alone_sees_the_outbox_of_all(superuser: Superuser, tenants: tuple[World, World]) -> None:
    async with acting_as(superuser, "authority_relay"):
        for table in ("outbox", "outbox_parked"):
            assert {str(world.tenant) for world in tenants} <= await seen(superuser, table, None)


async def test_h11_the_relay_deletes_no_event_that_was_not_delivered(
    superuser: Superuser, tenants: tuple[World, World]
) -> None:
    # given events that wait, then whatever its query asks for, and whichever tenant it names, none of them goes
    async with acting_as(superuser, "authority_relay"), superuser.transaction():
        await superuser.execute("select set_config('authority.tenants', $1, true)", str(tenants[0].tenant))
        assert await superuser.execute("delete from authority.outbox") == "DELETE 0"


@pytest.mark.parametrize(
    ("role", "table"),
    [
        ("authority_propose", "request"),
        ("authority_propose", "proposal_head"),
        ("authority_propose", "proposal"),
        ("authority_propose", "validation_receipt"),
        ("authority_propose", "approval_decision"),
        ("authority_issue", "decision_receipt"),
        ("authority_issue", "approval_use"),
        ("authority_issue", "capability"),
        ("authority_issue", "stream_nonce"),
        ("authority_issue", "replay_reservation"),
        ("authority_committer", "commit_receipt"),
        ("authority_committer", "upstream_proof"),
        ("authority_committer", "memory_record"),
        ("authority_committer", "outbox"),
        ("authority_admin", "principal"),
        ("authority_admin", "principal_key"),
        ("authority_admin", "memory_namespace"),
        ("authority_admin", "tombstone"),
        ("authority_admin", "token_identity"),
        ("authority_admin", "external_authority"),
        ("authority_admin", "external_key"),
        ("authority_spender", "grant_use"),
        ("authority_unvalidated", "memory_record"),
        ("authority_unvalidated", "unvalidated_write"),
    ],
)
async def test_nobody_writes_for_a_tenant_that_was_not_named(
    superuser: Superuser, tenants: tuple[World, World], role: str, table: str
) -> None:
    # given a row of one tenant, taken out of the table by one who may
    one, other = (str(world.tenant) for world in tenants)
    row = await superuser.fetchval(
        f"select to_jsonb(t) from authority.{table} t where tenant = $1 limit 1",  # noqa: S608 - names of our own
        other,
    )
    insert = f"insert into authority.{table} select * from jsonb_populate_record(null::authority.{table}, $1)"  # noqa: S608

    # when another tenant is named, then it is refused by the wall, before any key could refuse it
    async with acting_as(superuser, role), superuser.transaction():
        await superuser.execute("select set_config('authority.tenants', $1, true)", one)
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            async with superuser.transaction():
                await superuser.execute(insert, row)


@pytest.mark.parametrize(("verdict", "kind"), [("approve", "admin"), ("adopt", "user"), ("reject", "admin")])
async def test_whoever_has_policy_decide_approves_nothing_in_the_name_of_a_person(
    superuser: Superuser, tenants: tuple[World, World], verdict: str, kind: str
) -> None:
    # given the role that keeps what policy decides, when it would keep a person's decision, then it may not
    insert = """
        insert into authority.approval_decision
        select (jsonb_populate_record(y, jsonb_build_object(
          'reference', gen_random_uuid(), 'verdict', $1::text, 'decided_by_kind', $2::text))).*
        from authority.approval_decision y where y.decided_by is not null limit 1
        """
    async with acting_as(superuser, "authority_issue"), superuser.transaction():
        await superuser.execute("select set_config('authority.tenants', $1, true)", str(tenants[0].tenant))
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="issuing_approves_nothing"):
            async with superuser.transaction():
                await superuser.execute(insert, verdict, kind)
        # but that one takes something back it may, for nothing is widened by that
        assert await superuser.execute(insert, "revoke", "admin") == "INSERT 0 1"


@pytest.mark.parametrize(
    ("role", "table"),
    [
        ("authority_propose", "proposal_head"),
        ("authority_issue", "capability"),
        ("authority_committer", "capability"),
        ("authority_committer", "proposal_head"),
        ("authority_admin", "principal"),
        ("authority_admin", "memory_namespace"),
    ],
)
async def test_nobody_changes_a_row_of_a_tenant_that_was_not_named(
    superuser: Superuser, tenants: tuple[World, World], role: str, table: str
) -> None:
    one, other = (str(world.tenant) for world in tenants)
    column = "mode" if table == "memory_namespace" else "state"
    change = f"update authority.{table} set {column} = {column} where tenant = $1"  # noqa: S608 - names of our own
    async with acting_as(superuser, role), superuser.transaction():
        await superuser.execute("select set_config('authority.tenants', $1, true)", one)
        assert await superuser.execute(change, other) == "UPDATE 0"
        assert await superuser.execute(change, one) != "UPDATE 0"


# --- one backend for all ----------------------------------------------------------------------------------------------


@pytest.fixture
async def one_backend(module_database: str) -> AsyncIterator[Database]:
    """A pool of a single connection: whoever borrows it has the backend of whoever had it before."""
    database = Database(await connect_pool(PoolSettings(module_database, Power.READ, most=1)))
    yield database
    await database.close()


async def test_c08_two_tenants_on_one_backend_see_each_its_own(
    one_backend: Database, tenants: tuple[World, World]
) -> None:
    backends, found = set(), []
    for world in (*tenants, *tenants):
        async with one_backend.transaction(world.tenant, read_only=True) as connection:
            backends.add(connection.get_server_pid())
            rows = await connection.fetch("select distinct tenant from authority.proposal")
            found.append({row["tenant"] for row in rows})
    assert found == [{str(world.tenant)} for world in (*tenants, *tenants)]
    assert len(backends) == 1


async def test_c08_the_tenant_is_forgotten_with_the_transaction(
    one_backend: Database, tenants: tuple[World, World]
) -> None:
    # given a backend that served a tenant by a transaction, by one that failed, by a function that names the tenant
    world, _ = tenants
    async with one_backend.transaction(world.tenant) as connection:
        assert await connection.fetchval("select count(*) from authority.principal") > 0
    assert await forgotten(one_backend)
    with pytest.raises(ZeroDivisionError):
        async with one_backend.transaction(world.tenant):
            raise ZeroDivisionError
    assert await forgotten(one_backend)
    assert await PostgresRegistry(one_backend).active_key(world.tenant, world.service.ref, world.service.key_id)
    assert await forgotten(one_backend)


async def test_c08_one_call_for_two_tenants_leaves_nothing_of_either_on_its_backend(
    module_database: str, tenants: tuple[World, World]
) -> None:
    # given commits of two tenants that go in one call, over the only connection there is
    database = Database(await connect_pool(PoolSettings(module_database, Power.COMMIT, most=1)))
    plans = [world.plan(await world.issued()) for world in tenants]
    committer = PostgresCommitter(database, tenants[0].authority.clock, CommitterSettings(SOURCE, ANY_CLOCK_MS))
    deadline = asyncio.get_running_loop().time() + 20
    try:
        outcomes = await asyncio.gather(*(committer.commit(plan, deadline) for plan in plans))

        # then each has its own receipt, and whoever borrows the backend next is nobody's
        assert [one.receipt.statement for one in outcomes if isinstance(one, Committed)] == [p.receipt for p in plans]
        async with database.pool.acquire() as connection:
            assert not await connection.fetchval("select current_setting('authority.tenants', true)")
            assert not connection.is_in_transaction()
    finally:
        await database.close()


async def forgotten(database: Database) -> bool:
    """Whether the next borrower sees nobody's rows."""
    async with database.pool.acquire() as connection:
        assert not connection.is_in_transaction()
        named = await connection.fetchval("select current_setting('authority.tenants', true)")
        count = await connection.fetchval("select count(*) from authority.principal")
    return not named and count == 0
