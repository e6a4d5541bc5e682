"""Committing many in one call: each item is answered as if the ones before it had been committed alone."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from authority.domain.capability import Presentation
from authority.domain.refusal import Refusal
from authority.usecases.commit import CommitAnswer, CommitRequest
from tests.model.committing import Committing
from tests.model.notes import Held
from tests.model.stages import AFTER, ServiceDied
from tests.world.world import WITHIN_S, Person, Presented, must

Item = tuple[Held, Presented]
"""A capability, and what is presented in place of what it binds."""


class Batching(Committing):
    """What is done with several capabilities at once, by the holder of the first."""

    async def committed_together(self, items: Sequence[Item]) -> None:
        """BatchCommitValidated: of items that contend the first wins, and an item's refusal is its own."""
        by = items[0][0].holder
        await self.knock(by)
        presented = [(held, replace(held.issued.presentation, **terms)) for held, terms in items]
        for (held, presentation), answer in zip(presented, await self._commit(by, presented), strict=True):
            await self.see(held, presentation, self.foretelling.of_commit(held, by, presentation), answer)

    async def batch_amid_crash(self, capabilities: Sequence[Held], at: str) -> None:
        """The process dies during BatchCommitValidated, unless it knew every answer without the database."""
        by = capabilities[0].holder
        # Only what has nothing to do with each other, so that each can be foretold before it happens.
        several = {held.claim: held for held in capabilities if held.holder.ref == by.ref}
        apart = list({held.ground.revision[0]: held for held in several.values()}.values())
        presented = [(held, held.issued.presentation) for held in apart]
        foretold = [self.foretelling.of_commit(held, by, presentation) for held, presentation in presented]
        self.stage.mortal.dies = at
        try:
            answers = await self._commit(by, presented)
        except ServiceDied:
            for held in apart:
                self.leave_lease(held)
            await self.recovered(list(zip(apart, foretold, strict=True)), landed=at == AFTER)
        else:
            self.stage.mortal.dies = ""
            for (held, presentation), expected, answer in zip(presented, foretold, answers, strict=True):
                await self.see(held, presentation, expected, answer)

    async def _commit(
        self, by: Person, presented: Sequence[tuple[Held, Presentation]]
    ) -> Sequence[CommitAnswer | Refusal]:
        deadline = asyncio.get_running_loop().time() + WITHIN_S
        requests = [
            CommitRequest(held.issued.capability.statement, presentation, deadline) for held, presentation in presented
        ]
        return must(await self.world.authority.do.commit_batch(by.calls(), requests, deadline))
