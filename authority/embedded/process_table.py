"""What Linux tells in /proc about any process, ours or not. A zombie counts as ended: it holds nothing any more."""

from pathlib import Path

_PROC = Path("/proc")
_STATE, _PARENT, _START_TIME = 0, 1, 19
"""Positions in /proc/PID/stat after the parenthesised name (proc_pid_stat(5))."""


def _stat(pid: int) -> list[str] | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(")") + 2 :].split()
    return None if fields[_STATE] in "ZX" else fields


def start_time(pid: int) -> int | None:
    """When a living process began, in clock ticks since boot (None: it has ended). With the pid it is an identity."""
    fields = _stat(pid)
    return None if fields is None else int(fields[_START_TIME])


def has_entry(pid: int) -> bool:
    """Whether the pid is taken, be it by a zombie."""
    return (_PROC / str(pid)).exists()


def has_ended(pid: int) -> bool:
    """Whether no process of this id lives."""
    return _stat(pid) is None


def is_stopped(pid: int) -> bool:
    """Whether the process is stopped by SIGSTOP, or has ended."""
    fields = _stat(pid)
    return fields is None or fields[_STATE] == "T"


def works_in(pid: int, folder: Path) -> bool:
    """Whether a living process has this current folder, as far as we may see."""
    try:
        return start_time(pid) is not None and (_PROC / str(pid) / "cwd").samefile(folder)
    except OSError:
        return False


def descendants(pid: int) -> list[int]:
    """The living processes below one, parents before children."""
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        fields = _stat(int(entry.name)) if entry.name.isdecimal() else None
        if fields is not None:
            children.setdefault(int(fields[_PARENT]), []).append(int(entry.name))
    found = list(children.get(pid, []))
    for process in found:  # Grows while it is walked.
        found.extend(children.get(process, []))
    return found
