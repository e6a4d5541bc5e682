"""Committers over dicts that do one commit right and several together wrong, each in one way."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from authority.domain.plan import CommitOutcome, CommitPlan, Committed
from authority.inprocess.committer import InProcessCommitter
from authority.inprocess.judgement import live_refusals
from authority.inprocess.tables import Tables

Key = TypeVar("Key")
Row = TypeVar("Row")


class LetsEachOfABatchWin(InProcessCommitter):
    """Judges all of a batch by what was there before it, and writes each one that is good."""

    async def commit_together(self, plans: Sequence[CommitPlan], deadline: float) -> list[CommitOutcome | Exception]:
        tables, before = self.tables, _copy(self.tables)
        outcomes: list[CommitOutcome | Exception] = []
        for plan in plans:
            written = _copy(before)
            outcomes.append(await InProcessCommitter(written, self.clock).commit(plan, deadline))
            tables.receipts.update(written.receipts)
            tables.records.update(written.records)
            tables.capabilities.update(_changed(before.capabilities, written.capabilities))
            tables.heads.update(_changed(before.heads, written.heads))
        return outcomes


class LetsTheLastWin(InProcessCommitter):
    """Of items that contend, the last one has it."""

    async def commit_together(self, plans: Sequence[CommitPlan], deadline: float) -> list[CommitOutcome | Exception]:
        return (await super().commit_together(plans[::-1], deadline))[::-1]


class AnswersInItsOwnOrder(InProcessCommitter):
    """What was committed comes first."""

    async def commit_together(self, plans: Sequence[CommitPlan], deadline: float) -> list[CommitOutcome | Exception]:
        outcomes = await super().commit_together(plans, deadline)
        return sorted(outcomes, key=lambda outcome: not isinstance(outcome, Committed))


class FailsAllForOne(InProcessCommitter):
    """A batch with one bad item is refused as a whole, and writes nothing."""

    async def commit_together(self, plans: Sequence[CommitPlan], deadline: float) -> list[CommitOutcome | Exception]:
        now = self.clock.now()
        refusals = [it for plan in plans for it in (plan.refusal, *live_refusals(self.tables, plan, now)) if it]
        if len(plans) > 1 and refusals:
            return [refusals[0] for _ in plans]
        return await super().commit_together(plans, deadline)


def _copy(tables: Tables) -> Tables:
    """Of what a commit replaces; the events are the tables' own."""
    return replace(
        tables,
        receipts=dict(tables.receipts),
        records=dict(tables.records),
        capabilities=dict(tables.capabilities),
        heads=dict(tables.heads),
    )


def _changed(before: dict[Key, Row], after: dict[Key, Row]) -> dict[Key, Row]:
    return {key: row for key, row in after.items() if before.get(key) != row}
