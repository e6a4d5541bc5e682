"""Connections to PostgreSQL: one pool for each power, and transactions behind the tenant wall."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import asyncpg

from authority.domain.reasons import Reason
from authority.domain.references import TenantRef
from authority.domain.refusal import Refusal
from authority.postgres.faults import as_fault, is_away, is_lost
from authority.postgres.silence import notice_silence
from authority.postgres.sql import query
from authority.telemetry import spans
from authority.telemetry.names import DATABASE, DATABASE_CALL
from authority.usecases.ports import DependencyUnavailable

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy
    from asyncpg.transaction import Transaction

Answer = TypeVar("Answer")

Connection: TypeAlias = "PoolConnectionProxy[asyncpg.Record]"

WARNING = "01000"
"""What PostgreSQL sends when a commit is durable here but its standby has not confirmed it (case I18)."""

_TELLS_WHAT_WAS_FOUND = frozenset({Reason.ALREADY_COMMITTED, Reason.IDEMPOTENCY_CONFLICT})
_EPOCH_2000_MS = 946_684_800_000
_CONNECT_TIMEOUT_S = 5.0
_GIVE_BACK_WITHIN_S = 0.5


class Power(Enum):
    """The database roles that the service takes on, one for each pool (data.md, Rights)."""

    COMMIT = "authority_commit"
    PROPOSE = "authority_propose"
    ISSUE = "authority_issue"
    READ = "authority_read"
    RELAY = "authority_relay"
    ADMIN = "authority_admin"


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """How many connections of one power, and how long a statement may run at all, in milliseconds."""

    url: str
    power: Power
    most: int
    statement_timeout_ms: int = 10_000
    look: "Callable[[asyncpg.Connection[asyncpg.Record]], Awaitable[None]] | None" = None
    """What is asked on each new connection before it is used."""


async def connect_pool(settings: PoolSettings) -> "asyncpg.Pool[asyncpg.Record]":
    """A pool whose connections have one power. Raises OSError or asyncpg.PostgresError when the server is away.

    Every setting of a session is made when it begins or inside a transaction, so nothing has to be reset between
    borrowers (case C08), and nothing is cancelled by the driver: a cancelled COMMIT may have happened (case C02).
    """

    async def begin(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        notice_silence(connection)
        await teach_types(connection)
        if settings.look:
            await settings.look(connection)

    return await asyncpg.create_pool(
        settings.url,
        min_size=0,
        max_size=settings.most,
        init=begin,
        reset=_nothing,
        timeout=_CONNECT_TIMEOUT_S,
        max_inactive_connection_lifetime=300,
        server_settings={
            "application_name": settings.power.value,
            "role": settings.power.value,
            "default_transaction_isolation": "read committed",
            "statement_timeout": str(settings.statement_timeout_ms),
            "idle_in_transaction_session_timeout": "10000",
            "timezone": "UTC",
        },
    )


async def _nothing(_: "asyncpg.Connection[asyncpg.Record]") -> None:
    """See connect_pool: there is nothing to reset."""


async def teach_types(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Instants are whole milliseconds, JSON is parsed: no naive datetime and no infinity can come back."""
    await connection.set_type_codec(
        "timestamptz", schema="pg_catalog", format="tuple", encoder=_to_microseconds, decoder=_to_milliseconds
    )
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)


def _to_microseconds(milliseconds: int) -> tuple[int]:
    return ((milliseconds - _EPOCH_2000_MS) * 1000,)


def _to_milliseconds(value: tuple[int]) -> int:
    return value[0] // 1000 + _EPOCH_2000_MS


class Refused(Exception):
    """Raised inside `Database.attempt`: nothing of the transaction stays, and the refusal is the answer."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason.name)
        self.refusal = refusal


async def await_standby(connection: Connection) -> None:
    """What the transaction has found is told of only once it commits, which then waits for a synchronous standby."""
    await connection.execute(query("await_standby"))


@contextlib.contextmanager
def listening(connection: Connection) -> Iterator[list[str]]:
    """The SQLSTATEs of what the server says beside its answers, while the block lasts."""
    told: list[str] = []

    def listen(_: object, message: asyncpg.PostgresLogMessage) -> None:
        told.append(str(message.sqlstate))

    connection.add_log_listener(listen)
    try:
        yield told
    finally:
        connection.remove_log_listener(listen)


@contextlib.contextmanager
def _told_as_faults(work: str) -> Iterator[None]:
    """Tells of the work by a span, and of the driver's errors as faults of ours."""
    with spans.below_of(DATABASE_CALL, work) as span:
        span.set(DATABASE, "postgresql")
        try:
            yield
        except Exception as error:
            fault = as_fault(error)
            if fault is None:
                raise
            span.fail(type(fault).__name__)
            raise fault from error


