"""One call of the commit function for many plans, and what its answer means for each of them."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

import asyncpg
import structlog

from authority.domain.plan import CommitOutcome, CommitPlan, Committed, Conflicting, StoredReceipt
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres import rows
from authority.postgres.connections import Connection, Database
from authority.postgres.faults import is_again_whole, is_away, is_clock_off, is_lost, is_poison
from authority.postgres.plan_rows import plan_row
from authority.postgres.sql import query
from authority.usecases.ports import Clock

_log = structlog.get_logger(__name__)

_WARNING = "01000"
"""What PostgreSQL sends when a commit is durable here but its standby has not confirmed it (case I18)."""


class Again(Enum):
    """Why a plan has no outcome yet, and the refusal if its caller cannot wait longer."""

    BUSY = Reason.IN_PROGRESS
    COLLIDED = Reason.CONTENTION
    AWAY = Reason.DEPENDENCY_UNAVAILABLE
    UNKNOWN = "the answer is lost"

    @property
    def refusal(self) -> Refusal:
        """UNKNOWN and AWAY look alike to the caller: the same key may be asked again."""
        return Refusal(self.value if isinstance(self.value, Reason) else Reason.DEPENDENCY_UNAVAILABLE)


Answer: TypeAlias = CommitOutcome | Again | Exception
"""What one plan got: its outcome, why it must ask again, or the defect of ours that it met."""


@dataclass(frozen=True, slots=True)
class CommitCall:
    """Calls the commit function. `source` names this authority in events."""

    database: Database
    clock: Clock
    source: str
    clock_bound: dt.timedelta

    async def ask(self, plans: Sequence[CommitPlan]) -> list[Answer]:
        """One answer each, in order.

        One plan that cannot be stored would fail all of them: the batch is halved until it stands alone.
        """
        try:
            return list(await self._call(plans))
        except Exception as error:  # noqa: BLE001 - what it is decides what becomes of each plan
            again = _classify(error)
            if again is not None:
                _log.warning("commit asked again", why=again.name, error=type(error).__name__, plans=len(plans))
                return [again] * len(plans)
            if len(plans) == 1 or not is_poison(error):
                return [error] * len(plans)
        middle = len(plans) // 2
        return [*await self.ask(plans[:middle]), *await self.ask(plans[middle:])]

    async def _call(self, plans: Sequence[CommitPlan]) -> Sequence[CommitOutcome | Again]:
        async with self.database.pool.acquire() as connection:
            try:
                found, warned = await self._fetch(connection, plans)
            except Exception as error:
                if is_away(error) or is_lost(error):
                    connection.terminate()
                raise
            if warned or len(found) != len(plans):
                connection.terminate()
                return [Again.UNKNOWN] * len(plans)
        return [_outcome(plan, row) for plan, row in zip(plans, found, strict=True)]

    async def _fetch(self, connection: Connection, plans: Sequence[CommitPlan]) -> tuple[list[rows.Row], bool]:
        """The function's rows, and whether a warning says that they may be lost on another primary.

        No timeout and no transaction of ours: one statement, which commits by itself (case C02).
        """
        warned: list[str] = []

        def listen(_: object, message: asyncpg.PostgresLogMessage) -> None:
            warned.append(str(message.sqlstate))

        connection.add_log_listener(listen)
        try:
            sent = [plan_row(plan) for plan in plans]
            found = await connection.fetch(query("commit"), sent, self.clock.now(), self.clock_bound, self.source)
        finally:
            connection.remove_log_listener(listen)
        return found, _WARNING in warned


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


def _outcome(plan: CommitPlan, row: rows.Row) -> CommitOutcome | Again:
    match row["outcome"]:
        case "committed":
            assert plan.receipt is not None
            own = StoredReceipt(plan.receipt_id, plan.record_id, plan.receipt, plan.claim.fingerprint)
            return Committed(own, replayed=False)
        case "replayed":
            # Our own receipt under the claim is an earlier ask of this very plan, whose answer was lost.
            receipt = rows.stored_receipt(row)
            return Committed(receipt, replayed=receipt.receipt_id != plan.receipt_id)
        case "conflict":
            return Conflicting(rows.stored_receipt(row))
        case "busy":
            return Again.BUSY
        case "refused":
            return _refusal(plan, row)
        case "stale":
            # The receipt key was revoked since the plan was made; the caller's next call signs with another.
            return Refusal(Reason.DEPENDENCY_UNAVAILABLE)
        case unknown:
            raise ValueError(f"the commit function answered {unknown!r}")


def _refusal(plan: CommitPlan, row: rows.Row) -> Refusal:
    if plan.refusal and plan.refusal.reason.name == row["reason"]:
        return plan.refusal
    facts = {"term": row["term"], "receipt_id": row["receipt_id"] and str(row["receipt_id"])}
    return Refusal(Reason[row["reason"]], {name: value for name, value in facts.items() if value})
