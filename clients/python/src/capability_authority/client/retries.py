"""Tries a call again, with the same key, until it succeeds or its time is up."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from capability_authority.client.failures import AuthorityError

__all__ = ["RetryPolicy", "with_retries"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How patiently a call is tried again. Times are seconds.

    Tried again are UNAVAILABLE, ABORTED, whatever carries RetryInfo, and an attempt that ran out of its own time: the
    outcome is then unknown and the same key finds it out. Every other refusal is final at once.
    """

    attempts: int = 5
    """How often a call is sent at most; 1 tries nothing again."""
    first_delay: float = 0.1
    """The longest wait before the second attempt; it doubles with every further one."""
    longest_delay: float = 2.0
    """The longest wait of our own choice. What RetryInfo asks for is waited on top."""
    attempt_share: float = 0.5
    """The part of the call's timeout that a single attempt may take."""
    random: Callable[[], float] = random.random
    """A number in [0, 1): callers that failed together must not come back together."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        """Raises `ValueError` for a policy that could never send anything."""
        if self.attempts < 1 or not 0 < self.attempt_share <= 1 or min(self.first_delay, self.longest_delay) < 0:
            raise ValueError(f"a policy needs at least one attempt, a share in (0, 1] and no negative delay: {self}")

    def delay_after(self, attempt: int, asked: float | None) -> float:
        """How long to wait after attempt number `attempt` (from 1); `asked` is what RetryInfo says."""
        # Doubling stops long before a float could overflow.
        longest = min(self.longest_delay, self.first_delay * 2.0 ** min(attempt - 1, 64))
        return (asked or 0.0) + self.random() * longest


async def with_retries(attempt: Callable[[float], Awaitable[T]], *, timeout: float, policy: RetryPolicy) -> T:  # noqa: ASYNC109  # gRPC ends each attempt
    """The first success of `attempt`, which is given the seconds that it may take.

    Raises `ValueError` unless `timeout` is positive, and the `AuthorityError` of the last attempt: when it is final,
    when there were enough, or when waiting would take longer than `timeout` allows.
    """
    if not timeout > 0:
        raise ValueError(f"a timeout is a positive number of seconds, not {timeout}")
    deadline, in_doubt, number = policy.clock() + timeout, False, 0
    while True:
        number += 1
        try:
            return await attempt(min(timeout * policy.attempt_share, deadline - policy.clock()))
        except AuthorityError as error:
            failed = error.after(number, in_doubt=in_doubt)
        delay = policy.delay_after(number, failed.failure.retry_delay)
        if not failed.retryable or number >= policy.attempts or policy.clock() + delay >= deadline:
            raise failed
        in_doubt = failed.outcome_unknown
        await policy.sleep(delay)
        if policy.clock() >= deadline:
            raise failed
