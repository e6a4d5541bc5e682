"""What is known of a call that failed, and the exception that says it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import ClassVar, Final, Self

import grpc

__all__ = ["AuthorityError", "Failure"]

_SHOWN_CHARACTERS: Final = 240
_WORTH_ANOTHER_TRY: Final = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        # By a server that stops: a call that its own caller cancelled raises CancelledError and never comes here.
        grpc.StatusCode.CANCELLED,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What is known of a call that failed."""

    rpc: str
    """The RPC's short name, "CommitValidated"."""
    sentence: str
    """What went wrong: a fixed sentence of the authority, or the words of the transport."""
    code: grpc.StatusCode | None = None
    """None when the call itself succeeded but its answer is not believed."""
    reason: str = ""
    """The name of an ErrorReason without its prefix; empty when the authority itself said nothing."""
    metadata: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What the refusal names: `term`, `field`, `problem`, `differs`, `receipt_id`, …"""
    retry_delay: float | None = None
    """How long the authority asks to wait before another try, in seconds."""
    key_field: str = ""
    """For a mutation: the request field that makes another try the same request."""
    key: str = ""
    """Its value in this call."""
    attempts: int = 1
    """How often the call was sent."""
    outcome_unknown: bool = False
    """Whether the mutation may have happened all the same."""

    def saying(self, sentence: str) -> "Failure":
        """The same failure in other words."""
        return replace(self, sentence=sentence)


class AuthorityError(Exception):
    """A call that did not succeed. `str` says what was expected, what was presented, and whether to try again."""

    settles: ClassVar[bool] = False
    """Whether such an answer proves that earlier attempts with the same key did not succeed either."""
    leaves_doubt: ClassVar[bool] = False
    """Whether the mutation may happen, or have happened, after such an answer."""
    remedy: ClassVar[str] = ""
    """What the caller can do, where the reason alone tells."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure

    @property
    def reason(self) -> str:
        """The name of an ErrorReason without its prefix, such as "EXPIRED"; empty when the transport failed."""
        return self.failure.reason

    @property
    def code(self) -> grpc.StatusCode | None:
        """The status code; None when the call succeeded but its answer is not believed."""
        return self.failure.code

    @property
    def metadata(self) -> Mapping[str, str]:
        """What the refusal names, by name: ids, fields and terms, never content or keys."""
        return self.failure.metadata

    @property
    def message(self) -> str:
        """The authority's fixed sentence, or the words of the transport."""
        return self.failure.sentence

    @property
    def retryable(self) -> bool:
        """Whether the same request, with the same key, may succeed later. The client has tried that already."""
        return self.code in _WORTH_ANOTHER_TRY or self.failure.retry_delay is not None

    @property
    def outcome_unknown(self) -> bool:
        """Whether the mutation may have happened: asking again with the same `key` gives its result."""
        return self.failure.outcome_unknown

    @property
    def key(self) -> str:
        """The idempotency key or request id of a mutation, also when the client made it; empty for a read."""
        return self.failure.key

    @property
    def attempts(self) -> int:
        """How often the call was sent."""
        return self.failure.attempts

    def after(self, attempts: int, *, in_doubt: bool) -> Self:
        """The same failure as the last of so many attempts; `in_doubt` when an earlier one may have succeeded."""
        unknown = bool(self.failure.key_field) and (self.leaves_doubt or (in_doubt and not self.settles))
        return type(self)(replace(self.failure, attempts=attempts, outcome_unknown=unknown))

    def specifics(self) -> str:
        """What is particular to this refusal, in words."""
        return ", ".join(f"{name}: {shown(value)}" for name, value in sorted(self.metadata.items()))

    def __repr__(self) -> str:
        """Its sentence: batches and streams give such exceptions as values, which people print in lists."""
        return f"{type(self).__name__}({str(self)!r})"

    def __str__(self) -> str:
        failure = self.failure
        tried = f" after {failure.attempts} attempts" if failure.attempts > 1 else ""
        head = f"{failure.rpc}{tried}: {shown(failure.sentence)}"
        if failure.reason:
            head += f" ({shown(failure.reason)})"
        return "; ".join(part for part in (head, self.specifics(), self._advice()) if part)

    def _advice(self) -> str:
        failure = self.failure
        same = f"call again with the same {failure.key_field} {failure.key}" if failure.key_field else "call again"
        same = same.rstrip()
        if self.outcome_unknown:
            what = "commit" if failure.rpc.endswith("CommitValidated") else "change"
            return f"the {what} may have happened: {same}, which gives its result and repeats nothing"
        return self.remedy or (f"{same} later" if self.retryable else "")


def shown(text: str) -> str:
    """`text` fit for one line of a log: escaped, and cut short."""
    escaped = text[:_SHOWN_CHARACTERS].encode("unicode_escape").decode("ascii")
    return escaped if len(text) <= _SHOWN_CHARACTERS else f"{escaped}…"
