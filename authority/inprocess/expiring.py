"""Values that expire."""

from collections.abc import Hashable
from typing import Generic, TypeVar

from authority.domain.references import Instant, after
from authority.usecases.ports import Clock

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Expiring(Generic[Key, Value]):
    """A dict whose entries live for `life_ms` after they were put, `[put, put + life_ms)` by the clock (case A16)."""

    def __init__(self, clock: Clock, life_ms: int) -> None:
        self._clock = clock
        self._life_ms = life_ms
        self._entries: dict[Key, tuple[Instant, Value]] = {}

    def get(self, key: Key) -> Value | None:
        """The value while it lives."""
        expire, value = self._entries.get(key, (None, None))
        return value if expire is not None and self._clock.now() < expire else None

    def put(self, key: Key, value: Value) -> None:
        """Keeps the value anew, in the place of any other."""
        self._forget_expired()
        self._entries.pop(key, None)
        self._entries[key] = (after(self._clock.now(), self._life_ms), value)

    def drop(self, key: Key) -> None:
        """Forgets the value, if there is one."""
        self._entries.pop(key, None)

    def _forget_expired(self) -> None:
        """Entries stand in the order they were put, and all live equally long: the first that lives ends the search."""
        now = self._clock.now()
        while self._entries:
            oldest = next(iter(self._entries))
            if now < self._entries[oldest][0]:
                return
            del self._entries[oldest]
