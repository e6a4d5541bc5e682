"""Reservations of replay keys: two unique constraints decide."""

import datetime as dt
from dataclasses import dataclass
from typing import Final

from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.domain.replay import KEPT_MS, ReplayAnswer, ReplayOutcome, Reservation, judge_in_the_way
from authority.postgres import rows
from authority.postgres.connections import Connection, Database, await_standby
from authority.postgres.sql import query
from authority.usecases.ports import Contention

_KEPT: Final = dt.timedelta(milliseconds=KEPT_MS)
_FORGOTTEN_AT_ONCE: Final = 100
_TURNS: Final = 3
"""How often one is tried whose obstacle was forgotten between two statements: each time something older than it."""


@dataclass(frozen=True, slots=True)
class PostgresReplayReservations:
    """Implements `ports.ReplayReservations`. What is over goes whenever something new comes.

    One transaction and one row for each answer RESERVED, so that killed, broken off, or with the answer lost, either
    it stands and the same request finds it, or nothing was reserved. Whoever comes second waits for the first to
    commit. A service whose clock is off the database's by more than the bound reserves nothing, since it might
    reserve what others have forgotten.
    """

    database: Database
    clock_bound_ms: int = 5_000

    async def reserve(self, wanted: Reservation, now: Instant) -> ReplayAnswer | Refusal:
        """RESERVED, or what stands in its way. Raises DependencyUnavailable when that is not known."""

        async def work(connection: Connection) -> ReplayAnswer | Refusal:
            await connection.execute(query("require_clock"), now, dt.timedelta(milliseconds=self.clock_bound_ms))
            return await _reserve(connection, wanted, now)

        return await self.database.attempt(wanted.tenant, work)


async def _reserve(connection: Connection, wanted: Reservation, now: Instant) -> ReplayAnswer | Refusal:
    for _ in range(_TURNS):
        if await connection.fetchval(query("reserve_replay"), *_row(wanted)):
            await connection.execute(
                query("forget_replay_reservations"), str(wanted.tenant), now, _KEPT, _FORGOTTEN_AT_ONCE
            )
            return ReplayAnswer(ReplayOutcome.RESERVED)
        # A new statement and so a new snapshot: what was in our way is durable and visible.
        place = (str(wanted.tenant), wanted.replay_key, str(wanted.reserved_by), wanted.request_id)
        found = await connection.fetch(query("reservations_in_the_way"), *place)
        answer = judge_in_the_way(wanted, [_reservation(wanted, row) for row in found])
        if answer is not None:
            await await_standby(connection)
            return answer
    raise Contention("what was in the way of a reservation was forgotten again and again")


def _row(wanted: Reservation) -> tuple[object, ...]:
    return (
        str(wanted.tenant),
        wanted.replay_key,
        wanted.envelope_digest,
        str(wanted.reserved_by),
        wanted.request_id,
        wanted.request_digest,
        wanted.reserve_time,
        wanted.expire_time,
    )


def _reservation(wanted: Reservation, row: rows.Row) -> Reservation:
    return Reservation(
        tenant=wanted.tenant,
        replay_key=row["replay_key"],
        envelope_digest=row["envelope_digest"],
        reserved_by=rows.principal_ref(row["reserved_by"]),
        request_id=row["request_id"],
        request_digest=row["request_digest"],
        reserve_time=row["reserve_time"],
        expire_time=row["expire_time"],
    )
