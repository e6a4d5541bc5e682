"""Gathers what comes one by one into calls of the database that take many: the group commit, and what is like it."""

import asyncio
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextvars import Context
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeAlias

import structlog

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres.fair_queue import FairQueue, Item, Outcome, Place, Waiting
from authority.telemetry import metrics, spans
from authority.telemetry.names import (
    GATHER_WAIT,
    GATHERED_CALL,
    GATHERING_AGAIN,
    GATHERING_CALL,
    GATHERING_ITEMS,
    GATHERING_WAIT,
    GATHERING_WAITING,
)

_log = structlog.get_logger(__name__)


class Again(Enum):
    """Why an item has no outcome yet, and the refusal if its caller cannot wait longer."""

    BUSY = Reason.IN_PROGRESS
    COLLIDED = Reason.CONTENTION
    AWAY = Reason.DEPENDENCY_UNAVAILABLE
    UNKNOWN = "the answer is lost"

    @property
    def refusal(self) -> Refusal:
        """UNKNOWN and AWAY look alike to the caller: the same key may be asked again."""
        return Refusal(self.value if isinstance(self.value, Reason) else Reason.DEPENDENCY_UNAVAILABLE)


Answer: TypeAlias = Outcome | Refusal | Again | Exception
"""What one item got: its outcome, why it must be asked again, or the defect of ours that it met."""

Call: TypeAlias = Callable[[Sequence[Item]], Awaitable[Sequence[Answer[Outcome]]]]
"""One call of the database for many items: one answer each, in order. It raises nothing but defects of ours."""


@dataclass(frozen=True, slots=True)
class GatheringSettings:
    """The bounds. Seconds are event loop time; `answer_margin_s` of a caller's deadline is left to answer in."""

    calls: int = 2
    """Calls of the database under way at once."""
    items_per_call: int = 256
    company: int = 64
    """How many must wait for another call to begin while one is under way: a call costs much, an item in it little."""
    patience_s: float = 0.02
    """How long fewer than that wait for company. Nothing waits while no call is under way."""
    most_waiting: int = 4_096
    most_waiting_bytes: int = 64 * 1024 * 1024
    most_waiters_per_key: int = 16
    answer_margin_s: float = 0.2
    pause_least_s: float = 0.002
    pause_most_s: float = 0.1


