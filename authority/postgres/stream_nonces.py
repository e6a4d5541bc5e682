"""The proofs that opened streams."""

import datetime as dt
from dataclasses import dataclass
from typing import Final

from authority.domain.reasons import Reason
from authority.domain.references import TenantRef
from authority.domain.refusal import Refusal
from authority.postgres import rows
from authority.postgres.connections import Database
from authority.postgres.sql import query

_KEPT: Final = dt.timedelta(hours=1)
"""Far longer than a proof can be fresh, however much two machines' clocks differ."""
_FORGOTTEN_AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True)
class PostgresStreamNonces:
    """Implements `ports.StreamNonces`: the primary key decides. What is old goes whenever something new comes."""

    database: Database

    async def use(self, tenant: TenantRef, key_id: str, nonce: bytes) -> Refusal | None:
        """None for the first use, PROOF_REPLAYED for another. Raises DependencyUnavailable when that is not known."""
        key = (str(tenant), rows.key_id_bytes(key_id), nonce)
        async with self.database.transaction(tenant) as connection:
            is_ours = await connection.fetchval(query("use_stream_nonce"), *key)
            await connection.execute(query("forget_stream_nonces"), str(tenant), _KEPT, _FORGOTTEN_AT_ONCE)
        return None if is_ours else Refusal(Reason.PROOF_REPLAYED)
