"""Gathers plans that wait and carries them, many in a call, to the one function that decides (semantics §5)."""

import asyncio
import datetime as dt
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import structlog

from authority.domain.plan import CommitOutcome, CommitPlan
from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.postgres.commit_call import Again, Answer, CommitCall
from authority.postgres.connections import Database
from authority.postgres.waiting_plans import Waiting, WaitingPlans, weight_of
from authority.usecases.ports import Clock

_log = structlog.get_logger(__name__)

_Key: TypeAlias = tuple[TenantRef, PrincipalRef, str]


@dataclass(frozen=True, slots=True)
class CommitterSettings:
    """`source` names this authority in events; `answer_margin_s` of a caller's deadline is left to answer in."""

    source: str
    clock_bound_ms: int = 5_000
    calls: int = 2
    """Calls of the database under way at once."""
    plans_per_call: int = 256
    most_waiting: int = 4_096
    most_waiting_bytes: int = 64 * 1024 * 1024
    most_waiters_per_key: int = 16
    answer_margin_s: float = 0.1
    pause_least_s: float = 0.002
    pause_most_s: float = 0.1


class PostgresCommitter:
    """Implements `ports.Committer` by group commit: what comes while calls are under way goes together in the next.

    Each call of the database belongs to a task of ours and carries no timeout: whoever waits for it may go away, it is
    finished all the same (cases C02, C03, F03).
    """

    def __init__(self, database: Database, clock: Clock, settings: CommitterSettings) -> None:
        self._call = CommitCall(database, clock, settings.source, dt.timedelta(milliseconds=settings.clock_bound_ms))
        self._settings = settings
        self._queue = WaitingPlans()
        self._calls: set[asyncio.Task[None]] = set()
        self._open: set[asyncio.Future[CommitOutcome]] = set()
        self._open_bytes = 0
        self._waiters: Counter[_Key] = Counter()
        self._is_sending_soon = False

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        """The plan's outcome; raises only for what is a defect of ours."""
        [outcome] = await self.commit_together([plan], deadline)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def commit_together(self, plans: Sequence[CommitPlan], deadline: float) -> list[CommitOutcome | Exception]:
        """One outcome each, in order; the plans are of one tenant and go into one call.

        Of those that contend the first wins. A defect of ours that one of them meets stands in its place.
        """
        waiting = [self._take_in(plan, deadline) for plan in plans]
        admitted = [one for one in waiting if not one.outcome.done()]
        if admitted:
            self._queue.put(admitted)
            self._send_soon()
            # A caller that goes away ends this wait and nothing else: the outcomes are set by the calls.
            await asyncio.wait([one.outcome for one in admitted])
        return [_said(one.outcome) for one in waiting]

    async def close(self) -> None:
        """Waits for every plan that was taken in."""
        while self._open:
            await asyncio.wait(self._open)

    def _take_in(self, plan: CommitPlan, deadline: float) -> Waiting:
        """A place for the plan, or the refusal of one who comes when too much waits: early and cheaply."""
        waiting = Waiting(plan, deadline, asyncio.get_running_loop().create_future(), self._settings.pause_least_s)
        claim, weight = plan.claim, weight_of(plan)
        key = (claim.tenant, claim.holder, claim.idempotency_key)
        if (
            len(self._open) >= self._settings.most_waiting
            or self._open_bytes + weight > self._settings.most_waiting_bytes
        ):
            waiting.outcome.set_result(Refusal(Reason.OVERLOADED))
            return waiting
        if self._waiters[key] >= self._settings.most_waiters_per_key:
            waiting.outcome.set_result(Refusal(Reason.IN_PROGRESS))
            return waiting
        self._waiters[key] += 1
        self._open_bytes += weight
        self._open.add(waiting.outcome)
        waiting.outcome.add_done_callback(lambda outcome: self._let_go(outcome, key, weight))
        return waiting

    def _let_go(self, outcome: "asyncio.Future[CommitOutcome]", key: _Key, weight: int) -> None:
        self._open.discard(outcome)
        self._open_bytes -= weight
        self._waiters[key] -= 1
        if not self._waiters[key]:
            del self._waiters[key]

    def _send_soon(self) -> None:
        """At the end of this turn of the loop: what comes in the same turn goes into the same call."""
        if not self._is_sending_soon:
            self._is_sending_soon = True
            asyncio.get_running_loop().call_soon(self._send)

    def _send(self) -> None:
        self._is_sending_soon = False
        while self._queue.plans and len(self._calls) < self._settings.calls:
            batch = self._queue.take(self._settings.plans_per_call)
            task = asyncio.create_task(self._carry(batch))
            self._calls.add(task)
            task.add_done_callback(self._end_call)

    def _end_call(self, task: "asyncio.Task[None]") -> None:
        self._calls.discard(task)
        if self._queue.plans:
            self._send_soon()

    async def _carry(self, batch: Sequence[Waiting]) -> None:
        """One call.

        A plan is the same every time it is asked, with the same ids and receipt bytes: if an earlier ask succeeded
        unheard, its receipt is found under the claim.
        """
        answers: Sequence[Answer] = [Again.UNKNOWN] * len(batch)
        try:
            answers = await self._call.ask([waiting.plan for waiting in batch])
        finally:
            for waiting, answer in zip(batch, answers, strict=True):
                self._settle(waiting, answer)

    def _settle(self, waiting: Waiting, answer: Answer) -> None:
        """Sets the outcome, or has the plan asked again while its caller's deadline, less a margin, is not near."""
        loop = asyncio.get_running_loop()
        if isinstance(answer, Exception):
            _tell(answer)
            waiting.outcome.set_exception(answer)
            # Told of above, and looked at here: its caller may have gone away.
            waiting.outcome.exception()
        elif not isinstance(answer, Again):
            waiting.outcome.set_result(answer)
        elif loop.time() + waiting.pause > waiting.deadline - self._settings.answer_margin_s:
            waiting.outcome.set_result(answer.refusal)
        else:
            loop.call_later(waiting.pause, self._ask_again, waiting)
            waiting.pause = min(waiting.pause * 2, self._settings.pause_most_s)

    def _ask_again(self, waiting: Waiting) -> None:
        self._queue.put([waiting])
        self._send_soon()


def _said(outcome: "asyncio.Future[CommitOutcome]") -> CommitOutcome | Exception:
    error = outcome.exception()
    assert error is None or isinstance(error, Exception)
    return error or outcome.result()


def _tell(error: Exception) -> None:
    """Not in the driver's words, which may quote the row (semantics §9)."""
    frames = traceback.extract_tb(error.__traceback__)
    raised_at = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    _log.error("commit failed", error=type(error).__name__, raised_at=raised_at)