class Gathering(Generic[Item, Outcome]):
    """What comes while calls are under way goes together in the next: fairly between tenants, and in bounds.

    Each call belongs to a task of ours: whoever waits for it may go away, it is finished all the same (cases C02, C03,
    F03). `name` stands in the log, and in spans and metrics.
    """

    def __init__(
        self, name: str, call: Call[Item, Outcome], place_of: Callable[[Item], Place], settings: GatheringSettings
    ) -> None:
        self._name = name
        self._call = call
        self._place_of = place_of
        self._settings = settings
        self._queue: FairQueue[Item, Outcome] = FairQueue()
        self._calls: set[asyncio.Task[None]] = set()
        self._open: set[asyncio.Future[Outcome | Refusal]] = set()
        self._open_bytes = 0
        self._waiters: Counter[Hashable] = Counter()
        self._is_sending_soon = False
        self._sent_last = 0.0
        self._patience: asyncio.TimerHandle | None = None

    async def ask(self, item: Item, deadline: float) -> Outcome | Refusal:
        """The item's outcome; `deadline` is event loop time. Raises only for what is a defect of ours.

        Refusals beside the outcome's own: OVERLOADED when too much waits, IN_PROGRESS when too many wait for the key,
        and that of the last `Again` when the deadline, less a margin, is near.
        """
        [outcome] = await self.ask_together([item], deadline)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def ask_together(self, items: Sequence[Item], deadline: float) -> list[Outcome | Refusal | Exception]:
        """One outcome each, in order; the items are of one tenant and go into one call, in their order.

        A defect of ours that one of them meets stands in its place.
        """
        places = [self._place_of(item) for item in items]
        # Judged before any is taken in: twins that come together wait for no call but their own (case I17).
        crowded = {place.key for place in places if self._waiters[place.key] >= self._settings.most_waiters_per_key}
        waiting = [self._take_in(item, place, deadline, crowded) for item, place in zip(items, places, strict=True)]
        admitted = [one for one in waiting if not one.outcome.done()]
        if admitted:
            with spans.below_of(GATHER_WAIT, self._name) as span:
                for one in admitted:
                    one.span = span
                self._queue.put(admitted)
                self._send_soon()
                # A caller that goes away ends this wait and nothing else: the outcomes are set by the calls.
                await asyncio.wait([one.outcome for one in admitted])
        return [self._said(one.outcome) for one in waiting]

    async def close(self) -> None:
        """Waits for everything that was taken in."""
        while self._open:
            await asyncio.wait(self._open)

    def _take_in(self, item: Item, place: Place, deadline: float, crowded: set[Hashable]) -> Waiting[Item, Outcome]:
        """Room for the item, or the refusal of one who comes when too much waits: early and cheaply."""
        outcome: asyncio.Future[Outcome | Refusal] = asyncio.get_running_loop().create_future()
        refusal = self._refuse(place, crowded)
        if refusal:
            outcome.set_result(refusal)
        else:
            self._hold(outcome, place)
        return Waiting(item, place, deadline, outcome, self._settings.pause_least_s, since=time.perf_counter())

    def _refuse(self, place: Place, crowded: set[Hashable]) -> Refusal | None:
        if (
            len(self._open) >= self._settings.most_waiting
            or self._open_bytes + place.weight > self._settings.most_waiting_bytes
        ):
            return Refusal(Reason.OVERLOADED)
        if place.key in crowded:
            return Refusal(Reason.IN_PROGRESS)
        return None

    def _hold(self, outcome: "asyncio.Future[Outcome | Refusal]", place: Place) -> None:
        metrics.count(GATHERING_WAITING, self._name)
        self._open.add(outcome)
        self._open_bytes += place.weight
        if place.key is not None:
            self._waiters[place.key] += 1
        outcome.add_done_callback(lambda done: self._let_go(done, place))

    def _let_go(self, outcome: "asyncio.Future[Outcome | Refusal]", place: Place) -> None:
        metrics.count(GATHERING_WAITING, self._name, by=-1)
        self._open.discard(outcome)
        self._open_bytes -= place.weight
        if place.key is not None:
            self._waiters[place.key] -= 1
            if not self._waiters[place.key]:
                del self._waiters[place.key]

    def _send_soon(self) -> None:
        """At the end of this turn of the loop: what comes in the same turn goes into the same call."""
        if not self._is_sending_soon:
            self._is_sending_soon = True
            asyncio.get_running_loop().call_soon(self._send)

    def _send(self) -> None:
        self._is_sending_soon = False
        while self._queue and len(self._calls) < self._settings.calls and self._is_worth_a_call():
            self._sent_last = asyncio.get_running_loop().time()
            batch = self._queue.take(self._settings.items_per_call)
            # In a context of its own: it is none of the callers' whose coming happened to start it.
            task = asyncio.create_task(self._carry(batch), context=Context())
            self._calls.add(task)
            task.add_done_callback(self._end_call)

    def _is_worth_a_call(self) -> bool:
        """Whether what waits should go now. If not, it goes when a call ends, company comes, or patience does not last.

        Without this every item that finds a call free takes it for itself, and the database is busy with calls.
        """
        if not self._calls or len(self._queue) >= self._settings.company:
            return True
        loop = asyncio.get_running_loop()
        until = self._sent_last + self._settings.patience_s
        if loop.time() >= until:
            return True
        if self._patience is None:
            self._patience = loop.call_at(until, self._lose_patience)
        return False

    def _lose_patience(self) -> None:
        self._patience = None
        self._send_soon()

    def _end_call(self, task: "asyncio.Task[None]") -> None:
        self._calls.discard(task)
        if self._queue:
            self._send_soon()

    async def _carry(self, batch: Sequence[Waiting[Item, Outcome]]) -> None:
        """One call, whose every item gets an answer, whatever becomes of the call."""
        answers: Sequence[Answer[Outcome]] = [Again.UNKNOWN] * len(batch)
        try:
            answers = await self._told_of(batch)
        finally:
            for error in {id(answer): answer for answer in answers if isinstance(answer, Exception)}.values():
                self._tell(error)
            pairs = zip(batch, answers, strict=True)
            self._ask_again_later([waiting for waiting, answer in pairs if not self._is_settled(waiting, answer)])

    async def _told_of(self, batch: Sequence[Waiting[Item, Outcome]]) -> Sequence[Answer[Outcome]]:
        """The call, with what there is to say of it."""
        items = [waiting.item for waiting in batch]
        if not (spans.are_heard() or metrics.are_heard()):
            return await self._call(items)
        begun = time.perf_counter()
        metrics.record(GATHERING_WAIT, begun - batch[0].since, self._name)
        metrics.record(GATHERING_ITEMS, len(batch), self._name)
        try:
            with spans.carrying(GATHERED_CALL.of(self._name), [waiting.span for waiting in batch]):
                return await self._call(items)
        finally:
            metrics.record(GATHERING_CALL, time.perf_counter() - begun, self._name)

    def _is_settled(self, waiting: Waiting[Item, Outcome], answer: Answer[Outcome]) -> bool:
        """Sets the outcome, unless the item is to be asked again: its caller's deadline, less a margin, is not near."""
        loop = asyncio.get_running_loop()
        if isinstance(answer, Exception):
            waiting.outcome.set_exception(answer)
            # Told of, and looked at here: its caller may have gone away.
            waiting.outcome.exception()
        elif not isinstance(answer, Again):
            waiting.outcome.set_result(answer)
        elif loop.time() + waiting.pause > waiting.deadline - self._settings.answer_margin_s:
            waiting.outcome.set_result(answer.refusal)
        else:
            metrics.count(GATHERING_AGAIN, self._name, answer.name)
            return False
        return True

    def _ask_again_later(self, unsettled: Sequence[Waiting[Item, Outcome]]) -> None:
        """Has them asked again in their order, together: of what contends the first still wins.

        Apart, a later one could be judged before there is anything of the first to be judged against.
        """
        together: dict[tuple[Hashable, float], list[Waiting[Item, Outcome]]] = {}
        for waiting in unsettled:
            together.setdefault((waiting.place.tenant, waiting.pause), []).append(waiting)
        for (_, pause), group in together.items():
            asyncio.get_running_loop().call_later(pause, self._ask_again, group)

    def _ask_again(self, group: Sequence[Waiting[Item, Outcome]]) -> None:
        for waiting in group:
            waiting.pause = min(waiting.pause * 2, self._settings.pause_most_s)
            waiting.since = time.perf_counter()
        self._queue.put(group)
        self._send_soon()

    @staticmethod
    def _said(outcome: "asyncio.Future[Outcome | Refusal]") -> Outcome | Refusal | Exception:
        error = outcome.exception()
        assert error is None or isinstance(error, Exception)
        return error or outcome.result()

    def _tell(self, error: Exception) -> None:
        """Not in the driver's words, which may quote the row (semantics §9)."""
        frames = traceback.extract_tb(error.__traceback__)
        raised_at = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        _log.error(f"{self._name} failed", error=type(error).__name__, raised_at=raised_at)
