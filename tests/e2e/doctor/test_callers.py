"""`authority doctor`: who may call without signing."""

from pathlib import Path

import pytest

from tests.e2e.doctor.conftest import Doctor
from tests.world.certificates import TestAuthority
from tests.world.clock import BEGINNING
from tests.world.token_issuers import TestIssuer

pytestmark = pytest.mark.usefixtures("own_servers")

ISSUERS = """
[[issuer]]
issuer = "https://login.example"
audience = "capability-authority"
algorithms = ["ES256"]
jwks_file = "{file}"
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with everything for mutual TLS, which the settings name; nobody serves."""
    authority = TestAuthority()
    pair = authority.server()
    for name, data in {
        "certificate": pair.certificate,
        "private_key": pair.private_key,
        "client_ca": authority.pem,
    }.items():
        file = tmp_path / f"{name}.pem"
        file.write_bytes(data)
        file.chmod(0o600)
        monkeypatch.setenv(f"AUTHORITY_TLS_{name.upper()}", str(file))
    monkeypatch.setenv("AUTHORITY_TLS_TRUST_DOMAINS", "harbour.example")
    monkeypatch.setenv("AUTHORITY_LISTEN", "127.0.0.1:1")
    return tmp_path


def told(doctor: Doctor, check: str) -> tuple[str, str]:
    """State and words of one finding."""
    found = doctor()[check]
    return found["state"], found["found"]


def test_who_vouches_for_clients_is_told(doctor: Doctor, settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check = "client certificates"
    assert told(doctor, check) == ("ok", "are taken, with SPIFFE ids of harbour.example")
    assert told(doctor, "health")[0] == "ok", "it cannot be asked without a certificate"
    (settings / "client_ca.pem").write_text("none")
    assert told(doctor, check)[0] == "problem"
    monkeypatch.delenv("AUTHORITY_TLS_CLIENT_CA")
    assert told(doctor, check) == ("warning", "trust domains are named, and no authority")


def test_whose_tokens_are_taken_is_told(doctor: Doctor, settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check, file, keys = "token issuers", settings / "issuers.toml", settings / "jwks.json"
    monkeypatch.setenv("AUTHORITY_TOKEN_ISSUERS", str(file))
    assert told(doctor, check) == ("problem", f"{file} cannot be read (No such file or directory)")
    file.write_text(ISSUERS.format(file=keys))
    assert told(doctor, check) == ("problem", f"{keys} cannot be read (No such file or directory)")
    keys.write_text('{"keys": []}')
    assert told(doctor, check) == ("problem", f"{keys} has no key with an id for its algorithms")
    keys.write_bytes(TestIssuer(BEGINNING).published)
    assert told(doctor, check) == ("ok", "https://login.example has 1 keys")
