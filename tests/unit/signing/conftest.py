"""A signing room with one active key for each purpose, whose private keys are in a folder of the test."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from authority.domain.references import Instant
from authority.domain.statement import IssuerKey, KeyPurpose, KeyState
from authority.signing.key_folder import KeyFolder
from authority.signing.key_ring import KeyRing
from authority.signing.rotation import generate
from authority.signing.signer import KeyedSigner
from authority.signing.statements import StatementReader
from capability_authority.offline import PrivateKey
from tests.unit.signing import samples


@dataclass(frozen=True)
class Room:
    """The adapters of one process, wired as the service wires them."""

    folder: KeyFolder
    keys: dict[KeyPurpose, IssuerKey]
    ring: KeyRing
    reader: StatementReader
    signer: KeyedSigner

    def private_key(self, purpose: KeyPurpose) -> PrivateKey:
        """What an attacker has who holds this purpose's key."""
        return self.folder.load(purpose, self.keys[purpose].key_id)

    def know(self, *keys: IssuerKey) -> None:
        """The ring knows these keys in place of those with the same ids."""
        by_id = {key.key_id: key for key in (*self.ring.published(), *keys)}
        assert self.ring.replace(tuple(by_id.values())) == ()


def revoked(key: IssuerKey, compromised_since: Instant | None) -> IssuerKey:
    """The key once its row says so."""
    return replace(key, state=KeyState.REVOKED, compromised_since=compromised_since)


@pytest.fixture
def room(tmp_path: Path) -> Room:
    folder = KeyFolder(tmp_path / "keys")
    keys = {purpose: generate(folder, purpose, samples.NOW) for purpose in KeyPurpose}
    ring = KeyRing(folder)
    assert ring.replace(tuple(keys.values())) == ()
    reader = StatementReader(ring)
    return Room(folder, keys, ring, reader, KeyedSigner(ring, reader, samples.ISSUER))
