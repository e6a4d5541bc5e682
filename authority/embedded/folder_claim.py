"""Only one server at a time may use a data folder, and it may only once the last process of the one before has gone."""

import contextlib
import fcntl
import os
import time
from pathlib import Path
from typing import Final

from authority.embedded import process_table
from authority.embedded.errors import FolderInUse
from authority.embedded.private_files import open_private

_PATIENCE_SECONDS: Final = 20.0
"""How long a server whose supervisor has ended may take to stop; its own orderly stop takes far less."""
_POLL_SECONDS: Final = 0.02


class FolderClaim:
    """A lock file whose open descriptor the server and all its children inherit.

    The kernel frees it when the last of them has gone, whatever ended them: no pid is ever trusted, be it stale, used
    again by another process, or a zombie's. The pid written in it only tells whom to name.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self._path = path
        self._folder = folder
        self._descriptor: int | None = None

    @property
    def descriptor(self) -> int:
        """For the server to inherit."""
        assert self._descriptor is not None
        return self._descriptor

    def take(self) -> None:
        """Claim the folder, waiting for a server that is still stopping because its supervisor has ended.

        Raises:
            FolderInUse: Its supervisor lives, or the server has not stopped in time.
        """
        if self._descriptor is None:
            self._take(wait_for_living=False)

    def renew(self) -> None:
        """Return when no process of the server is left; the claim is still ours then."""
        self.release()
        self._take(wait_for_living=True)

    def release(self) -> None:
        """Give the folder up, as far as we hold it: a server that still runs keeps its own hold."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _take(self, *, wait_for_living: bool) -> None:
        descriptor = open_private(self._path, os.O_RDWR)
        try:
            self._lock(descriptor, wait_for_living=wait_for_living)
            _write_holder(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def _lock(self, descriptor: int, *, wait_for_living: bool) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not _try_to_lock(descriptor):
            holder = _read_holder(descriptor)
            if time.monotonic() > deadline or (holder is not None and not wait_for_living):
                raise FolderInUse(self._refusal(holder))
            time.sleep(_POLL_SECONDS)

    def _refusal(self, holder: int | None) -> str:
        if holder is None:
            return (
                f"{self._folder} is still in use by a server whose supervisor has ended; "
                f"end the processes that have {self._path} open, or choose another data folder"
            )
        return f"{self._folder} is in use by process {holder}; stop that process first, or choose another data folder"


def _try_to_lock(descriptor: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _write_holder(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()} {process_table.start_time(os.getpid())}\n".encode(), 0)


def _read_holder(descriptor: int) -> int | None:
    """The supervisor that holds the folder; None when it has ended, or has just begun."""
    words = os.pread(descriptor, 100, 0).split()
    if len(words) != 2:  # noqa: PLR2004 - pid and start time
        return None
    pid, start_time = (int(word) for word in words)
    return pid if process_table.start_time(pid) == start_time else None
