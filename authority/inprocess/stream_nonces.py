"""The port `StreamNonces` in a set."""

from dataclasses import dataclass

from authority.domain.reasons import Reason
from authority.domain.references import TenantRef
from authority.domain.refusal import Refusal
from authority.inprocess.tables import Tables


@dataclass(frozen=True, slots=True)
class InProcessStreamNonces:
    """Implements `ports.StreamNonces`; forgets nothing."""

    tables: Tables

    async def use(self, tenant: TenantRef, key_id: str, nonce: bytes) -> Refusal | None:
        """None for the first use, PROOF_REPLAYED for another."""
        key = (tenant, key_id, nonce)
        if key in self.tables.stream_nonces:
            return Refusal(Reason.PROOF_REPLAYED)
        self.tables.stream_nonces.add(key)
        return None
