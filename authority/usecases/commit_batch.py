"""Commits many validated memories in one call: one outcome each, in order (semantics §5)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.capability import OpenedCapability
from authority.domain.identity import Caller, Right, require
from authority.domain.plan import CommitOutcome
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.commit import Commit, CommitAnswer, CommitRequest, Prepared


@dataclass(frozen=True, slots=True)
class CommitBatch:
    """What one item is refused for is its own, a bad caller fails them all; of items that contend the first wins."""

    commit: Commit

    async def __call__(
        self, caller: Caller, requests: Sequence[CommitRequest | Refusal], deadline: float
    ) -> list[CommitAnswer | Refusal] | Refusal:
        """One answer each. A request that is a refusal already was refused for its shape and stays so."""
        refusal = await self.commit.admit(caller) or require(caller, Right.COMMIT)
        if refusal:
            return refusal
        # Read only once the caller may commit: three mebibytes of intricate JSON cost a second to judge.
        read = [one if isinstance(one, Refusal) else await self.commit.read(one) for one in requests]
        prepared = await asyncio.gather(*map(self._prepare, [caller] * len(read), read, requests))
        ready = [one for one in prepared if isinstance(one, Prepared)]
        outcomes = iter(await self.commit.carry_out(ready, deadline))
        return [self._conclude(one, next(outcomes)) if isinstance(one, Prepared) else one for one in prepared]

    def _conclude(self, ready: Prepared, outcome: CommitOutcome | Exception) -> CommitAnswer | Refusal:
        if isinstance(outcome, Exception):
            # The committer has told of the defect; its caller learns only that there was one.
            return Refusal(Reason.INTERNAL)
        return self.commit.conclude(ready, outcome)

    async def _prepare(
        self, caller: Caller, capability: OpenedCapability | Refusal, request: CommitRequest | Refusal
    ) -> Prepared | CommitAnswer | Refusal:
        if isinstance(capability, Refusal) or isinstance(request, Refusal):
            return capability if isinstance(capability, Refusal) else Refusal(Reason.MALFORMED)
        return await self.commit.prepare(caller, capability, request)
