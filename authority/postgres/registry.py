"""The registry of principals, and the authority's own keys."""

import math
from dataclasses import dataclass

from authority.domain.identity import Principal, RegisteredKey
from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.statement import IssuerKey
from authority.postgres import rows
from authority.postgres.connections import Database
from authority.postgres.key_lookups import KeyLookup, gathered_lookups
from authority.postgres.sql import query
from authority.usecases.ports import Contention, DependencyUnavailable, Overloaded

_ONCE = -math.inf
"""A deadline that has passed: nothing is asked a second time."""
_FAULTS: dict[Reason, type[Exception]] = {Reason.OVERLOADED: Overloaded, Reason.CONTENTION: Contention}


class PostgresRegistry:
    """Implements `ports.Registry`: what is revoked is absent from the next call on.

    A database that hangs is waited for `within_s` seconds.
    """

    def __init__(self, database: Database, within_s: float = 5.0) -> None:
        self._database = database
        self._lookups = gathered_lookups(database, within_s)

    async def active_key(self, tenant: TenantRef, principal: PrincipalRef, key_id: str) -> RegisteredKey | None:
        """The key when it, and its principal, are active.

        Asked together with others, and once: when the database fails, it is the caller's to ask again.
        """
        return await self._ask(KeyLookup(tenant, principal, rows.key_id_bytes(key_id)))

    async def owner(self, tenant: TenantRef, credential_id: str) -> RegisteredKey | None:
        """The credential when it, and its principal, are active. Asked together with others, and once."""
        return await self._ask(KeyLookup(tenant, None, rows.key_id_bytes(credential_id)))

    async def _ask(self, lookup: KeyLookup) -> RegisteredKey | None:
        found = await self._lookups.ask(lookup, deadline=_ONCE)
        if isinstance(found, Refusal):
            raise _FAULTS.get(found.reason, DependencyUnavailable)("a key could not be looked up")
        return found

    async def principal(self, tenant: TenantRef, principal: PrincipalRef) -> Principal | None:
        """The principal when it is active."""
        async with self._database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("active_principal"), str(tenant), str(principal))
        return rows.principal(row) if row else None


@dataclass(frozen=True, slots=True)
class PostgresIssuerKeys:
    """The authority's keys, which belong to no tenant."""

    database: Database

    async def load(self) -> tuple[IssuerKey, ...]:
        """Every key, oldest first."""
        return tuple(rows.issuer_key(row) for row in await self.database.ask_all(query("issuer_keys")))
