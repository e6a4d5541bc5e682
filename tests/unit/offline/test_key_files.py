"""Private key files: only their owner's, written whole or not at all."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from capability_authority.offline import KeyFileExposed, KeyRefused, load_private_key_file, save_private_key_file
from tests.unit.offline.builders import private_key

KEY = private_key("file")
PKCS8 = (Encoding.PEM, PrivateFormat.PKCS8)


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    """The run under an open, a usual and a closed umask."""
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_a_saved_key_is_loaded_again_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "receipt.pem"

    save_private_key_file(path, KEY)

    assert path.stat().st_mode & 0o777 == 0o600
    assert load_private_key_file(path).public_key == KEY.public_key
    assert list(tmp_path.iterdir()) == [path]


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "receipt.pem"
    save_private_key_file(path, KEY)

    with pytest.raises(FileExistsError):
        save_private_key_file(path, private_key("other"))

    assert load_private_key_file(path).public_key == KEY.public_key
    assert list(tmp_path.iterdir()) == [path]


def test_a_dangling_link_is_not_written_through(tmp_path: Path) -> None:
    path = tmp_path / "receipt.pem"
    path.symlink_to(tmp_path / "elsewhere.pem")

    with pytest.raises(FileExistsError):
        save_private_key_file(path, KEY)

    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o666, 0o777])
def test_a_file_that_others_have_rights_on_is_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "receipt.pem"
    save_private_key_file(path, KEY)
    path.chmod(mode)

    with pytest.raises(KeyFileExposed, match=f"mode {mode:04o}.*chmod 600 .*receipt.pem"):
        load_private_key_file(path)


def test_an_exposed_file_is_refused_behind_a_link_too(tmp_path: Path) -> None:
    path, link = tmp_path / "data.pem", tmp_path / "receipt.pem"
    save_private_key_file(path, KEY)
    link.symlink_to(path)
    assert load_private_key_file(link).public_key == KEY.public_key

    path.chmod(0o644)

    with pytest.raises(KeyFileExposed):
        load_private_key_file(link)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"no key at all", id="text"),
        pytest.param(KEY.to_pem()[:-40], id="truncated"),
        pytest.param(ec.generate_private_key(ec.SECP256R1()).private_bytes(*PKCS8, NoEncryption()), id="p256"),
        pytest.param(ed448.Ed448PrivateKey.generate().private_bytes(*PKCS8, NoEncryption()), id="ed448"),
        pytest.param(
            ec.generate_private_key(ec.SECP256R1()).private_bytes(*PKCS8, BestAvailableEncryption(b"secret")),
            id="encrypted",
        ),
        pytest.param(
            ec.generate_private_key(ec.SECP256R1())
            .public_key()
            .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
            id="public",
        ),
        pytest.param(b"x" * 100_000, id="huge"),
    ],
)
def test_a_file_without_an_ed25519_key_is_refused(tmp_path: Path, document: bytes) -> None:
    path = tmp_path / "receipt.pem"
    path.touch(mode=0o600)
    path.write_bytes(document)

    with pytest.raises(KeyRefused, match=r"receipt\.pem") as refusal:
        load_private_key_file(path)

    assert not isinstance(refusal.value, KeyFileExposed)
    assert document.decode()[:20] not in str(refusal.value) or not document


def test_what_is_no_regular_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.pem"
    os.mkfifo(pipe, 0o600)

    with pytest.raises(KeyRefused, match="regular file"):
        load_private_key_file(pipe)
    with pytest.raises(KeyRefused, match="regular file"):
        load_private_key_file(tmp_path)


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_private_key_file(tmp_path / "none.pem")
    with pytest.raises(FileNotFoundError):
        save_private_key_file(tmp_path / "no folder" / "receipt.pem", KEY)
