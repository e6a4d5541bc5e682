"""A refusal is a value."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from authority.domain.reasons import Reason


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call is refused and what the caller may know of it.

    `facts` reach the caller as ErrorInfo metadata; they name fields, terms and ids and never hold content or keys.
    """

    reason: Reason
    facts: Mapping[str, str] = field(default_factory=dict)


def malformed(path: str, problem: str) -> Refusal:
    """The field at `path` (proto field names joined by dots) is not what the contract allows."""
    return Refusal(Reason.MALFORMED, {"field": path, "problem": problem})


def over_limit(path: str, limit: str) -> Refusal:
    """The field at `path` is larger than `limit` allows (semantics §10)."""
    return Refusal(Reason.LIMIT_EXCEEDED, {"field": path, "problem": f"at most {limit}"})


def binding_mismatch(term: str) -> Refusal:
    """The bound `term`, a field name of CommitCapability, differs from what is presented or stored."""
    return Refusal(Reason.BINDING_MISMATCH, {"term": term})


def highest(refusals: Iterable[Refusal | None]) -> Refusal | None:
    """The refusal that answers where several apply; among equals the first given."""
    return min((refusal for refusal in refusals if refusal), key=lambda refusal: refusal.reason.rank, default=None)
