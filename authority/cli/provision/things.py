"""What a look at the authority finds of a set-up document, thing by thing."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

Make: TypeAlias = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One thing that the document asks for: there, to be made, or there otherwise."""

    tenant: str = ""
    """Empty for what belongs to none."""
    what: str
    name: str
    make: Make | None = None
    """Makes it; None when it is there."""
    differences: tuple[str, ...] = ()
    """How what is there differs, as sentences for the operator, each with its remedy. No tenant is changed then."""
