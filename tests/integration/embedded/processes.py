"""Other processes: one that runs the embedded servers, and whether processes have ended."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import authority
from authority.embedded import process_table

REPOSITORY = Path(authority.__file__).parents[1]
SCRIPT = Path(__file__).with_name("supervising_process.py")


@dataclass(frozen=True)
class SupervisingProcess:
    """A Python process that runs both servers until its standard input ends or Ctrl-C comes."""

    popen: "subprocess.Popen[str]"
    postgres_url: str
    redis_url: str
    postgres_pid: int
    valkey_pid: int


def python_environment(*before: Path) -> dict[str, str]:
    """As bare as `env -i` with a home, a path and a locale."""
    path = os.pathsep.join(map(str, [*before, REPOSITORY]))
    return {"HOME": os.environ.get("HOME", "/"), "PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONPATH": path}


@contextmanager
def supervising_process(
    data: Path,
    *,
    environment: Mapping[str, str] | None = None,
    python: tuple[str, ...] = (sys.executable,),
    script: Path = SCRIPT,
    user: int | None = None,
) -> Iterator[SupervisingProcess]:
    """Run such a process in a session of its own; it is killed at the end, and its servers end with it."""
    with subprocess.Popen(
        [*python, str(script), str(data)],
        env=environment or python_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    ) as popen:
        try:
            assert popen.stdout is not None
            other = SupervisingProcess(popen, **json.loads(popen.stdout.readline()))
            with watched(other.postgres_pid, other.valkey_pid) as servers:
                try:
                    yield other
                finally:
                    popen.kill()
                    _let_go_on(servers)
                    assert have_ended(servers, 30)
        finally:
            popen.kill()


@contextmanager
def watched(*pids: int) -> Iterator[list[int]]:
    """Descriptors of living processes that tell of their end, even when a pid is used again."""
    descriptors = [os.pidfd_open(pid) for pid in pids]
    try:
        yield descriptors
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


@contextmanager
def watched_family(pid: int) -> Iterator[list[int]]:
    """Descriptors of a process and of what lives below it; what ends while this looks has ended, and is left out."""
    descriptors = [os.pidfd_open(pid)]
    try:
        for descendant in process_table.descendants(pid):
            with suppress(ProcessLookupError):
                descriptors.append(os.pidfd_open(descendant))
        yield descriptors
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def have_ended(descriptors: list[int], seconds: float) -> bool:
    """Whether all of these processes end within so many seconds, each."""
    for descriptor in descriptors:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if not poll.poll(seconds * 1000):
            return False
    return True


def _let_go_on(descriptors: list[int]) -> None:
    """A test that failed may have left servers stopped, for ever without their parent."""
    for descriptor in descriptors:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGCONT)


def user_of(pid: int) -> int:
    """The effective user id of a process."""
    return Path(f"/proc/{pid}").stat().st_uid


def program_of(pid: int) -> Path:
    """The file that a process executes."""
    return Path(f"/proc/{pid}/exe").readlink()


def status_of(pid: int) -> dict[str, str]:
    """What the kernel tells of a process (proc_pid_status(5))."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return {name: value.strip() for name, value in (line.split(":", 1) for line in lines)}
