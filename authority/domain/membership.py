"""Who may see what: visibility is access control from live membership (semantics §8)."""

from dataclasses import dataclass

from authority.domain.proposal import Visibility
from authority.domain.references import PrincipalRef

SCOPED = (Visibility.CHANNEL, Visibility.TEAM)
"""What needs an id beside it: which channel, which team. Both are sets of principals that operators keep."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A channel or a team of a tenant. One that has no member is one that nobody heard of."""

    kind: Visibility
    """CHANNEL or TEAM."""
    id: str

    def __str__(self) -> str:
        return f"{self.kind.value}:{self.id}"


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads, with the channels and teams that it is a live member of. Of a principal that is none there is none."""

    ref: PrincipalRef
    scopes: frozenset[Scope] = frozenset()

    def is_shown(self, visibility: Visibility, scope: str, proposer: PrincipalRef) -> bool:
        """Whether this visibility includes the reader now.

        Private is the proposer's alone, workspace everybody's. Channel and team are their members', the proposer too
        only while it is one: unknown shows nothing.
        """
        if visibility in SCOPED:
            return Scope(visibility, scope) in self.scopes
        return visibility is Visibility.WORKSPACE or proposer == self.ref


def scope_problem(visibility: Visibility, scope: str) -> str:
    """What is wrong with this scope for this visibility; empty for nothing."""
    if visibility in SCOPED:
        return "" if scope else f"required: which {visibility.value}"
    return f"a {visibility.value} record has none" if scope else ""
