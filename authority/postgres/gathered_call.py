"""What becomes of each of many items when the one call that carried them fails."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import structlog

from authority.postgres.connections import WARNING, Connection, listening
from authority.postgres.fair_queue import Item
from authority.postgres.faults import is_again_whole, is_away, is_clock_off, is_lost, is_poison
from authority.postgres.gathering import Again
from authority.postgres.rows import Row
from authority.telemetry import spans
from authority.telemetry.names import DATABASE, DATABASE_CALL

Got = TypeVar("Got")

_log = structlog.get_logger(__name__)


async def fetch_durably(connection: Connection, count: int, sql: str, *arguments: object) -> list[Row] | None:
    """The `count` rows of one statement that commits by itself; None when they may be lost on another primary.

    No timeout and no transaction of ours: what is sent is finished, whoever waits for it (case C02). Raises what the
    driver raises. A connection that leaves it open what happened is dropped.
    """
    with listening(connection) as told:
        found = await connection.fetch(sql, *arguments)
    if WARNING in told or len(found) != count:
        connection.terminate()
        return None
    return found


async def ask_apart(
    name: str, call: Callable[[Sequence[Item]], Awaitable[Sequence[Got]]], items: Sequence[Item]
) -> list[Got | Again | Exception]:
    """What the call got for each, in order, or else why not; `call` may raise what the driver raises.

    One item that cannot be stored would fail all of them: the batch is halved until it stands alone. `name` stands in
    the log.
    """
    try:
        with spans.below_of(DATABASE_CALL, name) as span:
            span.set(DATABASE, "postgresql")
            try:
                return list(await call(items))
            except Exception as error:
                span.fail(type(error).__name__)
                raise
    except Exception as error:  # noqa: BLE001 - what it is decides what becomes of each item
        again = _classify(error)
        if again is not None:
            _log.warning(f"{name} asked again", why=again.name, error=type(error).__name__, items=len(items))
            return [again] * len(items)
        if len(items) == 1 or not is_poison(error):
            return [error] * len(items)
    middle = len(items) // 2
    return [*await ask_apart(name, call, items[:middle]), *await ask_apart(name, call, items[middle:])]


def _classify(error: Exception) -> Again | None:
    """None for a defect of ours: data that cannot be stored, a broken constraint, a bug."""
    if is_poison(error):
        return None
    if is_clock_off(error):
        return Again.AWAY
    if is_again_whole(error):
        return Again.COLLIDED
    if is_away(error):
        return Again.AWAY
    return Again.UNKNOWN if is_lost(error) else None
