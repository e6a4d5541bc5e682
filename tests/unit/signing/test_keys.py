"""The folder of private keys, the ring that signs with them, and how keys come and go."""

import stat
from dataclasses import replace

import pytest

from authority.domain.references import after
from authority.domain.statement import KeyPurpose, KeyState
from authority.signing.key_folder import KeyFolder
from authority.signing.key_ring import KeyRing
from authority.signing.rotation import Scope, generate
from authority.usecases.ports import KeySet, NoSigningKey
from capability_authority.offline import PrivateKey
from capability_authority.offline.statements import REVOCATION, REVOCATION_HEARTBEAT
from tests.unit.signing import kinds, samples
from tests.unit.signing.conftest import Room, revoked

OTHERS = 0o077


def test_a_generated_key_is_durable_before_anybody_knows_it(room: Room) -> None:
    # When a key is generated
    key = generate(room.folder, KeyPurpose.GRANT, samples.NOW, Scope(samples.TENANT, samples.NAMESPACE))

    # Then its private key is in a file only its owner can read, named by purpose and thumbprint
    file = room.folder.path / f"grant-{key.key_id.removeprefix('sha256:')[:16]}.pem"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not stat.S_IMODE(room.folder.path.stat().st_mode) & OTHERS
    assert room.folder.load(KeyPurpose.GRANT, key.key_id).public_key.raw == key.public_key

    # And the row to insert says the rest
    assert (key.purpose, key.state, key.create_time) == (KeyPurpose.GRANT, KeyState.ACTIVE, samples.NOW)
    assert (key.tenant, key.memory_namespace) == (samples.TENANT, samples.NAMESPACE)


def test_a_process_without_the_private_key_says_which_file_it_expects(room: Room) -> None:
    # Given an active key whose private key is on another machine
    key = room.keys[KeyPurpose.CAPABILITY]
    file = room.folder.file_of(KeyPurpose.CAPABILITY, key.key_id)
    pem = file.read_bytes()
    file.unlink()

    # Then it can verify with it, and not sign
    assert room.ring.find(key.key_id) is not None
    assert len(room.ring.signing_faults()) == 1
    assert str(file) in room.ring.signing_faults()[0]
    with pytest.raises(NoSigningKey, match=str(file)):
        room.signer.sign_capability(samples.CAPABILITY)

    # And once the file is brought, it can without being started anew
    file.touch(0o600)
    file.write_bytes(pem)
    assert room.ring.signing_faults() == ()
    assert room.signer.sign_capability(samples.CAPABILITY).statement.key_id == key.key_id


def test_a_process_that_lacks_the_newest_key_signs_with_the_one_before(room: Room) -> None:
    # Given a newer active key whose private key is not here
    elsewhere = KeyFolder(room.folder.path.with_name("elsewhere"))
    newer = generate(elsewhere, KeyPurpose.RECEIPT, after(samples.NOW, 1))
    room.know(newer)

    # Then the one before it signs, and the missing file is told
    assert room.signer.sign_receipt(samples.RECEIPT).key_id == room.keys[KeyPurpose.RECEIPT].key_id
    assert newer.key_id in room.ring.signing_faults()[0]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644, 0o666])
def test_private_key_files_that_others_have_rights_on_are_refused(room: Room, mode: int) -> None:
    file = room.folder.file_of(KeyPurpose.CAPABILITY, room.keys[KeyPurpose.CAPABILITY].key_id)
    file.chmod(mode)
    with pytest.raises(NoSigningKey, match="chmod 600"):
        room.signer.sign_capability(samples.CAPABILITY)


def test_a_file_that_holds_another_key_or_none_is_refused(room: Room) -> None:
    # Given a file of the right name with another key's content
    key = room.keys[KeyPurpose.CAPABILITY]
    file = room.folder.file_of(KeyPurpose.CAPABILITY, key.key_id)
    file.write_bytes(PrivateKey.generate().to_pem())
    with pytest.raises(NoSigningKey, match="holds the private key of"):
        room.signer.sign_capability(samples.CAPABILITY)

    # Or with none, or that is no file
    file.write_bytes(b"")
    with pytest.raises(NoSigningKey, match="cannot be used"):
        room.signer.sign_capability(samples.CAPABILITY)
    file.unlink()
    file.mkdir()
    with pytest.raises(NoSigningKey, match="cannot be used"):
        room.signer.sign_capability(samples.CAPABILITY)


def test_a_private_key_is_never_overwritten(room: Room) -> None:
    with pytest.raises(FileExistsError):
        room.folder.save(KeyPurpose.RECEIPT, room.private_key(KeyPurpose.RECEIPT))
    assert {file.suffix for file in room.folder.path.iterdir()} == {".pem"}


def test_a_key_that_stops_being_active_is_forgotten(room: Room) -> None:
    # Given a key that has signed
    key = room.keys[KeyPurpose.RECEIPT]
    room.signer.sign_receipt(samples.RECEIPT)
    room.folder.file_of(KeyPurpose.RECEIPT, key.key_id).unlink()
    assert room.signer.sign_receipt(samples.RECEIPT).key_id == key.key_id

    # When it retires, and is active again only by mistake
    room.know(replace(key, state=KeyState.RETIRING))
    room.know(key)

    # Then its private key is in this process no more
    with pytest.raises(NoSigningKey, match="is not here"):
        room.signer.sign_receipt(samples.RECEIPT)


def test_the_ring_publishes_every_key_and_what_it_reads(room: Room) -> None:
    # Given keys in all states
    gone = revoked(generate(room.folder, KeyPurpose.RECEIPT, samples.NOW), samples.NOW)
    room.know(gone)

    # Then all are published, and just the payload types that are read, with those of the feed
    key_set: KeySet = room.ring
    assert set(key_set.published()) == {*room.keys.values(), gone}
    read = (kind.payload_type for kind in (*kinds.READ, kinds.EVIDENCE, kinds.INVOCATION))
    assert key_set.accepted_payload_types() == tuple(sorted((*read, REVOCATION, REVOCATION_HEARTBEAT)))


def test_an_empty_ring_says_what_is_missing(room: Room) -> None:
    ring = KeyRing(room.folder)
    assert ring.published() == ()
    assert ring.signing_faults() == tuple(
        f"there is no active {purpose} key: `authority keys rotate {purpose}` makes one"
        for purpose in ("capability", "receipt", "validation", "decision", "revocation")
    )
