"""Credentials files: what they hold, who may read them, and how a bad one is told."""

import json
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from capability_authority.client import (
    ClientCertificate,
    Credentials,
    CredentialsExposed,
    CredentialsRefused,
    Reference,
    TlsRoots,
    TokenFile,
)
from capability_authority.client.proofs import Prover
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


# --- what is shown instead of a signature -----------------------------------------------------------------------------


CLIENT = TlsRoots(b"-----ROOTS-----\n", "authority.example", ClientCertificate(b"-----CERT-----\n", b"-----KEY-----\n"))


def shown(**changes: object) -> Credentials:
    """Credentials that sign nothing."""
    return replace(CREDENTIALS, private_key=None, **changes)  # type: ignore[arg-type] # fields by their names


@pytest.mark.parametrize(
    "credentials",
    [
        lambda: shown(tls=CLIENT, credential_id="sha256:" + "a" * 64),
        lambda: shown(tls=CLIENT),
        lambda: shown(bearer_token="a.b.c"),
        lambda: shown(bearer_token=TokenFile(Path("/run/token")), tls=TlsRoots(b"roots", None)),
        lambda: replace(CREDENTIALS, tls=CLIENT, bearer_token="a.b.c"),
    ],
)
def test_what_is_shown_is_kept_in_the_file_and_never_printed(
    tmp_path: Path, credentials: Callable[[], Credentials]
) -> None:
    kept, file = credentials(), tmp_path / "credentials.json"
    kept.save(file)
    read = Credentials.from_file(file)
    # Keys that sign are not compared but by what they are for.
    assert replace(read, private_key=None, credential_id="x") == replace(kept, private_key=None, credential_id="x")
    assert (read.credential_id, read.private_key and read.key_id) == (
        kept.credential_id,
        kept.private_key and kept.key_id,
    )
    assert "a.b.c" not in repr(kept)
    assert "-----KEY-----" not in repr(kept)


def test_a_certificate_binds_by_its_credential_and_a_token_by_nothing() -> None:
    assert shown(tls=CLIENT, credential_id="sha256:" + "a" * 64).key_id == "sha256:" + "a" * 64
    for credentials in (shown(bearer_token="a.b.c"), shown(tls=CLIENT)):
        with pytest.raises(CredentialsRefused, match="nothing to which"):
            _ = credentials.key_id
    with pytest.raises(CredentialsRefused, match="no key that signs"):
        _ = shown(bearer_token="a.b.c").signing_key
    with pytest.raises(CredentialsRefused, match="neither"):
        shown()


def test_without_a_key_the_metadata_names_the_tenant_and_a_token_is_asked_for_each_time() -> None:
    tokens = iter(["t.o.1", "t.o.2"])
    credentials = shown(bearer_token=lambda: next(tokens))
    prover, tenant = Prover(credentials), "|".join(credentials.tenant)
    for token in ("t.o.1", "t.o.2"):
        assert prover.entries("/x", b"") == [
            ("capability-authority-tenant", tenant),
            ("authorization", f"Bearer {token}"),
        ]


@pytest.mark.parametrize("token", ["", "a b", "a\nb", "ä.b.c", "a\x00"])
def test_what_is_no_token_is_not_sent_nor_shown(token: str) -> None:
    with pytest.raises(CredentialsRefused) as caught:
        Prover(shown(bearer_token=token)).entries("/x", b"")
    assert not token or token not in str(caught.value)


def test_a_file_with_a_token_is_read_anew_and_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "token"
    token = TokenFile(file)
    with pytest.raises(CredentialsRefused):
        token()
    for text in ("t.o.1", "t.o.2"):
        file.write_text(text + "\n")
        file.chmod(0o600)
        assert token() == text
    file.chmod(0o644)
    with pytest.raises(CredentialsExposed):
        token()
