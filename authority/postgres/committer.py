"""Commits by group: many plans in a call, to the one function that decides (semantics §5)."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field

from authority.domain.plan import CommitOutcome, CommitPlan, Committed
from authority.postgres.commit_call import CommitCall
from authority.postgres.connections import Database
from authority.postgres.fair_queue import Place
from authority.postgres.gathering import Answer, Gathering, GatheringSettings
from authority.postgres.relay_wake import RelayWake
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

    `relay` is woken after a call that committed something, when given.
    """

    def __init__(
        self, database: Database, clock: Clock, settings: CommitterSettings, relay: RelayWake | None = None
    ) -> None:
        bound = dt.timedelta(milliseconds=settings.clock_bound_ms)
        self._call = CommitCall(database, clock, settings.source, bound)
        self._plans: Gathering[CommitPlan, CommitOutcome] = Gathering("commit", self._ask, _place, settings.gathering)
        self._relay = relay

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        """The plan's outcome; raises only for what is a defect of ours."""
        return await self._plans.ask(plan, deadline)

    async def commit_together(self, plans: Sequence[CommitPlan], deadline: float) -> list[CommitOutcome | Exception]:
        """One outcome each, in order; the plans are of one tenant. Of those that contend the first wins.

        A defect of ours that one of them meets stands in its place.
        """
        return await self._plans.ask_together(plans, deadline)

    async def close(self) -> None:
        """Waits for every plan that was taken in, and for the relay to be woken."""
        await self._plans.close()
        if self._relay:
            await self._relay.close()

    async def _ask(self, plans: Sequence[CommitPlan]) -> Sequence[Answer[CommitOutcome]]:
        answers = await self._call.ask(plans)
        if self._relay and any(isinstance(answer, Committed) and not answer.replayed for answer in answers):
            self._relay.wake()
        return answers


def _place(plan: CommitPlan) -> Place:
    claim = plan.claim
    key = (claim.tenant, claim.holder, claim.idempotency_key)
    receipt = len(plan.receipt.payload) if plan.receipt else 0
    envelope = len(plan.action_proof.envelope.presented) if plan.action_proof else 0
    return Place(claim.tenant, key, _PLAN_BYTES + receipt + envelope)
