"""The authority that tests talk to: started for them, or one that is served already."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self
from uuid import uuid4

from capability_authority.testing.process import ServiceProcess, run_command
from capability_authority.testing.tenants import TenantForTests

__all__ = ["EmbeddedAuthority"]

_MEMORY_NAMESPACE: Final = "memory"
_PRIVILEGED: Final = "controls"
_MOST_AT_ONCE: Final = 16


class EmbeddedAuthority:
    """A real authority with its own PostgreSQL and Valkey, and as many tenants as tests want. Threads may share it."""

    def __init__(self, data: Path, address: str, log: Path | None) -> None:
        self.data: Final = data
        """Its data folder: `authority … --data` finds it there."""
        self.address: Final = address
        """Where it listens, as a gRPC target; empty for one that was not started here."""
        self.log: Final = log
        """What the service logs; None for one that was not started here."""
        self._lock = threading.Lock()
        self._ready: deque[TenantForTests] = deque()
        self._batch = 1

    @classmethod
    @contextmanager
    def started(cls, data: Path) -> Iterator[Self]:
        """One of its own in a new folder, for as long as the block lasts: it starts within some seconds.

        Raises `AuthorityUnavailable`, above all when the service is not installed.
        """
        process = ServiceProcess(data)
        try:
            yield cls(data, process.address, process.log)
        finally:
            process.stop()

    @classmethod
    def served(cls, data: Path) -> Self:
        """The one that `authority serve --data` serves from this folder; it goes on after the tests."""
        return cls(data, "", None)

    def new_tenant(self) -> TenantForTests:
        """A tenant that nobody has used. Close it, or use it as a `with` block. Raises `AuthorityUnavailable`.

        They are made several at a time, since each time takes most of a second.
        """
        with self._lock:
            if not self._ready:
                self._ready.extend(self._made(self._batch))
                self._batch = min(self._batch * 2, _MOST_AT_ONCE)
            return self._ready.popleft()

    def _made(self, count: int) -> list[TenantForTests]:
        names = [f"test-{uuid4()}" for _ in range(count)]
        spaces = ("--namespace", _MEMORY_NAMESPACE, "--privileged", _PRIVILEGED)
        rows = run_command("tenants", "add", *names, *spaces, "--data", str(self.data))
        return [TenantForTests.of(row) for row in rows]
