"""What verbs of MemoryService return beside records: hits, citations, exports."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from capability_authority.client.credentials import Reference
from capability_authority.client.values import MemoryRecord
from capability_authority.client.words import word_of
from capability_authority.offline import Check, CheckVerdict
from capability_authority.v1 import errors_pb2, memory_service_pb2

__all__ = ["AggregateCount", "Citation", "Observation", "RecallHit", "RecordExport", "UnvalidatedWrite"]


@dataclass(frozen=True, slots=True)
class RecallHit:
    """A record that recall found. How well it matches is no measure of how true it is."""

    record: MemoryRecord
    score: float
    """From 0 to 1: more for words that occur more often, less for long content; nothing else enters."""
    observe_time: datetime
    """When the authority took what the record says, in UTC; it was committed at `record.message.create_time`."""

    @property
    def record_id(self) -> str:
        """Of the record."""
        return self.record.record_id


@dataclass(frozen=True, slots=True)
class AggregateCount:
    """About how many records of one type the tenants of an aggregate committed in one month."""

    memory_type: str
    """For example "durable_fact"."""
    month: datetime
    """Its beginning, in UTC."""
    records: int
    """In whole tens; what rests on too few tenants is not told."""


@dataclass(frozen=True, slots=True)
class Citation:
    """One thing that rests on one record."""

    message: memory_service_pb2.Citation
    """All of it."""

    @property
    def citation_id(self) -> str:
        """The id that the authority gave."""
        return self.message.citation_id

    @property
    def record_id(self) -> str:
        """What is cited."""
        return self.message.record_id

    @property
    def content_digest(self) -> str:
        """Of the cited record's content: it is found by this, too, whatever became of the record."""
        return self.message.content_digest

    @property
    def receipt_digest(self) -> str:
        """The statement digest of the cited record's commit receipt; empty for one written without validation."""
        return self.message.receipt_digest

    @property
    def cited_by(self) -> Reference:
        """Who told of it."""
        return Reference(self.message.cited_by.namespace, self.message.cited_by.id)

    @property
    def citing_kind(self) -> str:
        """What kind of thing cites."""
        return self.message.citing_kind

    @property
    def citing_ref(self) -> str:
        """Which one."""
        return self.message.citing_ref

    @property
    def create_time(self) -> datetime:
        """When it was told, in UTC."""
        return self.message.create_time.ToDatetime(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RecordExport:
    """A record with what proves it, and what came of checking that."""

    message: memory_service_pb2.RecordExport
    """All of it; `SerializeToString` of it is what to keep as a file."""
    checks: tuple[Check, ...]
    """Each part of it, in the order in which one rests on the other."""

    @property
    def record(self) -> MemoryRecord:
        """The record."""
        return MemoryRecord(self.message.record)

    @property
    def state(self) -> str:
        """What the authority said of it then: "live", "not_yet_valid", "expired", "superseded" or "revoked"."""
        return word_of(memory_service_pb2.RecordState, self.message.state)

    @property
    def broken(self) -> tuple[Check, ...]:
        """The checks that failed: none for an export that is proved."""
        return tuple(check for check in self.checks if check.verdict is CheckVerdict.BROKEN)

    def of_another(self, record_id: str) -> "RecordExport":
        """The same, for whoever asked for another record: it proves itself, and not what was asked for."""
        because = f"expected record {record_id}, presented {self.message.record.record_id}"
        return replace(self, checks=(Check("record", CheckVerdict.BROKEN, because), *self.checks))


@dataclass(frozen=True, slots=True)
class Observation:
    """What would become of a record if its memory namespace enforced."""

    would_refuse: str
    """Empty when it would be committed; else "POLICY_DENIED", "NOT_VALIDATED" or "APPROVAL_REQUIRED"."""
    validators: tuple[str, ...]
    """"name:reason" of each that did not pass it."""
    policies: tuple[str, ...]
    """That determined the decision, by name."""
    policy_version: str
    """The digest of the bundle that was asked."""


@dataclass(frozen=True, slots=True)
class UnvalidatedWrite:
    """A record that was written without validation."""

    message: memory_service_pb2.WriteUnvalidatedRecordResponse
    """All of it."""

    @property
    def record(self) -> MemoryRecord:
        """The record, which says that it is not `validated`."""
        return MemoryRecord(self.message.record)

    @property
    def record_id(self) -> str:
        """The id that the authority gave."""
        return self.message.record.record_id

    @property
    def replayed(self) -> bool:
        """Whether the same request wrote it before."""
        return self.message.replayed

    @property
    def observation(self) -> Observation | None:
        """What enforcement would say, where the memory namespace is observed; else None."""
        if not self.message.HasField("observation"):
            return None
        told = self.message.observation
        reason = "" if told.would_be_allowed else word_of(errors_pb2.ErrorReason, told.would_refuse).upper()
        return Observation(reason, tuple(told.validators), tuple(told.policies), told.policy_version)
