"""The authority's keys as this client knows them: pinned to the issuer, fetched when needed, kept for a while."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, Unpack

from capability_authority.client.call_options import CallOptions
from capability_authority.offline import KeySet, KeyUnknown, verify_receipt
from capability_authority.v1.capability_service_pb2 import GetKeySetResponse
from capability_authority.v1.statements_pb2 import CommitReceipt, SignedStatement

__all__ = ["KEY_SET_LIFETIME", "Fetch", "KeySets"]

KEY_SET_LIFETIME: Final = 300.0
"""Seconds after which the key set is fetched again: how long a revocation can go unnoticed here."""


class Fetch(Protocol):
    """Asks the authority for its key set."""

    async def __call__(self, **options: Unpack[CallOptions]) -> GetKeySetResponse:
        """The response, unjudged."""
        ...


@dataclass(frozen=True, slots=True)
class _Known:
    key_set: KeySet
    since: float


class KeySets:
    """Keeps one key set."""

    def __init__(
        self, fetch: Fetch, *, issuer: str, pinned_key_ids: frozenset[str] | None, clock: Callable[[], float]
    ) -> None:
        """`clock` is in seconds and never goes back."""
        self._fetch = fetch
        self._issuer = issuer
        self._pinned_key_ids = pinned_key_ids
        self._clock = clock
        self._known: _Known | None = None
        self._fetching = asyncio.Lock()

    async def current(self, *, at_least_since: float | None = None, **options: Unpack[CallOptions]) -> KeySet:
        """The key set, at most `KEY_SET_LIFETIME` old and fetched no earlier than `at_least_since`.

        Raises `AuthorityError` when it cannot be fetched, `KeySetRefused` when it is not the pinned issuer's.
        """
        async with self._fetching:
            now = self._clock()
            oldest = now - KEY_SET_LIFETIME if at_least_since is None else at_least_since
            if self._known is None or self._known.since < oldest:
                response = await self._fetch(**options)
                key_set = KeySet.from_response(
                    response, pinned_issuer=self._issuer, pinned_key_ids=self._pinned_key_ids
                )
                self._known = _Known(key_set, now)
            return self._known.key_set

    async def verify_receipt(
        self,
        statement: SignedStatement,
        *,
        attestation: SignedStatement | None,
        content: bytes | None,
        arrived: float | None = None,
        **options: Unpack[CallOptions],
    ) -> CommitReceipt:
        """What a receipt says, once verified; a key that is not known yet is looked for once.

        `arrived` is when the receipt came, just now when None: of many that came together the first that needs it looks
        for all. Raises as `current` and `offline.verify_receipt`.
        """
        asked = self._clock() if arrived is None else arrived
        key_set = await self.current(**options)
        try:
            return verify_receipt(statement, key_set, attestation=attestation, content=content)
        except KeyUnknown:
            key_set = await self.current(at_least_since=asked, **options)
            return verify_receipt(statement, key_set, attestation=attestation, content=content)
