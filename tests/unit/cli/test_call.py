"""What `authority call` refuses before it calls anybody."""

import dataclasses
import io
import sys
from pathlib import Path

import pytest

from authority.cli.endpoint import endpoint_of, published
from authority.signing.possession import new_key
from capability_authority.client import Credentials, Reference
from tests.unit.cli.running import ran
from tests.unit.cli.test_endpoint import settings


@pytest.fixture
def credentials(tmp_path: Path) -> Path:
    """Credentials of an authority that listens nowhere."""
    file = tmp_path / "agent.json"
    Credentials(
        target="127.0.0.1:1",
        issuer="i",
        audience="a",
        tenant=Reference("acme", "t1"),
        principal=Reference("agents", "a1"),
        private_key=new_key(),
    ).save(file)
    return file


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AUTHORITY_CREDENTIALS", raising=False)


def test_an_unknown_rpc_is_answered_with_those_that_come_close(capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, "call", "GetReceit")

    assert result.code == 2
    assert "GetCommitReceipt" in result.sentence


def test_without_a_place_it_asks_for_one(capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, "call", "GetKeySet")

    assert result.code == 2
    assert result.sentence.startswith("say where the authority is: --data DIR")


@pytest.mark.parametrize(
    ("request_json", "why"),
    [
        ("{", "Failed to load JSON"),
        ('{"bogus": 1}', 'has no field named "bogus"'),
        ('{"proposal_id": 5}', "--json is no GetProposalRequest"),
        ('{"revision": "many"}', "--json is no GetProposalRequest"),
        ('{"a":' * 10_000, "--json is no GetProposalRequest"),
        ("[]", "neither JSON that begins with a brace nor a file"),
        ("nothing.json", "neither JSON that begins with a brace nor a file"),
        ("x\0y", "neither JSON that begins with a brace nor a file"),
    ],
)
def test_json_that_is_no_request_is_refused(
    request_json: str, why: str, credentials: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = ran(capsys, "call", "GetProposal", "--credentials", str(credentials), "--json", request_json)

    assert result.code == 2
    assert why in result.sentence
    assert result.sentence.isprintable()


def test_json_that_is_no_text_is_refused(
    credentials: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"proposal_id": "\xff"}')))

    result = ran(capsys, "call", "GetProposal", "--credentials", str(credentials), "--json", "-")

    assert result.sentence == "--json is not UTF-8"


def test_a_giant_request_is_not_read_to_its_end(credentials: Path, capsys: pytest.CaptureFixture[str]) -> None:
    giant = credentials.with_name("giant")
    with giant.open("wb") as opened:
        opened.truncate(1 << 40)

    result = ran(capsys, "call", "GetProposal", "--credentials", str(credentials), "--json", str(giant))

    assert result.sentence == "--json has more than 8,388,608 bytes"


def test_credentials_that_others_can_read_are_refused(credentials: Path, capsys: pytest.CaptureFixture[str]) -> None:
    credentials.chmod(0o640)

    result = ran(capsys, "call", "GetKeySet", "--credentials", str(credentials))

    assert result.code == 1
    assert "chmod 600" in result.sentence


def test_an_authority_that_is_away_is_a_failure_and_no_refusal(
    credentials: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = ran(capsys, "call", "GetKeySet", "--credentials", str(credentials), "--timeout", "0.2")

    assert result.code == 1
    assert result.err.startswith("failed: GetKeySet")
    assert result.document["error"]["code"] == "UNAVAILABLE"
    assert result.document["error"]["reason"] == ""


def test_what_must_be_signed_needs_a_caller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with published(tmp_path, endpoint_of(settings(), 1)):
        unsigned = ran(capsys, "call", "GetProposal", "--data", str(tmp_path))
        unknown = ran(capsys, "call", "GetProposal", "--data", str(tmp_path), "--as", "t1/nobody")

    assert unsigned.code == unknown.code == 2
    assert unsigned.sentence.startswith("GetProposal must be signed: name the caller by --as TENANT/NAME")
    assert unknown.sentence.startswith("--as: 't1/nobody' is none of TENANT/NAME")


def test_an_address_elsewhere_needs_tls(credentials: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = dataclasses.replace(Credentials.from_file(credentials), target="authority.example:443")
    file = credentials.with_name("elsewhere.json")
    elsewhere.save(file)

    result = ran(capsys, "call", "GetKeySet", "--credentials", str(file))

    assert result.code == 1
    assert result.sentence == "authority.example:443 needs TLS: name its roots by --tls-roots"
