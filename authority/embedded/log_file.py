"""The log of a server, in its data folder."""

import os
from pathlib import Path
from typing import Final

from authority.embedded.private_files import open_private

_KEPT_BYTES: Final = 8 * 1024 * 1024
_TAIL_LINES: Final = 20


class LogFile:
    """Appended to over all starts; one that has grown beyond 8 MiB is kept as `.1` at the next start."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._start = 0

    def open(self) -> int:
        """A descriptor for a program to write to; what is written from now on counts as its own."""
        if self.path.exists() and self.path.stat().st_size > _KEPT_BYTES:
            self.path.rename(self.path.with_name(self.path.name + ".1"))
        descriptor = open_private(self.path, os.O_WRONLY | os.O_APPEND)
        self._start = os.fstat(descriptor).st_size
        return descriptor

    def written(self) -> str:
        """What has been written since it was last opened, its last 64 KiB at most."""
        with self.path.open("rb") as file:
            file.seek(max(self._start, self.path.stat().st_size - 65_536))
            return file.read().decode("utf-8", errors="replace")

    def tail(self) -> str:
        """The last 20 lines of `written`, for an error message."""
        return "\n".join(self.written().splitlines()[-_TAIL_LINES:]) or "(nothing was logged)"
