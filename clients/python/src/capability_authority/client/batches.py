"""Many requests in few calls: divided by the limits of a batch, asked again one by one, answered in their order."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import grpc
from google.protobuf.message import Message

from capability_authority.client.errors import DeadlineExceeded, TransportError
from capability_authority.client.failures import AuthorityError
from capability_authority.client.retries import RetryPolicy, with_retries
from capability_authority.client.statuses import KeyedCall, failure_in

__all__ = ["BATCH_BYTES", "BATCH_ITEMS", "Ask", "BatchItem", "divided", "settle"]

BATCH_ITEMS: Final = 512
BATCH_BYTES: Final = 3 * 1024 * 1024
"""The most that the authority takes in one call (semantics §10)."""
_VARINT_BITS: Final = 7
_LEAST_S: Final = 0.01
"""A call that is sent with less time left cannot be answered, and would only leave a doubt."""


@dataclass(slots=True)
class BatchItem:
    """One request of a batch, and what has become of it so far."""

    call: KeyedCall
    """What a failure of this item is told as: the batch's RPC with the item's own key."""
    request: Message
    answer: Message | AuthorityError | None = None
    attempts: int = 0

    @property
    def is_open(self) -> bool:
        """Whether asking once more may give another answer."""
        return self.answer is None or (isinstance(self.answer, AuthorityError) and self.answer.retryable)

    @property
    def bytes_in_batch(self) -> int:
        """What the request adds to the size of a batch: a tag of one byte, its length, itself."""
        size = self.request.ByteSize()
        return 1 + max(1, -(-size.bit_length() // _VARINT_BITS)) + size

    def take(self, outcome: Message) -> None:
        """Note the outcome of an attempt: `result`, or `status`."""
        which = outcome.WhichOneof("outcome")
        if which == "result":
            self.attempts += 1
            self.answer = outcome.result  # type: ignore[attr-defined]
        elif which == "status" and outcome.status.code:  # type: ignore[attr-defined]
            self.fail(failure_in(self.call, outcome.status))  # type: ignore[attr-defined]
        else:
            self.fail(TransportError(self.call.failure(None, "the answer holds neither a result nor a refusal")))

    def fail(self, error: AuthorityError) -> None:
        """Note that an attempt failed, this item's own or the whole call's."""
        self.attempts += 1
        in_doubt = isinstance(self.answer, AuthorityError) and self.answer.outcome_unknown
        self.answer = self.call.told(error).after(self.attempts, in_doubt=in_doubt)


Ask = Callable[[Sequence[BatchItem], float], Awaitable[Sequence[Message]]]
"""Sends the items in one call, which may take so many seconds: one outcome each, in order. Raises `AuthorityError`."""


def divided(items: Sequence[BatchItem]) -> Iterator[Sequence[BatchItem]]:
    """The items in their order, in parts that each fit one call; one that fits none goes alone, to be refused alone."""
    start, size = 0, 0
    for index, item in enumerate(items):
        more = item.bytes_in_batch
        if index > start and (index - start == BATCH_ITEMS or size + more > BATCH_BYTES):
            yield items[start:index]
            start, size = index, 0
        size += more
    if items:
        yield items[start:]


async def settle(part: Sequence[BatchItem], ask: Ask, *, seconds: float, policy: RetryPolicy) -> None:
    """Ask for the items of one call until each has its final answer, or enough was tried, or the time is up.

    A call that fails is tried again as one, with the same bytes; after one that is answered only those items are asked
    for again whose own status says that it may help, and the wait is the longest that any of them asks for.
    """
    if seconds < _LEAST_S:
        for item in part:
            sentence = "not sent: the time for the whole batch ran out before"
            item.answer = DeadlineExceeded(item.call.failure(grpc.StatusCode.DEADLINE_EXCEEDED, sentence))
        return

    async def attempt(allowed: float) -> None:
        await _ask_once([item for item in part if item.is_open], ask, allowed)

    try:
        await with_retries(attempt, timeout=seconds, policy=policy)
    except AuthorityError:
        # Each item has been told already, by its own key.
        return


async def _ask_once(items: Sequence[BatchItem], ask: Ask, seconds: float) -> None:
    """Raises the failure that has most to wait for, if anything is worth another attempt."""
    try:
        outcomes = await ask(items, seconds)
    except AuthorityError as error:
        for item in items:
            item.fail(error)
        raise
    for item, outcome in zip(items, outcomes, strict=True):
        item.take(outcome)
    later = [item.answer for item in items if item.is_open and isinstance(item.answer, AuthorityError)]
    if later:
        raise max(later, key=lambda error: error.failure.retry_delay or 0.0)
