"""The keys of one issuer, as far as they are trusted (semantics §3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from capability_authority.offline.errors import KeyRefused, KeySetRefused
from capability_authority.offline.instants import InstantError, instant_ms
from capability_authority.offline.keys import PublicKey
from capability_authority.v1.types_pb2 import KEY_STATE_ACTIVE, KEY_STATE_RETIRING, KeyPurpose, KeyState, TenantRef

if TYPE_CHECKING:
    from capability_authority.v1.capability_service_pb2 import GetKeySetResponse

__all__ = ["KeyRecord", "KeySet", "KeySetRefused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRecord:
    """What is known of one key: who may rely on it, for what, and whether still.

    Purposes and states that this version does not know are kept as they came, and match nothing.
    """

    public_key: PublicKey
    purpose: "KeyPurpose.ValueType"
    state: "KeyState.ValueType"
    compromised_since_ms: int | None = None
    """When set, in milliseconds since 1970: what the key signed from then on was not made by its owner."""
    tenant: tuple[str, str] | None = None
    """Namespace and id of the only tenant the key may sign for; None for every tenant."""
    memory_namespace: str | None = None
    """The only memory namespace the key may sign for; None for every one."""

    @property
    def verifies(self) -> bool:
        """Whether signatures of this key count: it is active or retiring, and not known to be compromised."""
        return self.state in (KEY_STATE_ACTIVE, KEY_STATE_RETIRING) and self.compromised_since_ms is None

    def covers(self, tenant: TenantRef, memory_namespace: str | None) -> bool:
        """Whether the key may sign for this tenant and memory namespace (None: the statement names none)."""
        tenant_covered = self.tenant in (None, (tenant.namespace, tenant.id))
        return tenant_covered and (memory_namespace is None or self.memory_namespace in (None, memory_namespace))


@dataclass(frozen=True, slots=True)
class KeySet:
    """The keys of one pinned issuer, by key id."""

    issuer: str
    records: Mapping[str, KeyRecord] = field(repr=False)

    @classmethod
    def of(cls, issuer: str, *records: KeyRecord) -> Self:
        """A key set made of known records, for instance from a pinned file.

        Raises `KeySetRefused` when a key occurs twice.
        """
        by_id = {record.public_key.key_id: record for record in records}
        if len(by_id) != len(records):
            raise KeySetRefused("a key occurs twice in the key set")
        return cls(issuer, MappingProxyType(by_id))

    @classmethod
    def from_response(
        cls, response: "GetKeySetResponse", *, pinned_issuer: str, pinned_key_ids: frozenset[str] | None
    ) -> Self:
        """What may be trusted of a fetched or stored GetKeySet response.

        A response says of itself who it is from, so alone it proves nothing. With `pinned_key_ids`, known by another
        road, only those keys are taken, however the response came. With None every key is taken, and trust rests on
        the road it came by: pass None only for a response read from the authority itself over an authenticated
        channel.

        Raises `KeySetRefused` for another issuer than the pinned one, an id that is not the thumbprint of its key, a
        key that `PublicKey` refuses, a key that occurs twice, an impossible time, or none of the pinned keys.
        """
        if response.issuer != pinned_issuer:
            raise KeySetRefused(f"expected the key set of {pinned_issuer!r}, presented that of {response.issuer!r}")
        records = [_record(key) for key in response.keys if pinned_key_ids is None or key.key_id in pinned_key_ids]
        if pinned_key_ids is not None and not records:
            raise KeySetRefused("the key set holds none of the pinned keys")
        return cls.of(pinned_issuer, *records)

    def record(self, key_id: str) -> KeyRecord | None:
        """What is known of the key with this id, or None."""
        return self.records.get(key_id)


def _record(key: "GetKeySetResponse.Key") -> KeyRecord:
    try:
        public_key = PublicKey(key.public_key)
        since_ms = instant_ms(key.compromised_since_time) if key.HasField("compromised_since_time") else None
    except (KeyRefused, InstantError) as error:
        raise KeySetRefused(f"key {key.key_id!r}: {error}") from error
    if key.key_id != public_key.key_id:
        raise KeySetRefused(f"key {key.key_id!r} has the thumbprint {public_key.key_id!r}")
    return KeyRecord(
        public_key=public_key,
        purpose=key.purpose,
        state=key.state,
        compromised_since_ms=since_ms,
        tenant=(key.tenant.namespace, key.tenant.id) if key.HasField("tenant") else None,
        memory_namespace=key.memory_namespace or None,
    )
