"""Roles are powers: what each may do to the tables is written here, and everything else is tried and refused.

The owner of the commit function can consume, record and tell, and change nothing else (ADR-328 section 6); the service
may only execute the function. A role that has a right on some columns of a table has none on the others.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from authority.postgres.connections import Power
from authority.postgres.sql import query
from tests.integration.postgres.superuser import Superuser
from tests.world.authority import Authority
from tests.world.granting import Granting
from tests.world.world import World

ROLES = (
    "authority_commit",
    "authority_committer",
    "authority_propose",
    "authority_issue",
    "authority_read",
    "authority_relay",
    "authority_admin",
    "authority_eraser",
    "authority_service",
    "authority_spender",
    "authority_aggregator",
    "authority_unvalidated",
)

ALLOWED = """
authority_committer  select  everything
authority_committer  insert  commit_receipt memory_record outbox audit_event upstream_proof
authority_committer  update  capability(state,receipt_id) proposal_head(state,receipt_id)
authority_committer  update  memory_record(superseded_by,supersede_time)
authority_unvalidated select memory_namespace principal tombstone
authority_unvalidated insert memory_record unvalidated_write outbox audit_event
authority_propose    select  known
authority_propose    insert  request proposal_head proposal validation_receipt approval_decision audit_event
authority_propose    insert  revocation citation evidence content_signature content_band content_assertion
authority_propose    update  proposal_head(current_revision,state,withdraw_time)
authority_issue      select  known stream_nonce refusal_count replay_reservation
authority_issue      insert  request decision_receipt capability audit_event stream_nonce
authority_issue      insert  revocation refusal_count tombstone outbox grant_record grant_use
authority_issue      update  capability(state,revoke_time) refusal_count(count) grant_record(state,revoke_time)
authority_issue      insert  approval_decision approval_use replay_reservation
authority_issue      delete  stream_nonce refusal_count replay_reservation
authority_read       select  known audit_event upstream_proof
authority_propose    insert  content_to_erase
authority_propose    delete  content_to_erase
authority_eraser     select  content_to_erase proposal_head proposal validation_receipt approval_decision
authority_eraser     insert  audit_event
authority_eraser     update  proposal(content,search) proposal_head(state)
authority_eraser     delete  content_to_erase
authority_spender    select  grant_record grant_use capability issuer_key principal principal_key
authority_spender    insert  grant_use
authority_spender    update  grant_record(state)
authority_relay      select  outbox outbox_parked
authority_relay      insert  outbox_parked
authority_relay      update  outbox(claim_token,claim_until_time,attempts,last_error,retry_time,parked,delivered_time)
authority_relay      delete  outbox outbox_parked
authority_aggregator  select  aggregate memory_record
authority_admin      select  everything
authority_admin      insert  issuer_key memory_namespace principal principal_key policy_version tombstone audit_event
authority_admin      insert  revocation membership aggregate
authority_admin      insert  token_identity principal_link key_alias
authority_admin      insert  external_authority external_key
authority_admin      update  external_authority(memory_namespaces,required) external_key(state,revoke_time)
authority_admin      update  issuer_key memory_namespace principal principal_key membership
authority_admin      update  evidence(state,decided_by,decide_time,note)
authority_admin      update  aggregate(state,remove_time) token_identity(state) principal_link(state,revoke_time)
authority_admin      update  key_alias(state,revoke_time)
"""
"""Nobody truncates, and nobody deletes but what opened streams, passed or was counted, long ago, what was delivered,
and notes of what is to be erased;
authority_commit and authority_service are not named at all."""

NOT_KNOWN_TO_ALL = {
    "outbox",
    "outbox_parked",
    "audit_event",
    "stream_nonce",
    "refusal_count",
    "aggregate",
    "replay_reservation",
    "upstream_proof",
}
ACTIONS = {
    "select": "select 1 from authority.{table} limit 0",
    "insert": "insert into authority.{table} default values",
    "update": "update authority.{table} set {column} = {column} where false",
    "delete": "delete from authority.{table} where false",
    "truncate": "truncate authority.{table}",
}


async def tables(superuser: Superuser) -> dict[str, list[str]]:
    """Every table of the schema with its columns."""
    rows = await superuser.fetch(
        """
        select c.relname, array_agg(a.attname::text order by a.attnum) as columns
        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and a.attidentity = ''
        where c.relnamespace = 'authority'::regnamespace and c.relkind = 'r' group by c.relname
        """
    )
    return {row["relname"]: row["columns"] for row in rows}


def allowed(all_tables: dict[str, list[str]]) -> set[tuple[str, str, str, str]]:
    """The table above as (role, action, table, column); the column is empty but for updates."""
    groups = {"everything": all_tables.keys(), "known": all_tables.keys() - NOT_KNOWN_TO_ALL}
    found = set()
    for line in ALLOWED.strip().splitlines():
        role, action, *names = line.split()
        for name in [one for given in names for one in groups.get(given, {given})]:
            table, _, listed = name.partition("(")
            columns = listed.rstrip(")").split(",") if listed else all_tables[table]
            found |= {(role, action, table, column if action == "update" else "") for column in columns}
    return found


@pytest.fixture
async def good_row(authority: Authority) -> World:
    """A tenant with a proposal that stands."""
    world = await World.begin(authority)
    await world.proposed()
    return world


@asynccontextmanager
async def acting_as(superuser: Superuser, role: str) -> AsyncIterator[None]:
    """The superuser has the role's rights and no others."""
    await superuser.execute(f"set role {role}")
    try:
        yield
    finally:
        await superuser.execute("reset role")


