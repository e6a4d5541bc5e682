"""Has a proposal revision judged by its validator profile; validators never change memory (semantics §7)."""

import asyncio
import math
from dataclasses import dataclass, field
from typing import Final

from authority.domain import limits
from authority.domain.identity import Caller, Right
from authority.domain.likeness import NO_TRAITS
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.reasons import Reason
from authority.domain.references import after
from authority.domain.refusal import Refusal
from authority.domain.validation import (
    Finding,
    Profile,
    SignedValidation,
    ValidationOutcome,
    ValidationReceipt,
    worst,
)
from authority.domain.verify import Here
from authority.usecases.admit import Admit
from authority.usecases.gather_material import GatherMaterial
from authority.usecases.ports import (
    Clock,
    Identifiers,
    Proposals,
    RecordedValidation,
    RequestMark,
    Signer,
    Validations,
    Validators,
)
from authority.usecases.validation_runs import ValidationRuns

ERASED: Final = Refusal(Reason.NOT_VALIDATED, {"problem": "content erased"})
"""What failed for secrets is not judged again once it is erased."""
SYNCHRONOUS_S: Final = 30.0
"""How long a caller is kept waiting for validators (semantics §7)."""


@dataclass(frozen=True, slots=True)
class ValidationRequest:
    """Which revision to judge. `deadline` is in event loop time: by then there is an answer."""

    mark: RequestMark
    proposal_id: str
    revision: int
    deadline: float = math.inf


@dataclass(frozen=True, slots=True)
class StillValidating:
    """Validators are at it yet. The same request id asks for what they come to."""


@dataclass(frozen=True, slots=True)
class ValidateProposal:
    """Answers with a signed validation receipt, whatever the outcome."""

    admit: Admit
    signer: Signer
    proposals: Proposals
    validations: Validations
    validators: Validators
    gather: GatherMaterial
    clock: Clock
    identifiers: Identifiers
    here: Here
    runs: ValidationRuns = field(default_factory=ValidationRuns)

    async def __call__(
        self, caller: Caller, request: ValidationRequest
    ) -> RecordedValidation | StillValidating | Refusal:
        """The receipt and the state that it left the revision in, or that validators are at it yet.

        Refusals: NOT_FOUND (absent, or neither the caller's nor the caller may issue), IDEMPOTENCY_CONFLICT,
        NOT_VALIDATED for a superseded revision or a profile that is not installed here, ALREADY_COMMITTED. Raises
        Overloaded while too many validations are under way.
        """
        if refusal := await self.admit(caller):
            return refusal
        proposal = await self.proposals.get(caller.tenant, request.proposal_id, request.revision)
        if proposal is None or not (proposal.revision.proposer == caller.ref or caller.principal.may(Right.ISSUE)):
            return Refusal(Reason.NOT_FOUND)
        profile = await self._profile(proposal)
        if isinstance(profile, Refusal):
            return profile
        if profile.is_quick and proposal.content:
            return await self._judge(request.mark, proposal, profile)
        return await self._judge_long(request, proposal, profile)

    async def _profile(self, proposal: StoredProposal) -> Profile | Refusal:
        """The one that was chosen, unless the memory namespace has come to ask for more since."""
        revision = proposal.revision
        namespace = await self.proposals.namespace(revision.tenant, revision.memory_namespace)
        if namespace is None:
            return Refusal(Reason.NOT_FOUND)
        least = self.validators.profile(namespace.least_profile)
        if least is None:
            return not_installed(namespace.least_profile)
        chosen = self.validators.profile(revision.validator_profile)
        if chosen is None:
            # It may ask for more than the least one, and another process may have it.
            return not_installed(revision.validator_profile)
        return chosen if chosen.includes(least) else least

    async def _judge_long(
        self, request: ValidationRequest, proposal: StoredProposal, profile: Profile
    ) -> RecordedValidation | StillValidating | Refusal:
        mark = request.mark
        # What was answered before is not judged again: it takes long, and its content may have been erased since.
        if earlier := await self.validations.answered(mark):
            return earlier
        if not proposal.content:
            return ERASED
        until = min(request.deadline, asyncio.get_running_loop().time() + SYNCHRONOUS_S)
        answer = await self.runs.answer(mark, lambda: self._judge(mark, proposal, profile), until)
        if answer is not None:
            return answer
        # Should the run end just now, it has moved the revision on, and this changes nothing.
        await self.validations.begin(mark, request.proposal_id, request.revision, self.clock.now())
        return StillValidating()

    async def _judge(
        self, mark: RequestMark, proposal: StoredProposal, profile: Profile
    ) -> RecordedValidation | Refusal:
        gathered = await self.gather(profile, proposal, self.clock.now())
        findings = await self.validators.judge(profile, gathered.material)
        signed = self._signed(proposal, profile, findings)
        failed = signed.receipt.outcome is ValidationOutcome.FAIL
        state = ProposalState.REJECTED if failed else ProposalState.VALIDATED
        # Of what failed nothing is kept to compare with: it becomes a record only after another validation.
        return await self.validations.keep(mark, signed, state, NO_TRAITS if failed else gathered.traits)

    def _signed(self, proposal: StoredProposal, profile: Profile, findings: tuple[Finding, ...]) -> SignedValidation:
        revision, now = proposal.revision, self.clock.now()
        return self.signer.sign_validation(
            ValidationReceipt(
                validation_id=self.identifiers.new(),
                issuer=self.here.issuer,
                tenant=revision.tenant,
                memory_namespace=revision.memory_namespace,
                proposal_id=revision.proposal_id,
                proposal_revision=revision.revision,
                proposal_digest=proposal.digest,
                validator_profile=profile.name,
                validator_profile_version=profile.version,
                findings=findings,
                outcome=worst(findings),
                validate_time=now,
                expire_time=after(now, limits.VALIDATION_LIFETIME_MS),
            )
        )


def not_installed(profile: str) -> Refusal:
    """NOT_VALIDATED: what cannot be judged is not judged."""
    return Refusal(Reason.NOT_VALIDATED, {"problem": f"this authority does not have the validator profile {profile}"})