@dataclass(frozen=True, slots=True)
class Database:
    """One power over one database. Raises DependencyUnavailable and Contention, never a driver's error of that kind."""

    pool: "asyncpg.Pool[asyncpg.Record]"

    async def attempt(self, tenant: TenantRef, work: Callable[[Connection], Awaitable[Answer]]) -> Answer | Refusal:
        """Does the work in one transaction: all of it, or nothing and the refusal it was ended with.

        When the caller goes away during COMMIT, or the connection is lost there, it may have happened: every mutation
        carries a request id, so that asking again finds out (case C02).
        """
        try:
            async with self.transaction(tenant) as connection:
                return await work(connection)
        except Refused as refused:
            if refused.refusal.reason in _TELLS_WHAT_WAS_FOUND:
                async with self.transaction(tenant) as connection:
                    await await_standby(connection)
            return refused.refusal

    @contextlib.asynccontextmanager
    async def transaction(self, *tenants: TenantRef, read_only: bool = False) -> AsyncIterator[Connection]:
        """A READ COMMITTED transaction that sees the named tenants, mostly one.

        It commits when the block ends and rolls back when it raises. An error inside must leave the block: swallowed,
        it would silently turn the COMMIT into a ROLLBACK (case C04). Raises DependencyUnavailable, too, when it
        committed and the synchronous standby has not confirmed it: a new primary might lack it (case I18).
        """
        with _told_as_faults("transaction"):
            async with self._borrowed() as connection:
                transaction = connection.transaction(readonly=read_only)
                # Not `start`, which leaves a transaction behind for the driver to complain of when it is cancelled.
                await transaction.__aenter__()
                try:
                    await connection.execute(query("name_tenants"), ",".join(map(str, tenants)))
                    yield connection
                    await _commit(connection, transaction)
                except (Exception, asyncio.CancelledError) as error:
                    await _roll_back(connection, transaction, error)
                    raise

    async def ask(self, sql: str, *arguments: object) -> asyncpg.Record | None:
        """The first row of one statement that needs no tenant, or names it itself."""
        with _told_as_faults("statement"):
            async with self._borrowed() as connection:
                return await connection.fetchrow(sql, *arguments)

    async def ask_all(self, sql: str, *arguments: object) -> list[asyncpg.Record]:
        """Every row of one statement that needs no tenant, or names it itself."""
        with _told_as_faults("statement"):
            async with self._borrowed() as connection:
                return await connection.fetch(sql, *arguments)

    @contextlib.asynccontextmanager
    async def sending(self) -> AsyncIterator[Connection]:
        """A connection for one statement that commits by itself and is never cancelled (case C02).

        It is dropped when the server refused to work or its answer is lost. Raises what the driver raises: what that
        means for each item of the statement is the caller's to say.
        """
        async with self.pool.acquire() as connection:
            try:
                yield connection
            except Exception as error:
                if is_away(error) or is_lost(error):
                    _drop(connection)
                raise

    async def close(self) -> None:
        """Closes every connection once it is given back; those that are not given back in time are dropped."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GIVE_BACK_WITHIN_S):
                await self.pool.close()

    @contextlib.asynccontextmanager
    async def _borrowed(self) -> AsyncIterator[Connection]:
        """A connection. A borrower that is cancelled is let go in time, even when the server hangs.

        The driver asks the server to cancel the statement and waits for that without end: a call would outlive its own
        deadline.
        """
        async with self.pool.acquire() as connection:
            try:
                yield connection
            except asyncio.CancelledError:
                with contextlib.suppress(Exception):
                    # When it takes longer the connection is dropped.
                    await self.pool.release(connection, timeout=_GIVE_BACK_WITHIN_S)
                raise


async def _commit(connection: Connection, transaction: "Transaction") -> None:
    """Raises DependencyUnavailable when the commit is durable here, and may be nowhere else."""
    with listening(connection) as told:
        await transaction.__aexit__(None, None, None)
    if WARNING in told:
        raise DependencyUnavailable("the standby has not confirmed the commit")


async def _roll_back(connection: Connection, transaction: "Transaction", why: BaseException) -> None:
    """Rolls back in time, or else drops the connection, which comes to the same."""
    try:
        async with asyncio.timeout(_GIVE_BACK_WITHIN_S):
            await transaction.__aexit__(type(why), why, why.__traceback__)
    except Exception:  # noqa: BLE001 - why it was to be rolled back is told, not this
        _drop(connection)


def _drop(connection: Connection) -> None:
    """Breaks the connection off. One that is lost already has been taken back by its pool, which is no news."""
    with contextlib.suppress(asyncpg.InterfaceError):
        connection.terminate()
