"""Who is calling: opens the proof of a call and looks its key up in the registry (semantics §2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain import limits
from authority.domain.identity import Caller, Proof
from authority.domain.invocation import Call, judge_fit
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.ports import Clock, Registry, Statements


@dataclass(frozen=True, slots=True)
class Authenticate:
    """Answers with the caller, or CALLER_UNAUTHENTICATED; nothing unverified authenticates anybody.

    A well signed Invocation that does not fit the call still names its caller: the misfit travels along as the
    proof's refusal, for it is told only after the request's shape was judged.
    """

    statements: Statements
    registry: Registry
    clock: Clock

    async def __call__(self, proofs: Sequence[bytes], call: Call) -> Caller | Refusal:
        """`proofs` are the metadata entries: exactly one is accepted (case I06)."""
        if len(proofs) != 1 or len(proofs[0]) > limits.PROOF_BYTES:
            return Refusal(Reason.CALLER_UNAUTHENTICATED)
        opened = self.statements.open_invocation(proofs[0])
        if opened is None:
            return Refusal(Reason.CALLER_UNAUTHENTICATED)
        invocation, statement = opened.invocation, opened.statement
        key = await self.registry.active_key(invocation.tenant, invocation.principal, statement.key_id)
        if key is None or not self.statements.is_signed_by(statement, key.public_key):
            return Refusal(Reason.CALLER_UNAUTHENTICATED)
        fit = judge_fit(invocation, call, self.clock.now())
        return Caller(key.principal, key.key_id, Proof(invocation.nonce, fit), one_use=call.is_read)
