"""Credentials files: what they hold, who may read them, and how a bad one is told."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capability_authority.client import Credentials, CredentialsExposed, CredentialsRefused, Reference
from capability_authority.offline import PrivateKey

KEY = PrivateKey.from_seed(bytes(32))
CREDENTIALS = Credentials(
    target="127.0.0.1:7443",
    issuer="authority.example",
    audience="memory.example",
    tenant=Reference("tenants", "acme"),
    principal=Reference("workload", "committer"),
    private_key=KEY,
)
SECRET_LINE = KEY.to_pem().decode().splitlines()[1]


def members() -> dict[str, Any]:
    """A credentials file as `authority principals add --out` writes it."""
    return {
        "version": 1,
        "target": "127.0.0.1:7443",
        "issuer": "authority.example",
        "audience": "memory.example",
        "tenant": {"namespace": "tenants", "id": "acme"},
        "principal": {"namespace": "workload", "id": "committer"},
        "key_id": KEY.public_key.key_id,
        "private_key_pem": KEY.to_pem().decode(),
    }


def test_the_file_is_what_the_command_line_writes() -> None:
    assert json.loads(CREDENTIALS.to_json()) == members()


def test_a_saved_file_is_read_back_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"

    CREDENTIALS.save(path)

    read = Credentials.from_file(path)
    assert read.to_json() == CREDENTIALS.to_json()
    assert read.key_id == KEY.public_key.key_id
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"
    path.write_text("precious")

    with pytest.raises(FileExistsError):
        CREDENTIALS.save(path)

    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601, 0o644, 0o666])
def test_a_file_that_others_have_rights_on_is_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "credentials.json"
    CREDENTIALS.save(path)
    path.chmod(mode)

    with pytest.raises(CredentialsExposed, match=f"mode {mode:04o}.*chmod 600 {path}"):
        Credentials.from_file(path)


def test_a_symbolic_link_is_followed_to_the_file_whose_mode_counts(tmp_path: Path) -> None:
    CREDENTIALS.save(tmp_path / "real.json")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")

    assert Credentials.from_file(tmp_path / "link.json").key_id == CREDENTIALS.key_id

    (tmp_path / "real.json").chmod(0o644)
    with pytest.raises(CredentialsExposed):
        Credentials.from_file(tmp_path / "link.json")


def test_a_missing_file_a_folder_and_a_huge_file_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "huge").write_bytes(bytes(65 * 1024))
    (tmp_path / "huge").chmod(0o600)
    os.mkfifo(tmp_path / "pipe", 0o600)

    with pytest.raises(CredentialsRefused, match="No such file"):
        Credentials.from_file(tmp_path / "missing")
    with pytest.raises(CredentialsRefused, match="Is a directory"):
        Credentials.from_file(tmp_path)
    with pytest.raises(CredentialsRefused, match="not a regular file"):
        Credentials.from_file(tmp_path / "pipe")
    with pytest.raises(CredentialsRefused, match="larger than"):
        Credentials.from_file(tmp_path / "huge")


def test_the_environment_names_the_file(tmp_path: Path) -> None:
    CREDENTIALS.save(tmp_path / "credentials.json")

    read = Credentials.from_environment({"AUTHORITY_CREDENTIALS": str(tmp_path / "credentials.json")})

    assert read.key_id == CREDENTIALS.key_id
    for environment in ({}, {"AUTHORITY_CREDENTIALS": ""}):
        with pytest.raises(CredentialsRefused, match="authority principals add --out"):
            Credentials.from_environment(environment)


def without(name: str) -> Callable[[dict[str, Any]], object]:
    """Leaves one member out."""
    return lambda changed: changed.pop(name)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        *((without(name), f"{name} is missing") for name in members()),
        (lambda changed: changed.update(version=2), "version 1 is expected, not 2"),
        (lambda changed: changed.update(version=True), "version 1 is expected, not True"),
        (lambda changed: changed.update(color="red"), "color is unknown"),
        (lambda changed: changed.update(target=""), "target must be a text"),
        (lambda changed: changed.update(issuer=7), "issuer must be a text"),
        (lambda changed: changed.update(tenant="acme"), "tenant must be an object"),
        (lambda changed: changed["tenant"].pop("namespace"), "tenant.namespace is missing"),
        (lambda changed: changed["principal"].update(kind="user"), "principal.kind is unknown"),
        (lambda changed: changed.update(key_id="sha256:" + "0" * 64), "key_id is not the thumbprint"),
        (lambda changed: changed.update(private_key_pem="nonsense"), "private_key_pem: not an unencrypted private key"),
    ],
)
def test_what_is_wrong_is_named_and_the_key_is_not_shown(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], problem: str
) -> None:
    # Given a file with one thing wrong
    changed = members()
    change(changed)
    path = tmp_path / "credentials.json"
    path.write_text(json.dumps(changed))
    path.chmod(0o600)

    # When it is read, then the message names the file and the thing, never the secret
    with pytest.raises(CredentialsRefused, match=problem) as caught:
        Credentials.from_file(path)
    assert str(path) in str(caught.value)
    assert SECRET_LINE not in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b'{"version":1,"version":1}'])
def test_what_is_no_credentials_file_is_refused(data: bytes) -> None:
    with pytest.raises(CredentialsRefused):
        Credentials.from_json(data)


def test_the_secret_is_not_shown() -> None:
    assert SECRET_LINE not in repr(CREDENTIALS)
    assert SECRET_LINE not in str(CREDENTIALS)
    assert KEY.public_key.key_id in repr(CREDENTIALS)
