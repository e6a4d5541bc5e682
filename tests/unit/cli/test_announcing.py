"""What a newcomer is told once it serves is what works."""

from pathlib import Path

import pytest

from authority.cli.announcing import announce_embedded
from authority.cli.endpoint import Endpoint
from authority.config import Settings

PEM = Path("server.pem")


ENDPOINT = Endpoint(
    pid=1,
    target="127.0.0.1:1",
    issuer="issuer",
    audience="audience",
    admin_database_url="",
    redis_url="",
    keys="keys",
    metrics="http://127.0.0.1:2/metrics",
)


def said(
    capsys: pytest.CaptureFixture[str], tls_certificate: Path | None = None, tls_client_ca: Path | None = None
) -> str:
    """What is announced of an embedded authority with these settings; no other is looked at."""
    settings = Settings.model_construct(tls_certificate=tls_certificate, tls_client_ca=tls_client_ca)
    announce_embedded(Path("data"), settings, as_json=False)(ENDPOINT, ())
    return capsys.readouterr().out


def test_over_plaintext_there_is_a_call_and_an_exchange_to_try(capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys)

    assert "call GetKeySet --data data" in told
    assert "try.py" in told
    assert "TLS" not in told


@pytest.mark.parametrize("client_ca", [None, PEM])
def test_over_tls_nothing_is_told_to_try_that_cannot_work(
    client_ca: Path | None, capsys: pytest.CaptureFixture[str]
) -> None:
    told = said(capsys, tls_certificate=PEM, tls_client_ca=client_ca)

    assert "call GetKeySet" not in told
    assert "try.py" not in told
    assert "need TLS" in told
    assert ("each must show a certificate" in told) is (client_ca is not None)
