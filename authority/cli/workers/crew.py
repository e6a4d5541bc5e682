"""Keeps so many workers alive, replaces them one after another, and ends them together."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

import structlog

from authority.cli.workers.order import pulse_every_s
from authority.cli.workers.process import WorkerFailed, WorkerProcess
from authority.config import Settings

_log = structlog.get_logger(__name__)

_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 30.0


@dataclass(slots=True)
class Pauses:
    """How long to wait before a worker that ended by itself is started again. Times are seconds.

    Twice as long each time, up to half a minute; from the beginning again after one that has served for longer than
    that: what ends workers at once must not keep the machine busy, and a rare crash must not cost capacity.
    """

    next_s: float = _FIRST_PAUSE_S

    def after(self, served_s: float) -> float:
        """The pause after one that has served for so long."""
        if served_s > _LONGEST_PAUSE_S:
            self.next_s = _FIRST_PAUSE_S
        pause, self.next_s = self.next_s, min(self.next_s * 2, _LONGEST_PAUSE_S)
        return pause


@dataclass(slots=True)
class _Place:
    """One of the workers that there are to be."""

    worker: WorkerProcess
    changing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by whoever is about to put another worker here."""


class Crew:
    """The workers of one parent."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._started: list[WorkerProcess] = []
        self._places: list[_Place] = []
        self._keeping: list[asyncio.Task[None]] = []

    @property
    def pids(self) -> list[int]:
        """The process ids of those that run now."""
        return [place.worker.pid for place in self._places if place.worker.is_running]

    @property
    def metrics_urls(self) -> dict[str, str]:
        """Where those that serve show their metrics, by their place in the crew: it stays when another takes it."""
        served = {str(number): place.worker.metrics_url for number, place in enumerate(self._places, 1)}
        return {number: url for number, url in served.items() if url}

    async def start(self) -> None:
        """Starts all at once, and returns when each serves or has failed; one that failed is started again from now on.

        Raises WorkerFailed, with what the first of them says, when none serves.
        """
        self._places = [_Place(self._start_one()) for _ in range(self._settings.workers)]
        outcomes = await asyncio.gather(*(_failure(place.worker) for place in self._places))
        failures = [failure for failure in outcomes if failure]
        if len(failures) == len(self._places):
            raise failures[0]
        self._keeping = [asyncio.create_task(self._keep(place)) for place in self._places]
        self._keeping.append(asyncio.create_task(self._watch()))

    async def replace(self) -> None:
        """Another worker for each, one after another: the old one is asked to end when the new one serves.

        The first that does not serve ends it, and the old ones go on.
        """
        for place in self._places:
            async with place.changing:
                try:
                    new = await self._started_serving()
                except WorkerFailed as failure:
                    _log.error("workers not replaced", why=str(failure))
                    return
                old, place.worker = place.worker, new
            await old.end()
        _log.info("workers replaced", workers=self.pids)

    async def end(self) -> None:
        """Ends all in order, at the same time. When that is given up on, `kill` ends the rest."""
        await self._keep_no_longer()
        await asyncio.gather(*(worker.end() for worker in self._started))

    async def kill(self) -> None:
        """Ends whatever still runs, at once."""
        await self._keep_no_longer()
        await asyncio.gather(*(worker.kill() for worker in self._started))

    async def _keep(self, place: _Place) -> None:
        pauses = Pauses()
        while True:
            worker = place.worker
            await worker.ended()
            if place.worker is not worker:
                continue  # It was replaced.
            pause = pauses.after(worker.served_s)
            _log.warning("worker ended", worker=worker.pid, why=worker.outcome, again_in_s=pause)
            await asyncio.sleep(pause)
            async with place.changing:
                if place.worker is worker:
                    await self._fill(place)

    async def _watch(self) -> None:
        """Kills whoever hangs: serves nobody, and would not end by itself either. Another takes its place as ever."""
        hang_s = self._settings.hang_s
        every_s = pulse_every_s(hang_s)
        while True:
            await asyncio.sleep(every_s)
            for worker in self._started:
                if worker.is_running and worker.look() * every_s > hang_s:
                    _log.error("worker hangs", worker=worker.pid, silent_s=hang_s)
                    worker.put_to_death()

    async def _fill(self, place: _Place) -> None:
        """Puts another worker in the place of one that has ended; why one does not serve is told when it has ended."""
        try:
            place.worker = self._start_one()
        except WorkerFailed as failure:
            _log.warning("worker not started", why=str(failure))
            return
        await _failure(place.worker)

    async def _started_serving(self) -> WorkerProcess:
        worker = self._start_one()
        await worker.serving()
        return worker

    def _start_one(self) -> WorkerProcess:
        self._started = [worker for worker in self._started if worker.is_running]
        worker = WorkerProcess.start(self._settings)
        self._started.append(worker)
        return worker

    async def _keep_no_longer(self) -> None:
        for task in self._keeping:
            task.cancel()
        await asyncio.gather(*self._keeping, return_exceptions=True)


async def _failure(worker: WorkerProcess) -> WorkerFailed | None:
    """What keeps the worker from serving; None as soon as it serves."""
    try:
        await worker.serving()
    except WorkerFailed as failure:
        return failure
    return None


@contextlib.asynccontextmanager
async def crew_of(settings: Settings) -> AsyncIterator[Crew]:
    """A crew to start. It is ended in order when the block ends well, and at once when an exception leaves it."""
    crew = Crew(settings)
    try:
        yield crew
        await crew.end()
    finally:
        await crew.kill()