async def may(superuser: Superuser, statement: str) -> bool:
    """Whether the statement is not refused for want of rights. Nothing that it does stays."""
    transaction = superuser.transaction()
    await transaction.start()
    try:
        await superuser.execute(statement)
    except asyncpg.InsufficientPrivilegeError as refused:
        return "row-level security" in str(refused)  # The tenant wall is judged after the rights.
    except asyncpg.IntegrityConstraintViolationError:
        return True
    finally:
        await transaction.rollback()
    return True


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_may_do_what_is_written_and_nothing_else(superuser: Superuser, role: str) -> None:
    # given every action on every table, and every column for updates
    all_tables = await tables(superuser)
    tried = [
        (action, table, column)
        for action in ACTIONS
        for table, columns in all_tables.items()
        for column in (columns if action == "update" else [""])
    ]

    # when each is tried in the role, then those succeed that are written above
    async with acting_as(superuser, role):
        succeeded = {
            (role, action, table, column)
            for action, table, column in tried
            if await may(superuser, ACTIONS[action].format(table=table, column=column))
        }
    assert succeeded == {entry for entry in allowed(all_tables) if entry[0] == role}
    assert len(tried) > 250


async def test_only_the_commit_role_may_commit(superuser: Superuser) -> None:
    statement = "select * from authority.commit('{}', now(), interval '1 day', 'test')"
    able = set()
    for role in ROLES:
        async with acting_as(superuser, role):
            if await may(superuser, statement):
                able.add(role)
    assert able == {"authority_commit", "authority_committer"}, "its owner may too, and nobody can become its owner"


async def test_only_who_proposes_may_write_without_validation(superuser: Superuser) -> None:
    types = (
        "text text uuid text text text bytea bytea text text[] text[] text text timestamptz timestamptz timestamptz "
        "text jsonb text text uuid text text timestamptz text text text[] text[] text text bytea"
    )
    statement = f"select authority.write_unvalidated({', '.join(f'null::{kind}' for kind in types.split())})"
    able = set()
    for role in ROLES:
        async with acting_as(superuser, role):
            if await may(superuser, statement):
                able.add(role)
    assert able == {"authority_propose", "authority_unvalidated"}, "never who commits, and nobody can become its owner"


async def test_adr328_05_what_crosses_tenants_can_count_and_see_nothing_else(superuser: Superuser) -> None:
    # given the function that counts, then whoever reads may ask it, and its owner sees what is counted by
    able, statement = set(), "select * from authority.count_aggregate('a|b', 'trends', 'notes', now())"
    for role in ROLES:
        async with acting_as(superuser, role):
            if await may(superuser, statement):
                able.add(role)
    assert able == {"authority_read", "authority_aggregator"}
    columns = (await tables(superuser))["memory_record"]
    async with acting_as(superuser, "authority_aggregator"):
        seen = {it for it in columns if await may(superuser, f"select {it} from authority.memory_record")}  # noqa: S608
    assert seen == {"tenant", "memory_namespace", "memory_type", "visibility", "create_time"}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    "statement",
    [
        "create table authority.mine ()",
        "create function authority.mine() returns int language sql as 'select 1'",
        "create or replace function authority.reason_rank(reason text) returns integer language sql as 'select 1'",
        "alter function authority.commit owner to pg_monitor",
        "alter table authority.commit_receipt disable row level security",
        "drop policy tenant_wall on authority.commit_receipt",
        "alter table authority.commit_receipt drop constraint commit_receipt_one_per_proposal",
        "grant authority_committer to current_user",
        "alter role authority_commit bypassrls",
        "create role mine",
        "copy authority.principal to program 'true'",
        "select pg_read_file('PG_VERSION')",
    ],
)
async def test_no_role_can_get_around_the_rest(superuser: Superuser, role: str, statement: str) -> None:
    async with acting_as(superuser, role):
        assert not await may(superuser, statement)


