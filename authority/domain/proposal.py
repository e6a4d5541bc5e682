"""Proposals of learned memory: immutable revisions, their provenance and their states (semantics §7)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from authority.domain import limits
from authority.domain.identity import PrincipalKind
from authority.domain.references import Instant, PrincipalRef, TenantRef, after
from authority.domain.refusal import Refusal, malformed


class Provenance(Enum):
    """Where memory came from, in falling trust."""

    SYSTEM_OBSERVATION = "system_observation"
    TOOL_RESULT = "tool_result"
    USER_CLAIM = "user_claim"
    AGENT_OUTPUT = "agent_output"
    UNKNOWN = "unknown"


class MemoryType(Enum):
    """What kind of thing was learned. A procedure is a candidate, never an executable."""

    DURABLE_FACT = "durable_fact"
    PREFERENCE = "preference"
    PROCEDURE = "procedure"
    SNAPSHOT = "snapshot"
    CRITIQUE = "critique"


class Visibility(Enum):
    """Who may see a record, narrowest first."""

    PRIVATE = "private"
    CHANNEL = "channel"
    TEAM = "team"
    WORKSPACE = "workspace"


class ProposalState(Enum):
    """Where a revision stands."""

    PROPOSED = "proposed"
    VALIDATING = "validating"
    VALIDATED = "validated"
    REJECTED = "rejected"
    CHANGES_REQUESTED = "changes_requested"
    APPROVED = "approved"
    SUPERSEDED = "superseded"
    COMMITTED = "committed"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one stage of making the memory cost; never negative."""

    stage: str
    model: str
    input_tokens: int
    output_tokens: int
    usd_micros: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalRevision:
    """One immutable revision with its stamped provenance.

    The proposal digest covers every field; for the content bytes stands their digest.
    """

    tenant: TenantRef
    memory_namespace: str
    proposal_id: str
    revision: int
    proposer: PrincipalRef
    proposer_kind: PrincipalKind
    actor_chain: tuple[PrincipalRef, ...]
    provenance: Provenance
    memory_type: MemoryType
    content_digest: bytes
    media_type: str
    source_refs: tuple[str, ...]
    subject_refs: tuple[str, ...]
    evidence_digests: tuple[bytes, ...]
    validator_profile: str
    visibility: Visibility
    valid_from_time: Instant | None
    valid_until_time: Instant | None
    record_expire_time: Instant | None
    correlation_id: str
    costs: tuple[Cost, ...]
    supersedes_record_id: str
    create_time: Instant
    visibility_scope: str = ""
    """Id of the channel or team; empty for private and workspace."""
    expire_time: Instant | None = None
    """From then on it can no longer be committed; None for one that was kept before proposals expired."""
    subject: PrincipalRef | None = None
    """Of the grant under which it was proposed; None without one."""


@dataclass(frozen=True, slots=True)
class StoredProposal:
    """A revision as it is kept: with its content, digest and state.

    What is stored never says EXPIRED: `proposal_states.proposal_state_at` does.
    """

    revision: ProposalRevision
    content: bytes
    digest: bytes
    state: ProposalState


def expiry_of(
    create_time: Instant,
    wanted: Instant | None,
    valid_until_time: Instant | None,
    record_expire_time: Instant | None,
) -> Instant | Refusal:
    """When a revision that is made now expires: 30 days on, or when its proposer wants, and never after what it says.

    MALFORMED `expire_time` for one that is over already or too far away.
    """
    latest = after(create_time, limits.PROPOSAL_LIFETIME_MS)
    if wanted is not None and not create_time < wanted <= latest:
        return malformed("expire_time", "must lie in the future, at most 30 days away")
    ends = (latest if wanted is None else wanted, valid_until_time, record_expire_time)
    return min(end for end in ends if end is not None)


_PROVENANCE_BY_KIND = {
    PrincipalKind.AGENT: Provenance.AGENT_OUTPUT,
    PrincipalKind.MODEL: Provenance.AGENT_OUTPUT,
    PrincipalKind.USER: Provenance.USER_CLAIM,
    PrincipalKind.OBSERVER: Provenance.SYSTEM_OBSERVATION,
}


def stamp_provenance(
    kind: PrincipalKind,
    memory_type: MemoryType,
    *,
    actors: Iterable[PrincipalKind | None] = (),
    cited: Iterable[Provenance] = (),
    is_vouched_for: bool = False,
) -> Provenance:
    """The provenance of what this kind of caller proposes, whatever the body claims (semantics §7, case G12).

    It is the least trusted of the caller's kind, of the kinds of those it acts through (None for one that is no longer
    registered), and of the records that it cites: to consolidate memory never raises it. A critique is `agent_output`
    (ADR-328 test 4) unless something else is trusted less. A tool's result counts as one only when `is_vouched_for`:
    signed evidence of the tool resolves.
    """
    stamped = [_of_kind(kind, is_vouched_for=is_vouched_for), *cited]
    stamped += [_of_kind(actor, is_vouched_for=False) for actor in actors]
    if memory_type is MemoryType.CRITIQUE:
        stamped.append(Provenance.AGENT_OUTPUT)
    return least_trusted(*stamped)


def best_provenance(kind: PrincipalKind, memory_type: MemoryType) -> Provenance:
    """The most that can ever be stamped on what this kind of caller proposes."""
    return stamp_provenance(kind, memory_type, is_vouched_for=True)


def _of_kind(kind: PrincipalKind | None, *, is_vouched_for: bool) -> Provenance:
    if kind is PrincipalKind.TOOL and is_vouched_for:
        return Provenance.TOOL_RESULT
    return _PROVENANCE_BY_KIND.get(kind, Provenance.UNKNOWN) if kind else Provenance.UNKNOWN


def least_trusted(*provenances: Provenance) -> Provenance:
    """The last of them in falling trust: consolidating memory never raises its provenance."""
    order = list(Provenance)
    return max(provenances, key=order.index)
