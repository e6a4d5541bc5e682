"""How Redis is, as this process last met it."""

from dataclasses import dataclass, replace

from redis.exceptions import ResponseError

from authority.domain.references import Instant


@dataclass(frozen=True, slots=True)
class RedisHealth:
    """Whether Redis is used or left alone, and how often it failed.

    `reason` is the class of the fault, or the error word that the server sent, never text with names or values in it;
    empty while available. `since` is when `available` last changed.
    """

    available: bool
    reason: str
    since: Instant
    failures: int = 0
    """Round trips that failed since the start."""
    unanswered: int = 0
    """Commands that were answered without Redis since the start."""

    def failed(self, reason: str, now: Instant) -> "RedisHealth":
        """After one more failure."""
        since = now if self.available else self.since
        return replace(self, available=False, reason=reason, since=since, failures=self.failures + 1)

    def recovered(self, now: Instant) -> "RedisHealth":
        """After Redis took a write again."""
        return replace(self, available=True, reason="", since=now)

    def without_answer(self, commands: int) -> "RedisHealth":
        """After so many commands more were answered without Redis."""
        return replace(self, unanswered=self.unanswered + commands)


def reason_of(fault: BaseException) -> str:
    """What may be told of a fault: its class, or the server's error word where redis-py has no class for it."""
    if type(fault) is ResponseError:
        word = str(fault).partition(" ")[0]
        if word.isalpha() and word.isupper():
            return word
    return type(fault).__name__
