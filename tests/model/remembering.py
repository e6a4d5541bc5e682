"""What becomes of records: each is read until it is withdrawn, or another takes its place."""

from authority.domain.identity import PrincipalKind
from authority.domain.proposal import StoredProposal
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.paging import PageRequest
from authority.usecases.ports import RevokedRecord
from tests.model.notes import Burial, Settled
from tests.model.proposing import EVIDENCE
from tests.model.withdrawing import Withdrawing
from tests.world.world import NAMESPACE, Person, must


class Remembering(Withdrawing):
    """What is done with records."""

    async def record_revoked(self, settled: Settled, by: Person, request_id: str) -> None:
        """RevokeRecord: with the record goes all that says the same, and the first time stands."""
        record_id, content = settled.receipt.record_id, settled.content
        foretold = self.foretelling.of_record_revocation(settled, by, request_id)
        answer = await self.world.revoke_record(record_id, by=by, request_id=request_id)
        self.agree("revoke a record", self._expected(foretold), self._came(foretold, answer))
        if isinstance(answer, Refusal):
            return
        self.notes.answered[by.ref, request_id] = record_id
        if not answer.replayed:
            self.agree("the time of a revocation", self.world.now(), answer.revoke_time)
            self.note_withdrawal(content, by, Burial(self.notes.next_moment(), (answer.revoke_time, answer.sequence)))

    @staticmethod
    def _expected(foretold: Reason | Burial | None) -> object:
        return (foretold.first or "replayed") if isinstance(foretold, Burial) else foretold

    @staticmethod
    def _came(foretold: Reason | Burial | None, answer: RevokedRecord | Refusal) -> object:
        """The refusal, or the first time and sequence as far as they are known; None for a revocation of its own."""
        if isinstance(answer, Refusal):
            return answer.reason
        if not answer.replayed:
            return None
        is_known = isinstance(foretold, Burial) and foretold.first is not None
        return (answer.revoke_time, answer.sequence) if is_known else "replayed"

    async def corrected(self, settled: Settled, by: PrincipalKind, fact: bytes) -> StoredProposal | None:
        """CorrectRecord: a proposal of its own, which says what it corrects."""
        person, record_id = self.world.person(by), settled.receipt.record_id
        proposal = await self.ask(
            ("correct", self.request_id()),
            self.foretelling.of_correction(settled),
            lambda request_id: self.world.correct(
                record_id, fact, by=person, request_id=request_id, evidence_digests=EVIDENCE
            ),
            retry=False,
        )
        if proposal is None:
            return None
        self.agree("what it corrects", record_id, proposal.revision.supersedes_record_id)
        return self._noted(proposal)

    async def only_the_living_are_read(self) -> None:
        """What can be read is what was neither withdrawn nor superseded, with the bytes that were committed."""
        listing = self.world.authority.do.list_records
        found = must(await listing(self.world.agent.calls(), NAMESPACE, PageRequest(200, "")))
        living = [it for it in self.notes.committed.values() if self.notes.is_alive(it)]
        self.agree(
            "what is read",
            sorted((it.receipt.record_id, it.content) for it in living),
            sorted((record.record_id, record.content) for record in found.items),
        )