@pytest.mark.parametrize(
    ("role", "able"),
    [
        ("authority_commit", False),
        ("authority_committer", False),
        ("authority_read", False),
        ("authority_relay", False),
        ("authority_unvalidated", True),
        ("authority_propose", True),
        ("authority_issue", True),
        ("authority_admin", True),
    ],
)
async def test_who_draws_sequences(superuser: Superuser, role: str, *, able: bool) -> None:
    async with acting_as(superuser, role):
        assert await may(superuser, "select nextval('authority.decision_sequence')") is able
        assert not await may(superuser, "select setval('authority.decision_sequence', 1)")


async def test_no_role_is_more_than_its_rights(superuser: Superuser) -> None:
    # given all roles of ours, then none may log in by itself, none bypasses the tenant wall, none owns a table
    rows = await superuser.fetch(
        """
        select rolname from pg_roles
        where rolname like 'authority\\_%'
          and (rolsuper or rolcreaterole or rolcreatedb or rolcanlogin or rolreplication or rolbypassrls or rolinherit)
        union
        select pg_get_userbyid(relowner) from pg_class
        where relnamespace = 'authority'::regnamespace and pg_get_userbyid(relowner) like 'authority\\_%'
        """
    )
    assert [row["rolname"] for row in rows] == []
    found = await superuser.fetch("select rolname from pg_roles where rolname like 'authority\\_%'")
    assert {row["rolname"] for row in found} == set(ROLES)


async def test_the_service_takes_on_its_powers_and_no_other(superuser: Superuser) -> None:
    # given a session of the service, which inherits nothing
    await superuser.execute("set session authorization authority_service")
    try:
        able = {role for role in ROLES if await may(superuser, f"set local role {role}")}
    finally:
        await superuser.execute("reset session authorization")

    # then it may become what it needs for its work, and never the committer or the administrator
    powers = {power.value for power in Power if power is not Power.ADMIN}
    assert able == powers | {"authority_service"}


@pytest.mark.parametrize(
    ("function", "owner"),
    [
        ("commit", "authority_committer"),
        ("write_unvalidated", "authority_unvalidated"),
        ("hold_grant", "authority_spender"),
        ("spend_grant", "authority_spender"),
    ],
)
async def test_a_function_that_lends_rights_is_its_owners_and_looks_nowhere_else(
    superuser: Superuser, function: str, owner: str
) -> None:
    row = await superuser.fetchrow(
        """
        select pg_get_userbyid(proowner) as owner, prosecdef, proconfig from pg_proc
        where pronamespace = 'authority'::regnamespace and proname = $1
        """,
        function,
    )
    assert row
    assert (row["owner"], row["prosecdef"]) == (owner, True)
    assert "search_path=authority, pg_temp" in row["proconfig"]


async def test_only_who_keeps_proposals_may_have_content_erased(superuser: Superuser) -> None:
    able = set()
    for role in ROLES:
        async with acting_as(superuser, role):
            if await may(superuser, "select authority.erase_reviewed('2000-01-01', 1)"):
                able.add(role)
    assert able == {"authority_propose", "authority_eraser"}, "its owner may too, and nobody can become its owner"


@pytest.mark.parametrize(
    "statement",
    ["update authority.proposal set content = 'x'", "update authority.proposal_head set state = 'validated'"],
)
async def test_the_eraser_empties_content_and_writes_nothing(
    superuser: Superuser, good_row: World, statement: str
) -> None:
    # given a proposal that stands, of a tenant that the transaction does not name
    of_tenant = f"where tenant = '{good_row.tenant}'"
    async with acting_as(superuser, "authority_eraser"):
        assert await may(superuser, f"update authority.proposal set content = '', search = null {of_tenant}")  # noqa: S608 - our own
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            async with superuser.transaction():
                await superuser.execute(f"{statement} {of_tenant}")


