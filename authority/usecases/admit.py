"""Lets a call in whose shape was judged: its proof fits, and the proof of a read is used once."""

from dataclasses import dataclass

from authority.domain.identity import Caller
from authority.domain.refusal import Refusal
from authority.usecases.ports import Nonces, StreamNonces


@dataclass(frozen=True, slots=True)
class Admit:
    """PROOF_INVALID, PROOF_REPLAYED, DEPENDENCY_UNAVAILABLE (a read while its nonce cannot be remembered), or None.

    Mutations need no nonce memory: their request id or idempotency key makes the same call again a retry. Neither does
    a caller who signs none: a connection cannot be captured, and a token is no proof of one call.
    """

    nonces: Nonces

    async def __call__(self, caller: Caller) -> Refusal | None:
        """Judges the caller's proof; the first thing a use case does after its request's shape."""
        if caller.proof is None:
            return None
        if caller.proof.refusal or not caller.one_use:
            return caller.proof.refusal
        return await self.nonces.use(caller.key_id, caller.proof.nonce)


@dataclass(frozen=True, slots=True)
class AdmitStream:
    """PROOF_INVALID, PROOF_REPLAYED, or None. Raises DependencyUnavailable while PostgreSQL cannot remember the proof.

    A stream is opened by a proof over the empty message, which fits every stream of its caller: so each opens one.
    Whoever signs no calls has no proof that another could send again.
    """

    nonces: StreamNonces

    async def __call__(self, caller: Caller) -> Refusal | None:
        """Judges the proof that opens a stream, before anything of the stream is read."""
        if caller.proof is None:
            return None
        return caller.proof.refusal or await self.nonces.use(caller.tenant, caller.key_id, caller.proof.nonce)
