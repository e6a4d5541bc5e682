"""Time, and names for what is new."""

from typing import Protocol

from authority.domain.references import Instant


class Clock(Protocol):
    """The time. Injected everywhere, so that tests set it."""

    def now(self) -> Instant:
        """The present instant."""
        ...


class Identifiers(Protocol):
    """New ids."""

    def new(self) -> str:
        """A fresh UUID in lowercase text, never returned before."""
        ...
