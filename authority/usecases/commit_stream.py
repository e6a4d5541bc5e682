"""Commits what comes on a stream, item by item: each as if it had come alone, and now (semantics §2)."""

from dataclasses import dataclass, replace

from authority.domain.identity import Caller, Right, require
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.commit import Commit, CommitAnswer, CommitRequest
from authority.usecases.ports import Registry


@dataclass(frozen=True, slots=True)
class CommitStream:
    """`open` judges who may stream at all, once; the call itself commits one item, any number of them at once."""

    registry: Registry
    commit: Commit

    async def open(self, caller: Caller) -> Refusal | None:
        """NOT_ALLOWED for a caller who could commit nothing."""
        return require(caller, Right.COMMIT)

    async def __call__(self, caller: Caller, request: CommitRequest | Refusal) -> CommitAnswer | Refusal:
        """What `Commit` answers; a request that is a refusal already was refused for its shape and stays so.

        CALLER_UNAUTHENTICATED once the key or the principal that opened the stream is revoked: they are read anew for
        every item, with the rights that the principal has by then. Items that wait share the reading.
        """
        key = await self.registry.active_key(caller.tenant, caller.ref, caller.key_id)
        if key is None:
            return Refusal(Reason.CALLER_UNAUTHENTICATED)
        if isinstance(request, Refusal):
            return request
        return await self.commit(replace(caller, principal=key.principal), request)
