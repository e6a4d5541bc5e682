"""Judges a capability and changes nothing: looking never counts as a use (case A10)."""

from dataclasses import dataclass

from authority.domain.capability import Presentation
from authority.domain.identity import Caller
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal, highest, malformed
from authority.domain.statement import KeyPurpose, Statement
from authority.domain.verify import Here, verify
from authority.usecases.admit import Admit
from authority.usecases.ports import Capabilities, Clock, Statements


@dataclass(frozen=True, slots=True)
class CapabilityVerdict:
    """`refusal` is None when the capability's own terms allow the presentation and it is not revoked.

    `receipt_id` names the commit that consumed it. That, and the revocation, are told inside its tenant alone.
    """

    refusal: Refusal | None
    receipt_id: str


@dataclass(frozen=True, slots=True)
class VerifyCapability:
    """The verdict is data; only a call that cannot be judged is refused. Other live state is judged at commit."""

    admit: Admit
    statements: Statements
    capabilities: Capabilities
    clock: Clock
    here: Here

    async def __call__(
        self, caller: Caller, statement: Statement, presentation: Presentation | None
    ) -> CapabilityVerdict | Refusal:
        """MALFORMED, PROOF_INVALID, PROOF_REPLAYED or DEPENDENCY_UNAVAILABLE when it cannot be judged."""
        if presentation and (
            problem := await self.statements.content_problem(presentation.content, presentation.media_type)
        ):
            return malformed("presentation.content", problem)
        capability = self.statements.open_capability(statement)
        if isinstance(capability, Refusal):
            return capability
        if refusal := await self.admit(caller):
            return refusal
        terms = capability.terms
        signature_refusal = self.statements.judge_signature(
            statement, KeyPurpose.CAPABILITY, terms.tenant, terms.memory_namespace
        )
        verdict = verify(capability, signature_refusal, presentation, None, self.here, self.clock.now())
        refusal = verdict if isinstance(verdict, Refusal) else None
        if terms.tenant != caller.tenant or signature_refusal:
            return CapabilityVerdict(refusal, "")
        fate = await self.capabilities.fate_of(caller.tenant, terms.capability_id)
        revoked = Refusal(Reason.REVOKED) if fate and fate.is_revoked else None
        return CapabilityVerdict(highest((refusal, revoked)), (fate and fate.receipt_id) or "")
