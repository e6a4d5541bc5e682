"""The issuer keys as this process knows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from authority.domain.references import TenantRef
from authority.domain.statement import IssuerKey, KeyPurpose, KeyState
from authority.signing.key_folder import KeyFolder
from authority.signing.statement_kinds import ACCEPTED_PAYLOAD_TYPES
from authority.usecases.ports import NoSigningKey
from capability_authority.offline import KeyRefused, PrivateKey, PublicKey

MINTING: Final = (KeyPurpose.CAPABILITY, KeyPurpose.RECEIPT, KeyPurpose.VALIDATION, KeyPurpose.DECISION)
"""The purposes without which nothing can be committed."""
_SIGNING: Final = (*MINTING, KeyPurpose.REVOCATION)
"""Those of which a key must be there; without the last one nobody can watch revocations."""


@dataclass(frozen=True, slots=True)
class KnownKey:
    """An issuer key whose public key can be trusted with verifying."""

    key: IssuerKey
    public_key: PublicKey


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """All keys at one moment; exchanged whole, never changed."""

    by_id: Mapping[str, KnownKey]
    signing: tuple[IssuerKey, ...]
    """The active ones, newest first."""


class KeyRing:
    """Implements the port `KeySet`. `replace` exchanges all keys at once; between two calls nothing changes.

    Private keys are read from the folder when they are first needed, and forgotten when their key stops being active.
    """

    def __init__(self, folder: KeyFolder) -> None:
        self._folder = folder
        self._snapshot = _Snapshot(MappingProxyType({}), ())
        self._private_keys: dict[str, PrivateKey] = {}

    def replace(self, keys: Sequence[IssuerKey]) -> tuple[str, ...]:
        """Takes these keys for all there are. A revocation among them counts from the very next judgement.

        Returns what is wrong with keys that were left out: a public key that is refused (wrong length, small order,
        non-canonical; case E03), or an id that is not its thumbprint. One bad row must not hold up the revocation of
        another.
        """
        known: dict[str, KnownKey] = {}
        problems: list[str] = []
        for key in keys:
            try:
                known[key.key_id] = KnownKey(key, _public_key_of(key))
            except KeyRefused as error:
                problems.append(f"issuer key {key.key_id}: {error}")
        active = (entry.key for entry in known.values() if entry.key.state is KeyState.ACTIVE)
        signing = tuple(sorted(active, key=lambda key: (-key.create_time, key.key_id)))
        self._snapshot = _Snapshot(MappingProxyType(known), signing)
        active_ids = {key.key_id for key in signing}
        self._private_keys = {key_id: held for key_id, held in self._private_keys.items() if key_id in active_ids}
        return tuple(problems)

    def published(self) -> tuple[IssuerKey, ...]:
        """Every key of the authority, revoked ones too."""
        return tuple(entry.key for entry in self._snapshot.by_id.values())

    def accepted_payload_types(self) -> tuple[str, ...]:
        """The payload types that this authority reads, sorted."""
        return ACCEPTED_PAYLOAD_TYPES

    def find(self, key_id: str) -> KnownKey | None:
        """The key with this id, whatever its state."""
        return self._snapshot.by_id.get(key_id)

    def signing_key(self, purpose: KeyPurpose, tenant: TenantRef, memory_namespace: str) -> PrivateKey:
        """The newest active key of the purpose whose scope covers the statement and whose private key is here.

        Raises `NoSigningKey`, which names the private key file that was expected when only that is missing.
        """
        fault: NoSigningKey | None = None
        for key in self._snapshot.signing:
            if key.purpose is purpose and key.covers(tenant, memory_namespace):
                try:
                    return self._private_key(key)
                except NoSigningKey as error:
                    fault = fault or error
        raise fault or NoSigningKey(f"no active {purpose.value} key covers {tenant}, {memory_namespace}")

    def signing_faults(self) -> tuple[str, ...]:
        """What keeps this process from signing: purposes without an active key, and active keys it cannot use.

        Empty when everything is in place. Meant for the log at the start of the service.
        """
        active = self._snapshot.signing
        missing = set(_SIGNING) - {key.purpose for key in active}
        faults = [
            f"there is no active {purpose.value} key: `authority keys rotate {purpose.value}` makes one"
            for purpose in _SIGNING
            if purpose in missing
        ]
        for key in active:
            try:
                self._private_key(key)
            except NoSigningKey as error:
                faults.append(str(error))
        return tuple(faults)

    def _private_key(self, key: IssuerKey) -> PrivateKey:
        held = self._private_keys.get(key.key_id)
        if held is None:
            held = self._private_keys[key.key_id] = self._folder.load(key.purpose, key.key_id)
        return held


def _public_key_of(key: IssuerKey) -> PublicKey:
    public_key = PublicKey(key.public_key)
    if public_key.key_id != key.key_id:
        raise KeyRefused(f"its public key has the thumbprint {public_key.key_id}")
    return public_key