@pytest.mark.parametrize(
    ("call", "powers"),
    [
        ("hold_grant('a|b', '')", {"authority_propose"}),
        (
            "spend_grant('a|b', '', 'memory.recall', null, null, 0::bigint, 0::bigint, now())",
            {"authority_propose", "authority_issue"},
        ),
    ],
)
async def test_only_who_proposes_or_issues_may_have_a_grant_spent(
    superuser: Superuser, call: str, powers: set[str]
) -> None:
    able = set()
    for role in ROLES:
        async with acting_as(superuser, role):
            if await may(superuser, f"select authority.{call} where false"):
                able.add(role)
    assert able == powers | {"authority_spender"}, "its owner may too, and nobody can become its owner"


async def test_the_spender_locks_a_grant_and_changes_none_and_issues_nothing(
    superuser: Superuser, good_row: World
) -> None:
    # given a grant of the tenant that is named, used once for a capability
    granting = Granting(good_row)
    granted = await granting.issued(good_row.service)
    await granting.issued_under(granted)
    one = f"where tenant = '{good_row.tenant}'"
    for statement in (
        f"update authority.grant_record set state = 'revoked' {one}",  # noqa: S608 - our own
        f"insert into authority.grant_use select * from authority.grant_use {one}",  # noqa: S608 - our own
    ):
        async with acting_as(superuser, "authority_spender"), superuser.transaction():
            await superuser.execute("select set_config('authority.tenants', $1, true)", str(good_row.tenant))
            assert await superuser.fetch(f"select 1 from authority.grant_record {one} for no key update")  # noqa: S608
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
                async with superuser.transaction():
                    await superuser.execute(statement)


async def test_the_registry_is_asked_by_the_roles_that_read_it(superuser: Superuser) -> None:
    able = set()
    statement = "select * from authority.active_key('', ''::bytea, '')"
    for role in ROLES:
        async with acting_as(superuser, role):
            if await may(superuser, statement):
                able.add(role)
    assert able == {"authority_read", "authority_issue"}


async def test_many_keys_are_asked_for_by_the_role_that_authenticates(superuser: Superuser) -> None:
    statement = query("active_keys").replace("$1", "'{}'").replace("$2", "'{}'").replace("$3", "'{}'")
    able = set()
    for role in ROLES:
        async with acting_as(superuser, role):
            if await may(superuser, statement):
                able.add(role)
    assert able == {"authority_read"}


@pytest.mark.parametrize(
    "statement",
    [
        "select authority.claim_events(null, '1 s', 1, null)",
        "select authority.settle_events(null, '{}', '{}', 'delivered', null, null)",
        "select authority.prune_events('1 day', 1)",
    ],
    ids=["claim", "settle", "prune"],
)
async def test_only_the_relay_claims_settles_and_prunes_events(superuser: Superuser, statement: str) -> None:
    able = set()
    for role in ROLES:
        async with acting_as(superuser, role):
            if await may(superuser, statement):
                able.add(role)
    assert able == {"authority_relay"}


@pytest.mark.parametrize(
    "statement",
    [
        query("issuing_facts").replace("$1", "'{}'"),
        query("issue")
        .replace("$1", "'{}'")
        .replace("$2", "now()")
        .replace("$3", "'1 day'")
        .replace("$4", "null")
        .replace("$5", "'{}'"),
        "select * from authority.issue_standing('{}', '{}', now())",
        "select * from authority.lock_grant_counters('{}', now())",
    ],
    ids=["issuing_facts", "issue", "issue_standing", "lock_grant_counters"],
)
async def test_only_the_issue_role_may_issue_and_by_its_own_rights(superuser: Superuser, statement: str) -> None:
    able = set()
    for role in ROLES:
        async with acting_as(superuser, role):
            if await may(superuser, statement):
                able.add(role)
    # but what the spender's own functions look at, too
    assert able == {"authority_issue"} | ({"authority_spender"} if "lock_grant_counters" in statement else set())
    lending = await superuser.fetch(
        "select proname from pg_proc where pronamespace = 'authority'::regnamespace and prosecdef"
    )
    assert {row["proname"] for row in lending} == {
        "commit",
        "commit_by_envelope",
        "count_aggregate",
        "erase_reviewed",
        "hold_grant",
        "spend_grant",
        "write_unvalidated",
    }, "no other function lends its owner's rights"
