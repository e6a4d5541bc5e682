"""Carries plans to the one function that decides, and asks again until it knows the outcome (semantics §5)."""

import asyncio
import datetime as dt
import traceback
from collections import Counter
from dataclasses import dataclass
from enum import Enum

import asyncpg
import structlog

from authority.domain.plan import CommitOutcome, CommitPlan, Committed, Conflicting, StoredReceipt
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres import rows
from authority.postgres.connections import Connection, Database
from authority.postgres.faults import is_again_whole, is_away, is_clock_off, is_lost
from authority.postgres.plan_rows import plan_row
from authority.postgres.sql import query
from authority.usecases.ports import Clock

_log = structlog.get_logger(__name__)

_WARNING = "01000"
"""What PostgreSQL sends when a commit is durable here but its standby has not confirmed it (case I18)."""


@dataclass(frozen=True, slots=True)
class CommitterSettings:
    """`source` names this authority in events; `answer_margin_s` of a caller's deadline is left to answer in."""

    source: str
    clock_bound_ms: int = 5_000
    most_waiting: int = 4_096
    most_waiters_per_key: int = 16
    answer_margin_s: float = 0.1
    pause_least_s: float = 0.002
    pause_most_s: float = 0.1


class _Again(Enum):
    """Why a plan has no outcome yet, and the refusal if its caller cannot wait longer."""

    BUSY = Reason.IN_PROGRESS
    COLLIDED = Reason.CONTENTION
    AWAY = Reason.DEPENDENCY_UNAVAILABLE
    UNKNOWN = "the answer is lost"

    @property
    def refusal(self) -> Refusal:
        """UNKNOWN and AWAY look alike to the caller: the same key may be asked again."""
        return Refusal(self.value if isinstance(self.value, Reason) else Reason.DEPENDENCY_UNAVAILABLE)


class PostgresCommitter:
    """Implements `ports.Committer`.

    Each call of the database belongs to a task of ours and carries no timeout: whoever waits for it may go away, it is
    finished all the same (cases C02, C03, F03).
    """

    def __init__(self, database: Database, clock: Clock, settings: CommitterSettings) -> None:
        self._database = database
        self._clock = clock
        self._settings = settings
        self._running: set[asyncio.Task[CommitOutcome]] = set()
        self._waiters: Counter[tuple[str, str, str]] = Counter()

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        """The plan's outcome; raises only for what is a defect of ours."""
        key = (str(plan.claim.tenant), str(plan.claim.holder), plan.claim.idempotency_key)
        if len(self._running) >= self._settings.most_waiting:
            return Refusal(Reason.OVERLOADED)
        if self._waiters[key] >= self._settings.most_waiters_per_key:
            return Refusal(Reason.IN_PROGRESS)
        self._waiters[key] += 1
        task = asyncio.create_task(self._see_through(plan, deadline))
        self._running.add(task)
        task.add_done_callback(lambda done: self._finish(done, key))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Waits for every plan that was taken."""
        while self._running:
            await asyncio.wait(self._running)

    def _finish(self, task: "asyncio.Task[CommitOutcome]", key: tuple[str, str, str]) -> None:
        self._running.discard(task)
        self._waiters[key] -= 1
        if not self._waiters[key]:
            del self._waiters[key]
        # Looked at here, because the caller may have gone away: a fault nobody waits for is still told. Not in the
        # driver's words, which may quote the row (semantics §9).
        if not task.cancelled() and (error := task.exception()):
            frames = traceback.extract_tb(error.__traceback__)
            raised_at = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
            _log.error("commit failed", error=type(error).__name__, raised_at=raised_at)

    async def _see_through(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        """Asks until there is an outcome or the caller's deadline, less a margin, has come.

        It is the same plan every time, with the same ids and receipt bytes: if an earlier ask succeeded unheard, its
        receipt is found under the claim.
        """
        loop, pause = asyncio.get_running_loop(), self._settings.pause_least_s
        while True:
            outcome = await self._ask(plan)
            if not isinstance(outcome, _Again):
                return outcome
            if loop.time() + pause > deadline - self._settings.answer_margin_s:
                return outcome.refusal
            await asyncio.sleep(pause)
            pause = min(pause * 2, self._settings.pause_most_s)

    async def _ask(self, plan: CommitPlan) -> CommitOutcome | _Again:
        try:
            async with self._database.pool.acquire() as connection:
                try:
                    return await self._call(connection, plan)
                except Exception as error:
                    if is_away(error) or is_lost(error):
                        connection.terminate()
                    raise
        except Exception as error:
            again = _classify(error)
            if again is None:
                raise
            _log.warning("commit asked again", why=again.name, error=type(error).__name__)
            return again

    async def _call(self, connection: Connection, plan: CommitPlan) -> CommitOutcome | _Again:
        warned: list[str] = []

        def listen(_: object, message: asyncpg.PostgresLogMessage) -> None:
            warned.append(str(message.sqlstate))

        connection.add_log_listener(listen)
        try:
            row = await connection.fetchrow(
                query("commit"),
                [plan_row(plan)],
                self._clock.now(),
                dt.timedelta(milliseconds=self._settings.clock_bound_ms),
                self._settings.source,
            )
        finally:
            connection.remove_log_listener(listen)
        if row is None or _WARNING in warned:
            connection.terminate()
            return _Again.UNKNOWN
        return _outcome(plan, row)


def _classify(error: Exception) -> _Again | None:
    """None for a defect of ours: data that cannot be stored, a broken constraint, a bug."""
    if is_clock_off(error):
        return _Again.AWAY
    if is_again_whole(error):
        return _Again.COLLIDED
    if is_away(error):
        return _Again.AWAY
    return _Again.UNKNOWN if is_lost(error) else None


def _outcome(plan: CommitPlan, row: rows.Row) -> CommitOutcome | _Again:
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
            return _Again.BUSY
        case "refused":
            return _refusal(plan, row)
        case _:
            # "stale": the receipt key was revoked since the plan was made; the caller's next call signs with another.
            return Refusal(Reason.DEPENDENCY_UNAVAILABLE)


def _refusal(plan: CommitPlan, row: rows.Row) -> Refusal:
    if plan.verdict and plan.verdict.reason.name == row["reason"]:
        return plan.verdict
    facts = {"term": row["term"], "receipt_id": row["receipt_id"] and str(row["receipt_id"])}
    return Refusal(Reason[row["reason"]], {name: value for name, value in facts.items() if value})
