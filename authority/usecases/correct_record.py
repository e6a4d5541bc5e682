"""Opens a proposal whose commit supersedes a record (semantics §8)."""

from dataclasses import dataclass, replace

from authority.domain.identity import Caller, Right, require
from authority.domain.proposal import MemoryType, StoredProposal
from authority.domain.reasons import Reason
from authority.domain.record import MemoryRecord
from authority.domain.refusal import Refusal
from authority.usecases.create_proposal import CreateProposal, ProposalRequest
from authority.usecases.ports import Clock, Proposals, Records, RequestMark
from authority.usecases.said_memory import SaidMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What is to be read in place of a record. Of its type and visibility, what is None stays as it is."""

    mark: RequestMark
    record_id: str
    memory_type: MemoryType | None
    said: SaidMemory
    evidence_digests: tuple[bytes, ...]
    validator_profile: str

    def of(self, record: MemoryRecord) -> ProposalRequest:
        """The proposal that corrects this record, in its memory namespace."""
        return ProposalRequest(
            mark=self.mark,
            proposal_id="",
            memory_namespace=record.memory_namespace,
            memory_type=self.memory_type or record.memory_type,
            said=self._said_of(record),
            evidence_digests=self.evidence_digests,
            validator_profile=self.validator_profile,
            supersedes_record_id=record.record_id,
        )

    def _said_of(self, record: MemoryRecord) -> SaidMemory:
        """A scope belongs to a visibility: the record's is kept only where neither is said."""
        visibility, scope = self.said.visibility, self.said.visibility_scope
        if visibility is None and not scope:
            scope = record.visibility_scope
        return replace(self.said, visibility=visibility or record.visibility, visibility_scope=scope)


@dataclass(frozen=True, slots=True)
class CorrectRecord:
    """Changes nothing that is read: a correction has the whole way of a proposal before it."""

    create: CreateProposal
    proposals: Proposals
    records: Records
    clock: Clock

    async def __call__(self, caller: Caller, request: Correction) -> StoredProposal | Refusal:
        """The kept proposal; a retry is answered with what the first attempt kept, whatever became of the record.

        Refusals: MALFORMED, NOT_ALLOWED without the rights to propose and to read, NOT_FOUND for a record that is
        absent or not visible to the caller, IDEMPOTENCY_CONFLICT.
        """
        judged = await self.create.judge(caller, request.said)
        if refusal := judged or require(caller, Right.READ):
            return refusal
        record = await self.records.get(
            caller.tenant, request.record_id, caller.ref, self.clock.now(), with_unvalidated=True
        )
        if record is None:
            return await self.proposals.made_by(request.mark) or Refusal(Reason.NOT_FOUND, {"field": "record_id"})
        return await self.create.keep(caller, request.of(record))
