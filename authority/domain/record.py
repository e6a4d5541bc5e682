"""Learned memory as it is read, and where it lives."""

from dataclasses import dataclass
from enum import Enum

from authority.domain.identity import Caller, PrincipalKind, Right
from authority.domain.proposal import Cost, MemoryType, Provenance, Visibility
from authority.domain.references import Instant, PrincipalRef, TenantRef


class Mode(Enum):
    """How a memory namespace treats unvalidated writes; validated commits are the same in each (semantics §7)."""

    LEGACY = "legacy"
    OBSERVE = "observe"
    ENFORCE = "enforce"


@dataclass(frozen=True, slots=True)
class MemoryNamespace:
    """A memory namespace of one tenant. The namespace, not the proposer, sets the least validator profile."""

    tenant: TenantRef
    name: str
    mode: Mode
    privileged: bool
    least_profile: str
    default_visibility: Visibility
    policy_version: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """One committed piece of memory with everything that says where it came from."""

    record_id: str
    tenant: TenantRef
    memory_namespace: str
    memory_type: MemoryType
    provenance: Provenance
    content: bytes
    content_digest: bytes
    media_type: str
    proposer: PrincipalRef
    proposal_id: str
    proposal_revision: int
    receipt_id: str
    source_refs: tuple[str, ...]
    subject_refs: tuple[str, ...]
    evidence_digests: tuple[bytes, ...]
    visibility: Visibility
    valid_from_time: Instant | None
    valid_until_time: Instant | None
    expire_time: Instant | None
    create_time: Instant
    costs: tuple[Cost, ...]
    correlation_id: str
    supersedes_record_id: str
    """Of the record that this one corrected; empty when it corrected none."""
    visibility_scope: str = ""
    """Id of the channel or team; empty for private and workspace."""

    @property
    def validated(self) -> bool:
        """Whether it was committed. What was not, has neither a proposal nor a receipt, and no ids of them."""
        return bool(self.receipt_id)


def is_current(record: MemoryRecord, now: Instant) -> bool:
    """Whether the record is unexpired and valid now. Who may see it, says its visibility (`domain.membership`)."""
    unexpired = record.expire_time is None or now < record.expire_time
    begun = record.valid_from_time is None or record.valid_from_time <= now
    unended = record.valid_until_time is None or now < record.valid_until_time
    return unexpired and begun and unended


@dataclass(frozen=True, slots=True)
class RecordParties:
    """Whose a record is: who proposed it, and the holder who committed it."""

    proposer: PrincipalRef
    holder: PrincipalRef


def may_revoke_record(caller: Caller, parties: RecordParties) -> bool:
    """Whether the caller may withdraw a record: its holder, whoever judges proposals, an admin, or its proposer.

    An agent or a model cannot commit what it proposed, and cannot take it back once it is committed (ADR-328 test 7):
    words that it was fed would erase what it was right about.
    """
    principal = caller.principal
    if principal.kind is PrincipalKind.ADMIN or principal.may(Right.DECIDE) or caller.ref == parties.holder:
        return True
    return caller.ref == parties.proposer and principal.kind not in (PrincipalKind.AGENT, PrincipalKind.MODEL)
