"""The port `Nonces` on Redis."""

from authority.domain.limits import NOT_BEFORE_SKEW_MS, READ_FRESH_MS
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.redis.link import RedisAwayError, RedisLink
from authority.redis.names import KeyNames

REMEMBER_MS = READ_FRESH_MS + NOT_BEFORE_SKEW_MS
"""As long as a proof can be fresh: issued by a clock that is ahead by the skew, it is accepted that much longer."""


class RedisNonces:
    """Remembers the proofs of reads; without Redis none can be judged, so every read by Invocation waits for it."""

    def __init__(self, link: RedisLink, names: KeyNames, *, remember_ms: int = REMEMBER_MS) -> None:
        self._link = link
        self._names = names
        self._remember_ms = remember_ms

    async def use(self, key_id: str, nonce: bytes) -> Refusal | None:
        """None for the first use; else PROOF_REPLAYED, or DEPENDENCY_UNAVAILABLE when Redis does not say."""
        try:
            reply = await self._link.ask("SET", self._names.nonce(key_id, nonce), "", "NX", "PX", self._remember_ms)
        except RedisAwayError:
            return Refusal(Reason.DEPENDENCY_UNAVAILABLE)
        return None if reply is True else Refusal(Reason.PROOF_REPLAYED)
