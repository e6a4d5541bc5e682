"""A bounded memory of what was found good."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

Mark = TypeVar("Mark")
Value = TypeVar("Value")


class Recent(Generic[Mark]):
    """The marks kept or recalled last, at most `capacity` of them. Safe to share between threads."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._marks: OrderedDict[Mark, None] = OrderedDict()
        self._lock = Lock()

    def recall(self, mark: Mark) -> bool:
        """Whether the mark is remembered, which makes it the last to be forgotten."""
        with self._lock:
            known = mark in self._marks
            if known:
                self._marks.move_to_end(mark)
            return known

    def keep(self, mark: Mark) -> None:
        """Remembers the mark; the one that was used longest ago makes room."""
        with self._lock:
            self._marks[mark] = None
            self._marks.move_to_end(mark)
            if len(self._marks) > self._capacity:
                self._marks.popitem(last=False)


class RecentValues(Generic[Mark, Value]):
    """What was made of the marks kept or found last, at most `capacity` of them. Safe to share between threads."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._values: OrderedDict[Mark, Value] = OrderedDict()
        self._lock = Lock()

    def find(self, mark: Mark) -> Value | None:
        """What was made of the mark, which makes it the last to be forgotten; None when it is not remembered."""
        with self._lock:
            value = self._values.get(mark)
            if value is not None:
                self._values.move_to_end(mark)
            return value

    def keep(self, mark: Mark, value: Value) -> None:
        """Remembers it; the one that was used longest ago makes room."""
        with self._lock:
            self._values[mark] = value
            self._values.move_to_end(mark)
            if len(self._values) > self._capacity:
                self._values.popitem(last=False)
