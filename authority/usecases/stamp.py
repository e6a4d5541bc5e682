"""Stamps where a proposal comes from: from who proposes it, through whom, and what it cites (semantics §7)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.citation import CitedSource, cited_sources
from authority.domain.evidence import vouches_for
from authority.domain.identity import Caller, PrincipalKind, Right
from authority.domain.proposal import MemoryType, Provenance, stamp_provenance
from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef
from authority.domain.refusal import Refusal
from authority.usecases.ports import Clock, EvidenceIndex, Records, Registry


@dataclass(frozen=True, slots=True)
class Origin:
    """What provenance is stamped from. `actor_chain` are those whom a grant came through, the caller last."""

    memory_type: MemoryType
    source_refs: tuple[str, ...]
    evidence_digests: tuple[bytes, ...]
    actor_chain: tuple[PrincipalRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Stamp:
    """Reads live state; what it finds is stamped once and stays as it is, whatever becomes of what was cited."""

    registry: Registry
    records: Records
    evidence: EvidenceIndex
    clock: Clock

    async def __call__(self, caller: Caller, origin: Origin) -> Provenance | Refusal:
        """The least trusted of the caller's kind, the actors' kinds and the records that are cited.

        Refusals: MALFORMED for a citation that names no record, NOT_FOUND for a record that the caller cannot see,
        both with the field.
        """
        cited = cited_sources(origin.source_refs)
        if isinstance(cited, Refusal):
            return cited
        provenances = await self._provenances(caller, cited) if cited else ()
        if isinstance(provenances, Refusal):
            return provenances
        return stamp_provenance(
            caller.principal.kind,
            origin.memory_type,
            actors=[await self._kind_of(caller, actor) for actor in origin.actor_chain if actor != caller.ref],
            cited=provenances,
            is_vouched_for=await self._is_vouched_for(caller, origin),
        )

    async def _provenances(self, caller: Caller, cited: Sequence[CitedSource]) -> tuple[Provenance, ...] | Refusal:
        """Whoever may not read sees no record, and is told the same as of one that is not there."""
        ids = [it.record_id for it in cited] if caller.principal.may(Right.READ) else []
        found = await self.records.provenances(caller.tenant, ids, caller.ref, self.clock.now()) if ids else {}
        missing = next((it for it in cited if it.record_id not in found), None)
        if missing:
            return Refusal(Reason.NOT_FOUND, {"field": missing.path})
        return tuple(found.values())

    async def _kind_of(self, caller: Caller, actor: PrincipalRef) -> PrincipalKind | None:
        principal = await self.registry.principal(caller.tenant, actor)
        return principal.kind if principal else None

    async def _is_vouched_for(self, caller: Caller, origin: Origin) -> bool:
        """Whether signed evidence of the tool that proposes resolves to it; of nobody else it is asked."""
        if caller.principal.kind is not PrincipalKind.TOOL or not origin.evidence_digests:
            return False
        resolved = await self.evidence.resolve(caller.tenant, origin.evidence_digests, caller.ref)
        return vouches_for(caller.ref, origin.evidence_digests, resolved.values())
