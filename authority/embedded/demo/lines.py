"""The lines of the demo's data, typed. Field by field they are explained in the package's docstring."""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Literal

from pydantic import ConfigDict, JsonValue

from authority.domain.proposal import Cost, MemoryType, Provenance, Visibility
from authority.domain.references import HOUR, Instant, TenantRef, after

TENANT_NAMESPACE = "cognitum-tenant"

_STRICT = ConfigDict(extra="forbid", strict=True)


class Twist(Enum):
    """What the demo does wrong on purpose with one proposal."""

    CHANGED_CONTENT = "changed_content"
    """Commits other content than was validated."""
    OVERSIZED = "oversized"
    """Proposes more content than the limit allows."""
    WRONG_TENANT = "wrong_tenant"
    """Has the committing service of another tenant commit."""
    UNAPPROVED = "unapproved"
    """Asks for the capability without the approval that policy requires."""
    DUPLICATE = "duplicate"
    """Proposes what an earlier proposal of the same memory namespace has said already."""
    REORDERED_EVIDENCE = "reordered_evidence"
    """Commits with the evidence digests in another order."""
    NON_CANONICAL_JSON = "non_canonical_json"
    """Proposes JSON that is not in RFC 8785 form."""
    OTHER_KEY = "other_key"
    """Commits under another idempotency key than the capability binds."""


class Stage(Enum):
    """The steps of the demo's main job, in order."""

    PROPOSE = "propose"
    VALIDATE = "validate"
    POLICY = "policy"
    ISSUE = "issue"
    COMMIT = "commit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """How a proposal must come out."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    outcome: Literal["committed", "refused"]
    provenance: Provenance
    """What the authority stamps, or would have stamped had it taken the proposal."""
    approval: bool
    """Whether policy requires an approval; false when the proposal never gets as far as policy."""
    at: Stage | None = None
    """The step that refuses."""
    reason: str = ""
    """The reason of the refusal as in ErrorInfo; for `validate` the validator that fails."""
    term: str = ""
    """The term of a BINDING_MISMATCH."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoProposal:
    """One proposal of the demo and how it must come out."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    name: str
    tenant: str
    proposer: Literal["agent", "user", "observer", "service", "tool"]
    memory_namespace: str
    memory_type: MemoryType
    media_type: Literal["application/json", "text/plain"]
    content: str | dict[str, JsonValue]
    source_refs: tuple[str, ...]
    subject_refs: tuple[str, ...]
    evidence_digests: tuple[str, ...]
    visibility: Visibility
    costs: tuple[Cost, ...]
    twist: Twist | None
    expect: Expectation
    valid_from_hours: int | None = None
    valid_until_hours: int | None = None
    record_expire_hours: int | None = None
    pad_to: int | None = None
    duplicate_of: str | None = None

    def valid_from_time(self, now: Instant) -> Instant | None:
        """From when the memory holds, for a proposal made now."""
        return _hours_after(now, self.valid_from_hours)

    def valid_until_time(self, now: Instant) -> Instant | None:
        """Until when the memory holds, for a proposal made now."""
        return _hours_after(now, self.valid_until_hours)

    def record_expire_time(self, now: Instant) -> Instant | None:
        """When the record disappears, for a proposal made now."""
        return _hours_after(now, self.record_expire_hours)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoNamespace:
    """A memory namespace of one of the firms."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    name: str
    privileged: bool
    least_profile: str = "baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoTenant:
    """One of the firms."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    tenant: str
    about: str
    memory_namespaces: tuple[DemoNamespace, ...]
    team: str = ""
    """The team that every member of the firm is in, and that what is proposed for a team is for."""

    @property
    def ref(self) -> TenantRef:
        """The tenant that the firm is."""
        return TenantRef(TENANT_NAMESPACE, self.tenant)


def _hours_after(now: Instant, hours: int | None) -> Instant | None:
    return None if hours is None else after(now, hours * HOUR)
