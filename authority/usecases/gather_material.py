"""Looks up what the validators of a profile may know of a revision: they are shown it, and ask for nothing."""

from dataclasses import dataclass

from authority.domain.likeness import Traits
from authority.domain.material import Alike, CitedEvidence, Material, Need
from authority.domain.proposal import StoredProposal
from authority.domain.references import Instant
from authority.domain.validation import Profile
from authority.usecases.ports import EvidenceIndex, Likenesses, Statements, Validations, Validators


@dataclass(frozen=True, slots=True)
class Gathered:
    """What validators are shown, and what the content is kept under if its record is to be compared with later ones."""

    material: Material
    traits: Traits


@dataclass(frozen=True, slots=True)
class GatherMaterial:
    """Only reads: nothing that it uses can write."""

    statements: Statements
    validations: Validations
    validators: Validators
    likenesses: Likenesses
    evidence: EvidenceIndex

    async def __call__(self, profile: Profile, proposal: StoredProposal, now: Instant) -> Gathered:
        """What the profile needs of the revision."""
        revision = proposal.revision
        traits = await self.validators.traits(profile, proposal.content, revision.media_type, revision.subject_refs)
        material = Material(
            content=proposal.content,
            media_type=revision.media_type,
            memory_type=revision.memory_type,
            proposer_kind=revision.proposer_kind,
            provenance=revision.provenance,
            source_refs=revision.source_refs,
            subject_refs=revision.subject_refs,
            content_problem=await self.statements.content_problem(proposal.content, revision.media_type),
            duplicate_of=await self._duplicate(proposal) if Need.DUPLICATE in profile.needs else None,
            evidence=await self._evidence(proposal) if Need.EVIDENCE in profile.needs else (),
            alike=await self._alike(proposal, traits, now),
        )
        return Gathered(material, traits or Traits())

    async def _duplicate(self, proposal: StoredProposal) -> str | None:
        revision = proposal.revision
        return await self.validations.duplicate_of(
            revision.tenant,
            revision.memory_namespace,
            revision.content_digest,
            reader=revision.proposer,
            corrects=revision.supersedes_record_id,
        )

    async def _evidence(self, proposal: StoredProposal) -> tuple[CitedEvidence, ...]:
        revision = proposal.revision
        if not revision.evidence_digests:
            return ()
        found = await self.evidence.resolve(revision.tenant, revision.evidence_digests, revision.proposer)
        resolved = ((digest, found.get(digest)) for digest in revision.evidence_digests)
        return tuple(CitedEvidence(digest, known.state if known else None) for digest, known in resolved)

    async def _alike(self, proposal: StoredProposal, traits: Traits | None, now: Instant) -> Alike | None:
        if traits is None:
            return None
        if not (traits.bands or traits.assertions):
            return Alike()
        revision = proposal.revision
        return await self.likenesses.alike(
            revision.tenant,
            revision.memory_namespace,
            traits,
            reader=revision.proposer,
            now=now,
            corrects=revision.supersedes_record_id,
        )
