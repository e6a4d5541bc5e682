"""Finds out what would become of a piece of memory under enforcement (semantics §7, observe).

It is judged as for a commit, by the validators of its memory namespace and by the active bundle. Nothing of it is kept
as a proposal, a receipt or a decision: nothing can ever be committed by it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from authority.domain.decision import PolicyQuestion
from authority.domain.identity import Principal
from authority.domain.proposal import StoredProposal
from authority.domain.record import MemoryNamespace
from authority.domain.references import Instant
from authority.domain.unvalidated import Observation, complaints, would_refuse
from authority.domain.validation import Finding, Profile, ValidationOutcome, worst
from authority.usecases.gather_material import GatherMaterial
from authority.usecases.ports import PolicyEngine, Validators

Foresight = Callable[[MemoryNamespace, str], Observation]
"""By a memory namespace and its bundle."""

_NOT_INSTALLED = Finding("profile", "", ValidationOutcome.FAIL, "not_installed", 1000)


@dataclass(frozen=True, slots=True)
class Foresee:
    """Asks the validators now, and policy when it is told which bundle decides."""

    gather: GatherMaterial
    validators: Validators
    policy: PolicyEngine

    async def __call__(self, writer: Principal, would_be: StoredProposal, now: Instant) -> Foresight:
        """What the validators find, to be completed by policy."""
        profile = self.validators.profile(would_be.revision.validator_profile)
        findings = await self._findings(profile, would_be, now)
        version = profile.version if profile else ""

        def foresight(namespace: MemoryNamespace, bundle: str) -> Observation:
            question = PolicyQuestion(
                holder=writer,
                memory_namespace=namespace.name,
                privileged=namespace.privileged,
                revision=would_be.revision,
                validation=worst(findings),
                approved=False,
                mode=namespace.mode,
                validator_profile_version=version,
                findings=findings,
            )
            answer = self.policy.evaluate(bundle, question)
            return Observation(
                would_refuse=would_refuse(findings, answer),
                validators=complaints(findings),
                policies=answer.determining_policies,
                validator_profile=would_be.revision.validator_profile,
                validator_profile_version=version,
                policy_version=namespace.policy_version,
            )

        return foresight

    async def _findings(self, profile: Profile | None, would_be: StoredProposal, now: Instant) -> tuple[Finding, ...]:
        """What cannot be judged would be refused."""
        if profile is None:
            return (_NOT_INSTALLED,)
        gathered = await self.gather(profile, would_be, now)
        return await self.validators.judge(profile, gathered.material)
