"""The port `Nonces` in a dict."""

from authority.domain.limits import NOT_BEFORE_SKEW_MS, READ_FRESH_MS
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.inprocess.expiring import Expiring
from authority.usecases.ports import Clock


class InProcessNonces:
    """The proofs of reads that this process saw, each for as long as it can be fresh."""

    def __init__(self, clock: Clock, *, remember_ms: int = READ_FRESH_MS + NOT_BEFORE_SKEW_MS) -> None:
        self._used: Expiring[tuple[str, bytes], bytes] = Expiring(clock, remember_ms)

    async def use(self, key_id: str, nonce: bytes) -> Refusal | None:
        """None for the first use, PROOF_REPLAYED for another."""
        key = (key_id, nonce)
        if self._used.get(key) is not None:
            return Refusal(Reason.PROOF_REPLAYED)
        self._used.put(key, nonce)
        return None
