"""Looks up registered keys, many in one round trip: each call of the service is authenticated by one (semantics §2)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import structlog

from authority.domain.identity import RegisteredKey
from authority.domain.references import PrincipalRef, TenantRef
from authority.postgres import rows
from authority.postgres.connections import Database
from authority.postgres.fair_queue import Place
from authority.postgres.gathering import Again, Answer, Gathering, GatheringSettings
from authority.postgres.sql import query
from authority.usecases.ports import Contention, DependencyUnavailable

_log = structlog.get_logger(__name__)

_LOOKUP_BYTES = 1_024


@dataclass(frozen=True, slots=True)
class KeyLookup:
    """Whether this is an active key, or other credential, of this active principal."""

    tenant: TenantRef
    principal: PrincipalRef | None
    """None: of whom it is, is asked."""
    key_id: bytes


KeyLookups: TypeAlias = Gathering[KeyLookup, RegisteredKey | None]


def gathered_lookups(database: Database, within_s: float) -> KeyLookups:
    """Lookups that share calls; a call may take so many seconds, then it is given up and its connection dropped.

    What is asked while a call is under way is read by a later one. Two are under way at once: one alone would leave the
    database idle while its answer is read.
    """
    return Gathering("key lookup", _LookupCall(database, within_s).ask, _place, GatheringSettings(calls=2))


def _place(lookup: KeyLookup) -> Place:
    return Place(lookup.tenant, None, _LOOKUP_BYTES)


@dataclass(frozen=True, slots=True)
class _LookupCall:
    database: Database
    within_s: float

    async def ask(self, lookups: Sequence[KeyLookup]) -> Sequence[Answer[RegisteredKey | None]]:
        """One answer each, in order. When the database fails, it fails them all."""
        try:
            async with asyncio.timeout(self.within_s):
                found = await self._find([*dict.fromkeys(lookups)])
        except (DependencyUnavailable, TimeoutError) as error:
            _log.warning("keys not looked up", error=type(error).__name__, told=str(error), lookups=len(lookups))
            return [Again.AWAY] * len(lookups)
        except Contention:
            return [Again.COLLIDED] * len(lookups)
        except Exception as error:  # noqa: BLE001 - a defect of ours, which each of them met
            return [error] * len(lookups)
        return [found.get(lookup) for lookup in lookups]

    async def _find(self, lookups: Sequence[KeyLookup]) -> dict[KeyLookup, RegisteredKey]:
        """The keys that are active."""
        found = await self.database.ask_all(
            query("active_keys"),
            [str(lookup.tenant) for lookup in lookups],
            [lookup.key_id for lookup in lookups],
            [str(lookup.principal) if lookup.principal else None for lookup in lookups],
        )
        return {lookups[row["ordinal"] - 1]: _registered(row, lookups[row["ordinal"] - 1]) for row in found}


def _registered(row: rows.Row, lookup: KeyLookup) -> RegisteredKey:
    return RegisteredKey(rows.principal(row), rows.key_id_text(lookup.key_id), row["public_key"])
