"""What the superuser does beside the service: stops it in the middle, and asks the database how far it is."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import asyncpg

Superuser: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

_GATE = 4711
"""The advisory lock at which inserters wait; nothing else in the database has a key of this class."""


async def until(holds: Callable[[], Awaitable[object]], within_s: float = 20.0) -> None:
    """Returns as soon as the condition holds; fails when that takes too long. Each look is a round trip: no pause."""
    deadline = time.monotonic() + within_s
    while not await holds():
        assert time.monotonic() < deadline, "did not come about in time"


async def are_waiting(superuser: Superuser, number: int = 1) -> bool:
    """Whether so many sessions of this database wait for an advisory lock."""
    waiting = await superuser.fetchval(
        """
        select count(*) from pg_locks
        where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())
        """
    )
    return bool(waiting >= number)


@asynccontextmanager
async def trigger(superuser: Superuser, table: str, body: str, event: str = "insert") -> AsyncIterator[None]:
    """As long as the block lasts, every insert into the table does this first; it waits for locks without limit.

    Or every update, when that is the event.
    """
    await superuser.execute(
        f"""
        create function authority.before_insert() returns trigger language plpgsql set lock_timeout = 0
        as $$ begin {body} return new; end $$;
        create trigger before_insert before {event} on authority.{table}
        for each row execute function authority.before_insert();
        """
    )
    try:
        yield
    finally:
        await superuser.execute("drop function authority.before_insert() cascade")


class Gate:
    """Inserts into a table wait at it until it is opened."""

    def __init__(self, superuser: Superuser) -> None:
        self._superuser = superuser

    async def reached(self, by: int = 1) -> None:
        """Returns once so many wait."""
        await until(lambda: are_waiting(self._superuser, by))

    async def open(self) -> None:
        """Lets everybody through, and who comes later too."""
        await self._superuser.execute("select pg_advisory_unlock($1)", _GATE)


@asynccontextmanager
async def gate(superuser: Superuser, table: str = "commit_receipt") -> AsyncIterator[Gate]:
    """A closed gate before the table, in the middle of the call that inserts."""
    await superuser.execute("select pg_advisory_lock($1)", _GATE)
    try:
        async with trigger(superuser, table, f"perform pg_advisory_xact_lock_shared({_GATE});"):
            yield Gate(superuser)
            # Before the trigger is dropped: that waits for whoever is at the gate.
            await superuser.execute("select pg_advisory_unlock_all()")
    finally:
        await superuser.execute("select pg_advisory_unlock_all()")
