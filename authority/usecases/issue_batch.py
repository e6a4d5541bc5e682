"""Issues many capabilities in one call: one outcome each, in order (semantics §4)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.identity import Caller
from authority.domain.issuing import judge_caller_of_many
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.issue import Asked, Issue, IssueRequest, Known
from authority.usecases.ports import DependencyUnavailable, IssuedCapability


@dataclass(frozen=True, slots=True)
class IssueBatch:
    """What one item is refused for is its own, a bad caller fails them all; twins are answered one after the other."""

    issue: Issue

    async def __call__(
        self, caller: Caller, requests: Sequence[IssueRequest | Refusal], deadline: float
    ) -> list[IssuedCapability | Refusal] | Refusal:
        """One answer each. A request that is a refusal already was refused for its shape and stays so."""
        by_grant = any(isinstance(one, IssueRequest) and one.grant for one in requests)
        refusal = await self.issue.admit(caller) or (None if by_grant else judge_caller_of_many(caller))
        if refusal:
            return refusal
        read: list[Asked | Refusal] = []
        known: Known = {}
        for one in requests:
            read.append(one if isinstance(one, Refusal) else await self._read(caller, one, known))
            # A thousand receipts take a tenth of a second: other calls go on between two of them.
            await asyncio.sleep(0)
        asked = [one for one in read if isinstance(one, Asked)]
        outcomes = iter(await self.issue.carry_out(asked, deadline) if asked else ())
        return [_told(next(outcomes)) if isinstance(one, Asked) else one for one in read]

    async def _read(self, caller: Caller, request: IssueRequest, known: Known) -> Asked | Refusal:
        asked = self.issue.read(request)
        return asked if isinstance(asked, Refusal) else await self.issue.authorize(caller, asked, known)


def _told(outcome: IssuedCapability | Refusal | Exception) -> IssuedCapability | Refusal:
    if isinstance(outcome, DependencyUnavailable):
        return Refusal(Reason.DEPENDENCY_UNAVAILABLE)
    # The store has told of the defect; its caller learns only that there was one.
    return Refusal(Reason.INTERNAL) if isinstance(outcome, Exception) else outcome
