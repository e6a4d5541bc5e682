"""Commits by group: many plans in a call, to the one function that decides (semantics §5)."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field

from authority.domain.plan import CommitOutcome, CommitPlan
from authority.postgres.commit_call import CommitCall
from authority.postgres.connections import Database
from authority.postgres.fair_queue import Place
from authority.postgres.gathering import Gathering, GatheringSettings
from authority.usecases.ports import Clock

_PLAN_BYTES = 1_024
"""About what a plan holds beside its receipt. The content of memory never waits here."""


@dataclass(frozen=True, slots=True)
class CommitterSettings:
    """`source` names this authority in events; a clock farther than the bound from the database's judges nothing."""

    source: str
    clock_bound_ms: int = 5_000
    gathering: GatheringSettings = field(default_factory=GatheringSettings)


class PostgresCommitter:
    """Implements `ports.Committer`. Carries no timeout: what is sent is finished, whoever waits for it.

    A plan is the same every time it is asked, with the same ids and receipt bytes: if an earlier ask succeeded unheard,
    its receipt is found under the claim (case C01).
    """

    def __init__(self, database: Database, clock: Clock, settings: CommitterSettings) -> None:
        call = CommitCall(database, clock, settings.source, dt.timedelta(milliseconds=settings.clock_bound_ms))
        self._plans: Gathering[CommitPlan, CommitOutcome] = Gathering("commit", call.ask, _place, settings.gathering)

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        """The plan's outcome; raises only for what is a defect of ours."""
        return await self._plans.ask(plan, deadline)

    async def commit_together(self, plans: Sequence[CommitPlan], deadline: float) -> list[CommitOutcome | Exception]:
        """One outcome each, in order; the plans are of one tenant. Of those that contend the first wins.

        A defect of ours that one of them meets stands in its place.
        """
        return await self._plans.ask_together(plans, deadline)

    async def close(self) -> None:
        """Waits for every plan that was taken in."""
        await self._plans.close()


def _place(plan: CommitPlan) -> Place:
    claim = plan.claim
    key = (claim.tenant, claim.holder, claim.idempotency_key)
    return Place(claim.tenant, key, _PLAN_BYTES + (len(plan.receipt.payload) if plan.receipt else 0))
