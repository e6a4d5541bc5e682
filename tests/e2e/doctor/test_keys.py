"""Whatever may be wrong with the key folder and the certificate, really so, as `authority doctor` tells it."""

from datetime import timedelta
from pathlib import Path

import pytest

from authority.cli.endpoint import Endpoint
from capability_authority.offline import PrivateKey, save_private_key_file
from tests.e2e.doctor.conftest import Doctor
from tests.integration.rpc.certificates import self_signed

pytestmark = pytest.mark.usefixtures("own_servers")
DAY = timedelta(days=1)


def key(keys: Path, purpose: str) -> Path:
    """The private key of the purpose."""
    (file,) = keys.glob(f"{purpose}-*.pem")
    return file


def test_others_who_may_read_keys_are_told(doctor: Doctor, keys: Path) -> None:
    keys.chmod(0o755)
    assert doctor()["key folder"]["remedy"] == f"chmod 700 {keys}"

    keys.chmod(0o700)
    exposed = key(keys, "receipt")
    exposed.chmod(0o640)
    examined = doctor()
    assert examined.not_ok() == ["issuer keys", "key folder"]
    assert examined["key folder"]["found"] == f"others have rights on {exposed}"


def test_a_private_key_that_is_not_here_is_told(doctor: Doctor, keys: Path) -> None:
    lost = key(keys, "decision")
    lost.unlink()

    examined = doctor()

    assert examined.not_ok() == ["issuer keys"]
    assert examined["issuer keys"]["found"].endswith(f"is not here: expected in {lost}")


def test_a_private_key_of_another_database_is_told(doctor: Doctor, keys: Path) -> None:
    save_private_key_file(keys / "receipt-0123456789abcdef.pem", PrivateKey.generate())

    found = doctor().all("issuer keys")[1]

    assert (found["state"], found["found"]) == (
        "warning",
        "the database knows nothing of receipt-0123456789abcdef.pem",
    )


def test_a_folder_that_is_not_there_is_told(doctor: Doctor, keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTHORITY_KEYS", "nowhere")
    assert doctor()["key folder"]["found"] == "nowhere: No such file or directory"


def test_a_secret_of_page_tokens_that_is_none_is_told(doctor: Doctor, keys: Path) -> None:
    secret = keys / "page-tokens.key"
    secret.chmod(0o644)
    assert "gives others rights" in doctor()["page tokens"]["found"]
    secret.chmod(0o600)
    secret.write_bytes(b"short")
    assert "does not hold exactly 32 bytes" in doctor()["page tokens"]["found"]
    secret.unlink()
    assert doctor().not_ok() == []
    assert not secret.exists()


class Certificate:
    """The two files that the settings name."""

    def __init__(self, folder: Path) -> None:
        self.certificate, self.private_key = folder / "tls.pem", folder / "tls.key"

    def write(self, **dates: timedelta) -> None:
        """A new pair."""
        certificate, private_key = self_signed("127.0.0.1", **dates)
        self.certificate.write_bytes(certificate)
        self.private_key.write_bytes(private_key)
        self.private_key.chmod(0o600)


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Certificate:
    """A certificate that lacks nothing, which the settings name; nobody serves."""
    pair = Certificate(tmp_path)
    pair.write(good_for=90 * DAY)
    monkeypatch.setenv("AUTHORITY_TLS_CERTIFICATE", str(pair.certificate))
    monkeypatch.setenv("AUTHORITY_TLS_PRIVATE_KEY", str(pair.private_key))
    monkeypatch.setenv("AUTHORITY_LISTEN", "127.0.0.1:1")
    return pair


def told(doctor: Doctor, check: str) -> tuple[str, str]:
    """State and words of one finding."""
    found = doctor()[check]
    return found["state"], found["found"]


def test_the_life_of_a_certificate_is_told(doctor: Doctor, pair: Certificate) -> None:
    assert told(doctor, "tls certificate")[0] == "ok"
    pair.write(good_for=10 * DAY)
    assert told(doctor, "tls certificate")[0] == "warning"
    pair.write(since=2 * DAY, good_for=-DAY)
    state, found = told(doctor, "tls certificate")
    assert (state, found[:10]) == ("problem", "expired on")
    pair.write(since=-DAY, good_for=90 * DAY)
    state, found = told(doctor, "tls certificate")
    assert (state, found[:19]) == ("problem", "is not valid before")
    pair.certificate.write_text("none")
    assert told(doctor, "tls certificate")[0] == "problem"


def test_a_private_key_of_tls_that_will_not_do_is_told(
    doctor: Doctor, pair: Certificate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doctor().not_ok() == ["health"]
    pair.private_key.chmod(0o640)
    assert told(doctor, "tls private key") == ("problem", f"others have rights on {pair.private_key}")
    pair.private_key.chmod(0o600)
    pair.private_key.write_bytes(self_signed("127.0.0.1")[1])
    assert told(doctor, "tls private key") == ("problem", f"{pair.private_key} is another certificate's")
    pair.private_key.unlink()
    assert told(doctor, "tls private key") == ("problem", f"{pair.private_key}: No such file or directory")
    monkeypatch.delenv("AUTHORITY_TLS_PRIVATE_KEY")
    assert doctor()["tls"]["remedy"] == "set AUTHORITY_TLS_PRIVATE_KEY, or unset the other"


def test_an_address_that_others_reach_without_tls_is_told(
    doctor: Doctor, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTHORITY_LISTEN", f"0.0.0.0:{endpoint.target.rpartition(':')[2]}")
    assert doctor()["tls"]["state"] == "problem"
