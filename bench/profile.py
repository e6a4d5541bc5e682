"""Where the time goes inside the service, seen from outside by py-spy: nothing of it runs differently for that."""

import contextlib
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from bench.figures import Figure, figure_of
from bench.load import Round, detail_of
from bench.stage import Stage

_SAMPLES_A_SECOND: Final = 200
_SHOWN: Final = 40
_BEGINS: Final = "Sampling process"
_ENDS_WITHIN_S: Final = 60.0
_OTHER_THREAD: Final = "Thread._bootstrap ("
"""Where threads of Python begin: gRPC's waits for events in one, which looks like work to whoever samples."""
_ROOM: Final = re.compile(r"\((?:authority|capability_authority)/([a-z]+)")
_ROOT: Final = "Runner.run ("
"""What calls this, the command line, is of no interest."""
_LOOP: Final = "loop, gRPC and drivers, on behalf of nobody named"


class ProfilerUnusable(Exception):
    """The profiler is missing, or may not look into the service. The message says what to do."""


@dataclass(slots=True)
class Profile:
    """How often each function was seen: running itself, and anywhere on the way to what ran."""

    samples: int = 0
    by_self: Counter[str] = field(default_factory=Counter)
    by_below: Counter[str] = field(default_factory=Counter)
    by_room: Counter[str] = field(default_factory=Counter)
    """By the innermost room of ours: what it has done for it below counts for it."""

    def add(self, stack: Sequence[str], seen: int) -> None:
        """Takes in a stack, outermost function first."""
        if any(frame.startswith(_OTHER_THREAD) for frame in stack):
            return
        self.samples += seen
        root = next((place for place, frame in enumerate(stack) if frame.startswith(_ROOT)), 0)
        stack = stack[root:]
        self.by_self[stack[-1]] += seen
        for frame in set(stack[1:]):
            self.by_below[frame] += seen
        rooms = [found.group(1) for frame in stack if (found := _ROOM.search(frame))]
        self.by_room[rooms[-1] if rooms else _LOOP] += seen

    def detail(self) -> dict[str, object]:
        """For the detail of a figure: shares of the time in which the main thread ran."""
        return {
            "samples": self.samples,
            "rooms": self._shares(self.by_room),
            "self": self._shares(self.by_self),
            "below": self._shares(self.by_below),
        }

    def show(self, name: str) -> None:
        """As tables on standard error."""
        console = Console(file=sys.stderr, highlight=False, width=None if sys.stderr.isatty() else 120)
        kinds = (("room", self.by_room), ("function itself", self.by_self), ("function and below", self.by_below))
        for kind, counter in kinds:
            table = Table(f"{name}: {kind}", "share", box=None, pad_edge=False)
            for function, share in self._shares(counter).items():
                table.add_row(function, f"{share:.1%}")
            console.print(table)

    def _shares(self, counter: Counter[str]) -> dict[str, float]:
        return {name: round(seen / self.samples, 4) for name, seen in counter.most_common(_SHOWN)}


def profile_of(name: str, stage: Stage, run: Callable[[], Round], detail: Mapping[str, object]) -> Figure:
    """A figure of the CPU time of the service for each operation, in microseconds, with a profile of the rounds.

    Being looked at costs it a little: figures of rates are measured without. Raises ProfilerUnusable.
    """
    with profiled(stage.service.pid, stage.installation.folder) as profile:
        rounds = [run() for _ in range(stage.options.rounds)]
    profile.show(name)
    spent = [one.used.by_group["service"] / one.operations * 1e6 for one in rounds]
    return figure_of(
        f"{name}_service_cpu_us", spent, {**detail, "profile": profile.detail(), "load": detail_of(rounds)}
    )


@contextlib.contextmanager
def profiled(pid: int, folder: Path) -> Iterator[Profile]:
    """Samples the process and those below it while the block runs; the profile is filled when it has ended.

    Raises ProfilerUnusable.
    """
    program = _program()
    output = folder / "profile.raw"
    sampled = ["--pid", str(pid), "--subprocesses", "--rate", str(_SAMPLES_A_SECOND)]
    written = ["--format", "raw", "--function", "--output", str(output)]
    sampler = subprocess.Popen(
        [program, "record", *sampled, *written], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    profile = Profile()
    try:
        _await_begin(sampler)
        yield profile
        sampler.send_signal(signal.SIGINT)
        sampler.communicate(timeout=_ENDS_WITHIN_S)
    finally:
        sampler.kill()
        sampler.wait()
    for line in output.read_text(encoding="utf-8").splitlines():
        stack, _, seen = line.rpartition(" ")
        profile.add(stack.split(";"), int(seen))
    output.unlink()


def _program() -> str:
    """Beside our interpreter, where the dev lock puts it."""
    beside = Path(sys.executable).parent / "py-spy"
    found = str(beside) if beside.exists() else shutil.which("py-spy")
    if found is None:
        raise ProfilerUnusable("py-spy is not installed: run it by `make profile`, which installs the dev lock")
    return found


def _await_begin(sampler: subprocess.Popen[str]) -> None:
    assert sampler.stdout is not None
    said = []
    for line in sampler.stdout:
        said.append(line)
        if _BEGINS in line:
            return
    raise ProfilerUnusable(f"py-spy cannot look into the service; it may take root, or sudo:\n{''.join(said)}")
