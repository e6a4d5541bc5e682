"""Many in one call, or on one stream: each item is answered as if the ones before it had been asked for alone."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from authority.domain.capability import Presentation
from authority.domain.identity import Right
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.commit import CommitAnswer, CommitRequest
from authority.usecases.commit_stream import CommitItem
from tests.model.committing import Committing
from tests.model.notes import Held, Wish
from tests.model.stages import AFTER, ServiceDied, Stage
from tests.world.world import WITHIN_S, Person, Presented, must, reason_of, soon

Item = tuple[Held, Presented]
"""A capability, and what is presented in place of what it binds."""


class Batching(Committing):
    """What is done with several capabilities at once, by the holder of the first."""

    def __init__(self, open_stage: Callable[[], Stage]) -> None:
        super().__init__(open_stage)
        self._streams: dict[object, tuple[object, CommitItem]] = {}
        """By holder, with the process that it was opened in."""

    async def committed_together(self, items: Sequence[Item]) -> None:
        """BatchCommitValidated: of items that contend the first wins, and an item's refusal is its own."""
        by = items[0][0].holder
        await self.knock(by)
        presented = [(held, replace(held.issued.presentation, **terms)) for held, terms in items]
        for (held, presentation), answer in zip(presented, await self._commit(by, presented), strict=True):
            await self.see(held, presentation, self.foretelling.of_commit(held, by, presentation), answer)

    async def committed_on_stream(self, held: Held, terms: Presented) -> None:
        """StreamCommitValidated, on a stream that its holder opened before whatever happened since.

        The caller is judged anew for each item.
        """
        by, presentation = held.holder, replace(held.issued.presentation, **terms)
        commit = await self._stream_of(by)
        answer = await commit(CommitRequest(held.issued.capability.statement, presentation, soon(WITHIN_S)))
        if {str(by.ref), by.key_id} & self.notes.withdrawn:
            self.agree("an item of a stream", Reason.CALLER_UNAUTHENTICATED, reason_of(answer))
            return
        await self.see(held, presentation, self.foretelling.of_commit(held, by, presentation), answer)

    async def issued_together(self, wishes: Sequence[Wish], by: Person) -> list[Held]:
        """BatchIssueCapabilities: twins are answered one after the other, and an item's refusal is its own."""
        answers = await self.world.issue_batch([wish.terms for wish in wishes], by=by)
        if not by.principal.rights & {Right.ISSUE, Right.COMMIT}:
            self.agree("a batch of wishes", Reason.NOT_ALLOWED, reason_of(answers))
            return []
        issued = [
            self.see_issue(wish, by, self.foretelling.of_issue(wish, by), answer)
            for wish, answer in zip(wishes, must(answers), strict=True)
        ]
        return [held for held in issued if held]

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

    async def _stream_of(self, holder: Person) -> CommitItem:
        """The one that is open in the process that runs, or else a new one."""
        authority = self.world.authority
        opened_in, stream = self._streams.get(holder.ref, (None, None))
        if stream is None or opened_in is not authority:
            stream = must(await authority.do.open_commit_stream(holder.calls()))
            self._streams[holder.ref] = (authority, stream)
        return stream

    async def _commit(
        self, by: Person, presented: Sequence[tuple[Held, Presentation]]
    ) -> Sequence[CommitAnswer | Refusal]:
        deadline = soon(WITHIN_S)
        requests = [
            CommitRequest(held.issued.capability.statement, presentation, deadline) for held, presentation in presented
        ]
        return must(await self.world.authority.do.commit_batch(by.calls(), requests, deadline))
