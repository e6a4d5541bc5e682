"""Opens a proposal whose commit supersedes a record (semantics §8)."""

from dataclasses import dataclass

from authority.domain.identity import Caller, Right, require
from authority.domain.proposal import Cost, MemoryType, StoredProposal, Visibility
from authority.domain.reasons import Reason
from authority.domain.record import MemoryRecord
from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.usecases.create_proposal import CreateProposal, ProposalRequest
from authority.usecases.ports import Clock, Proposals, Records, RequestMark


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What is to be read in place of a record. Of its type and visibility, what is None stays as it is."""

    mark: RequestMark
    record_id: str
    memory_type: MemoryType | None
    content: bytes
    media_type: str
    source_refs: tuple[str, ...]
    subject_refs: tuple[str, ...]
    evidence_digests: tuple[bytes, ...]
    validator_profile: str
    visibility: Visibility | None
    valid_from_time: Instant | None
    valid_until_time: Instant | None
    record_expire_time: Instant | None
    correlation_id: str
    costs: tuple[Cost, ...]
    visibility_scope: str = ""

    def of(self, record: MemoryRecord) -> ProposalRequest:
        """The proposal that corrects this record, in its memory namespace."""
        return ProposalRequest(
            mark=self.mark,
            proposal_id="",
            memory_namespace=record.memory_namespace,
            memory_type=self.memory_type or record.memory_type,
            content=self.content,
            media_type=self.media_type,
            source_refs=self.source_refs,
            subject_refs=self.subject_refs,
            evidence_digests=self.evidence_digests,
            validator_profile=self.validator_profile,
            visibility=self.visibility or record.visibility,
            valid_from_time=self.valid_from_time,
            valid_until_time=self.valid_until_time,
            record_expire_time=self.record_expire_time,
            correlation_id=self.correlation_id,
            costs=self.costs,
            supersedes_record_id=record.record_id,
            visibility_scope=self.visibility_scope if self._says_who_sees else record.visibility_scope,
        )

    @property
    def _says_who_sees(self) -> bool:
        return self.visibility is not None or self.visibility_scope != ""


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
        judged = await self.create.judge(caller, request.content, request.media_type)
        if refusal := judged or require(caller, Right.READ):
            return refusal
        record = await self.records.get(
            caller.tenant, request.record_id, caller.ref, self.clock.now(), with_unvalidated=True
        )
        if record is None:
            return await self.proposals.made_by(request.mark) or Refusal(Reason.NOT_FOUND, {"field": "record_id"})
        return await self.create.keep(caller, request.of(record))
