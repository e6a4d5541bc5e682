"""What `authority doctor` asks of a PostgreSQL: facts, over a connection of its own. Others say what they mean."""

import contextlib
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import asyncpg

from authority.domain.references import Instant
from authority.domain.statement import IssuerKey
from authority.postgres import rows
from authority.postgres.connections import Power, teach_types
from authority.postgres.migrate import replaced_files
from authority.postgres.provision import POWERS, SERVICE
from authority.postgres.room import known_migrations
from authority.postgres.sql import query

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

_TOLERATED: Final = (SERVICE, "authority_relay")
"""Roles that a login of the service may have beside its powers."""
_FUNCTION: Final = re.compile(
    r"create or replace function authority\.(\w+).*?\bas \$\$(.*?)\$\$", re.DOTALL | re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class LoginFacts:
    """What a login may do. Names are of roles."""

    is_superuser: bool
    may_log_in: bool
    may_create_roles: bool
    may_create_schemas: bool
    missing: Sequence[str]
    """Of the service's powers."""
    inherited: Sequence[str]
    """Powers that it has without taking them on."""
    beyond: Sequence[str]
    """Roles that no service should take on."""


@dataclass(frozen=True, slots=True)
class SchemaFacts:
    """How far the database was migrated, each a list of names. None where the login may not know."""

    missing: Sequence[str]
    newer: Sequence[str]
    """Applied, and not of this version."""
    outdated: Sequence[str]
    """Functions whose text is another than this version's."""


@dataclass(frozen=True, slots=True)
class DeliveryFacts:
    """What the outbox holds that was not delivered."""

    pending: int
    parked: int
    """Given up, until somebody replays them."""
    oldest_age_ms: int | None
    """How long the oldest pending one waits; None when none does."""


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """What one connection shows."""

    server: Mapping[str, object]
    """As the query `server_facts` names them."""
    clock_difference_ms: int
    """How far the server's clock is ahead of ours."""
    connections_allowed: int
    login: LoginFacts | None
    """None when there is no such login."""
    schema: SchemaFacts | None
    keys: Sequence[IssuerKey] | None
    """None when they cannot be read."""
    delivery: DeliveryFacts | None
    """None when they cannot be read."""


async def examine(url: str, now: Callable[[], Instant], *, within_s: float, login: str | None = None) -> DatabaseFacts:
    """Asks the database of the URL, of `login` or of who logs in, each question at most `within_s` seconds.

    Raises what the driver does when it cannot be asked at all.
    """
    async with _connected(url, within_s) as connection:
        await connection.fetchval("select 1")  # What takes its time the first time does not count as the clock's.
        before = now()
        server = await connection.fetchrow(query("server_facts"))
        after = now()
        assert server is not None
        allowed = await connection.fetchval(query("connections_allowed"))
        found = await connection.fetchrow(query("login_facts"), login, list(POWERS), list(_TOLERATED))
        await _take_on(connection, Power.READ)
        return DatabaseFacts(
            server=dict(server),
            clock_difference_ms=server["now_ms"] - (before + after) // 2,
            connections_allowed=allowed,
            login=LoginFacts(**dict(found)) if found else None,
            schema=await _schema(connection),
            keys=await _keys(connection),
            delivery=await _delivery(connection),
        )


@contextlib.asynccontextmanager
async def _connected(url: str, within_s: float) -> "AsyncIterator[Connection]":
    connection = await asyncpg.connect(url, timeout=within_s, command_timeout=within_s)
    try:
        await teach_types(connection)
        yield connection
    finally:
        connection.terminate()  # Nothing was begun; a server that hangs is not waited for.


async def _take_on(connection: "Connection", power: Power) -> None:
    """Reads as the service does; who may not take that on, or has no need to, reads as it is."""
    with contextlib.suppress(asyncpg.PostgresError):
        await connection.execute(f"set role {power.value}")


async def _schema(connection: "Connection") -> SchemaFacts | None:
    row = await connection.fetchrow(query("is_migrated"))
    assert row is not None
    known = known_migrations()
    if not row["begun"]:
        return SchemaFacts(missing=known, newer=(), outdated=())
    if not row["readable"]:
        return None
    applied = [found["migration_id"] for found in await connection.fetch(query("applied_migrations"))]
    bodies = {(found["name"], found["body"]) for found in await connection.fetch(query("function_bodies"))}
    return SchemaFacts(
        missing=[name for name in known if name not in applied],
        newer=[name for name in applied if name not in known],
        outdated=sorted({name for name, body in _functions() if (name, body) not in bodies}),
    )


async def _keys(connection: "Connection") -> Sequence[IssuerKey] | None:
    try:
        return [rows.issuer_key(row) for row in await connection.fetch(query("issuer_keys"))]
    except asyncpg.PostgresError:
        return None


async def _delivery(connection: "Connection") -> DeliveryFacts | None:
    await _take_on(connection, Power.RELAY)
    try:
        row = await connection.fetchrow(query("outbox_lag"))
    except asyncpg.PostgresError:
        return None
    assert row is not None
    return DeliveryFacts(**dict(row))


def _functions() -> list[tuple[str, str]]:
    """Name and body of each function of this version."""
    return [found for file in replaced_files() for found in _FUNCTION.findall(file.read_text(encoding="utf-8"))]
