"""Tells the keys by which this authority's statements are checked."""

from dataclasses import dataclass

from authority.domain.statement import IssuerKey
from authority.domain.verify import Here
from authority.usecases.ports import KeySet


@dataclass(frozen=True, slots=True)
class PublishedKeySet:
    """The keys, revoked ones too. A client pins the issuer: a fetched key set alone is never trust (semantics §3)."""

    here: Here
    keys: tuple[IssuerKey, ...]
    accepted_payload_types: tuple[str, ...]
    service_version: str


@dataclass(frozen=True, slots=True)
class GetKeySet:
    """Answers anyone."""

    keys: KeySet
    here: Here
    service_version: str

    async def __call__(self) -> PublishedKeySet:
        """The key set as this process knows it, at most seconds old."""
        keys = self.keys
        return PublishedKeySet(self.here, keys.published(), keys.accepted_payload_types(), self.service_version)
