"""CPU seconds by group of processes, from /proc: who paid for what was measured (proc_pid_stat(5), proc_stat(5))."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from authority.embedded import process_table

_PROC: Final = Path("/proc")
_PROCESSORS: Final = os.cpu_count() or 1
_TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")
_TIMES: Final = slice(11, 15)
"""User and system time of a process, and of its children that ended and were waited for, after the name's bracket."""
_IDLE: Final = (3, 4)
"""Idle and waiting for the disk, in the first line of /proc/stat."""


@dataclass(frozen=True, slots=True)
class Group:
    """Processes that are counted together, with all below them. `most` is how many processors they can keep busy."""

    pids: Sequence[int]
    most: int = _PROCESSORS


Groups: TypeAlias = Mapping[str, Group]
"""By name."""


@dataclass(frozen=True, slots=True)
class Used:
    """What was used in a window of time."""

    wall_s: float
    by_group: Mapping[str, float]
    """CPU seconds."""
    others_s: float
    """CPU seconds of everything else on this machine: what disturbed the measurement."""
    most: Mapping[str, int]
    """How many processors a group can keep busy."""

    def rate_by_cpu(self, operations: int) -> float:
        """Operations a second that this CPU time allows, were nothing else on the machine and nothing ever waited.

        Either one group has no more processors that it could use, or all together have used up the machine.
        """
        busiest = max(seconds / self.most[name] for name, seconds in self.by_group.items())
        return operations / max(busiest, sum(self.by_group.values()) / _PROCESSORS, 1 / _TICKS_A_SECOND)

    def detail(self, operations: int) -> dict[str, object]:
        """For the detail of a figure."""
        return {
            "wall_s": round(self.wall_s, 2),
            "cpu_us_each": {name: round(used / operations * 1e6, 1) for name, used in self.by_group.items()},
            "per_s_by_cpu": round(self.rate_by_cpu(operations), 1),
            "cpu_others_s": round(self.others_s, 2),
        }


class Window:
    """A window that begins when it is made. Processes that begin in it count from their beginning."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._begun = time.monotonic()
        self._before, self._busy = _seconds_of(groups), _machine_seconds()

    def end(self) -> Used:
        """What was used since."""
        wall, after, busy = time.monotonic() - self._begun, _seconds_of(self._groups), _machine_seconds()
        used = {name: max(after[name] - self._before[name], 0.0) for name in after}
        others = max(busy - self._busy - sum(used.values()), 0.0)
        return Used(wall, used, others, {name: group.most for name, group in self._groups.items()})


def total(windows: Sequence[Used]) -> Used:
    """Several windows as one."""
    names = windows[0].by_group
    return Used(
        sum(used.wall_s for used in windows),
        {name: sum(used.by_group[name] for used in windows) for name in names},
        sum(used.others_s for used in windows),
        windows[0].most,
    )


def _seconds_of(groups: Groups) -> dict[str, float]:
    return {name: sum(map(_family_seconds, group.pids)) for name, group in groups.items()}


def _family_seconds(pid: int) -> float:
    return sum(_process_seconds(one) for one in (pid, *process_table.descendants(pid)))


def _process_seconds(pid: int) -> float:
    """With what its ended children used: a server's connections come and go."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    fields = text[text.rindex(")") + 2 :].split()
    return sum(map(int, fields[_TIMES])) / _TICKS_A_SECOND


def _machine_seconds() -> float:
    """CPU seconds that all processors together were busy since boot, guests' time counted once."""
    ticks = [int(field) for field in (_PROC / "stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]]
    return sum(count for place, count in enumerate(ticks) if place not in _IDLE) / _TICKS_A_SECOND
