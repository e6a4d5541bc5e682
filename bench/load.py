"""Makes load by several processes at once, and counts what everybody pays for it."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Final

from bench.client import Order, Setup, Tally, run_client
from bench.cpu import Group, Groups, Used, Window, total
from bench.figures import significant, spread_of
from bench.work import Work

_ENDS_WITHIN_S: Final = 10.0


class LoadFailed(Exception):
    """A client process ended: what it met is on standard error."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round of load."""

    operations: int
    seconds: float
    latencies: Sequence[float]
    """Of each call, in seconds, ascending; none where nobody took them."""
    used: Used

    @property
    def rate(self) -> float:
        """Operations each second."""
        return self.operations / self.seconds

    def percentile_ms(self, percent: float) -> float:
        """The latency that so many percent of the calls did not exceed, in milliseconds."""
        place = min(int(len(self.latencies) * percent / 100), len(self.latencies) - 1)
        return round(self.latencies[place] * 1e3, 2)


class Clients:
    """Processes that make load together."""

    def __init__(self, processes: Sequence[tuple[SpawnProcess, Connection]], groups: Groups) -> None:
        self._processes = processes
        pids = [process.pid for process, _ in processes if process.pid is not None]
        self._groups = {**groups, "clients": Group(pids, len(pids))}

    def run(self, work: Work, concurrent: int) -> Round:
        """Each process does this work, all at once, and `concurrent` is their total. Raises LoadFailed."""
        for _, pipe in self._processes:
            pipe.send(Order(work, max(concurrent // len(self._processes), 1)))
        self._receive()
        window = Window(self._groups)
        for _, pipe in self._processes:
            pipe.send(None)
        tallies = self._receive()
        used = window.end()
        seconds = max(tally.ended for tally in tallies) - min(tally.begun for tally in tallies)
        latencies = sorted(latency for tally in tallies for latency in tally.latencies)
        return Round(sum(tally.operations for tally in tallies), seconds, latencies, used)

    def _receive(self) -> list[Tally]:
        try:
            return [pipe.recv() for _, pipe in self._processes]
        except EOFError:
            raise LoadFailed("a client process ended") from None


@contextlib.contextmanager
def clients(setups: Sequence[Setup], groups: Groups) -> Iterator[Clients]:
    """A process for each setup, connected; all have ended when the block has."""
    context = get_context("spawn")
    processes: list[tuple[SpawnProcess, Connection]] = []
    try:
        for setup in setups:
            ours, theirs = context.Pipe()
            process = context.Process(target=run_client, args=(theirs, setup), daemon=True)
            process.start()
            theirs.close()
            processes.append((process, ours))
        yield Clients(processes, groups)
        for _, pipe in processes:
            pipe.send(None)
    finally:
        for process, pipe in processes:
            pipe.close()
            process.join(_ENDS_WITHIN_S)
            process.kill()
            process.join()


def rate_by_cpu(rounds: Sequence[Round]) -> float:
    """Operations a second that the CPU time of these rounds allows; says most on a machine that others use too."""
    return total([one.used for one in rounds]).rate_by_cpu(sum(one.operations for one in rounds))


def detail_of(rounds: Sequence[Round]) -> dict[str, object]:
    """What there is to say of these rounds, for the detail of a figure."""
    rates = [one.rate for one in rounds]
    percentiles = {
        f"p{percent}_ms": [one.percentile_ms(percent) for one in rounds if one.latencies] for percent in (50, 99)
    }
    return {
        "per_s": [significant(rate) for rate in rates],
        "spread": significant(spread_of(rates)),
        **{name: found for name, found in percentiles.items() if found},
        **total([one.used for one in rounds]).detail(sum(one.operations for one in rounds)),
    }
