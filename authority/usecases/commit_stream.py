"""Commits what comes on a stream, item by item: each as if it had come alone, and now (semantics §2)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from authority.domain.identity import Caller, RegisteredKey, Right, require, still_valid
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.commit import Commit, CommitAnswer, CommitRequest
from authority.usecases.ports import Registry
from authority.usecases.recheck import known_again
from authority.usecases.shared_reading import SharedReading

CommitItem: TypeAlias = Callable[[CommitRequest | Refusal], Awaitable[CommitAnswer | Refusal]]
"""Commits one item of the stream that it belongs to, as `CommitStream` does."""


@dataclass(frozen=True, slots=True)
class OpenCommitStream:
    """Begins a stream for a caller whose proof has opened it."""

    registry: Registry
    commit: Commit

    async def __call__(self, caller: Caller) -> "CommitStream | Refusal":
        """NOT_ALLOWED for a caller who could commit nothing."""
        read = partial(known_again, self.registry, caller)
        return require(caller, Right.COMMIT) or CommitStream(caller, self.commit, SharedReading(read))


@dataclass(frozen=True, slots=True)
class CommitStream:
    """One stream. Takes any number of items at once."""

    caller: Caller
    commit: Commit
    key_now: SharedReading[RegisteredKey | None]

    async def __call__(self, request: CommitRequest | Refusal) -> CommitAnswer | Refusal:
        """What `Commit` answers; a request that is a refusal already was refused for its shape and stays so.

        CALLER_UNAUTHENTICATED once the key or the principal that opened the stream is revoked, or has expired: they are
        read anew for every item after it came, with the rights that the principal has by then.
        """
        key = await self.key_now()
        if key is None or still_valid(self.caller, self.commit.clock.now()):
            return Refusal(Reason.CALLER_UNAUTHENTICATED)
        if isinstance(request, Refusal):
            return request
        return await self.commit(replace(self.caller, principal=key.principal), request)
