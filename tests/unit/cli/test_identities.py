"""What the commands of identities refuse before anything is asked or made, and whose keys can be had."""

import json
from pathlib import Path

import pytest

from authority.domain.credential import Credential, CredentialForm
from capability_authority.client import Credentials
from tests.unit.cli.running import ran
from tests.world.certificates import TestAuthority
from tests.world.clock import BEGINNING
from tests.world.token_issuers import TestIssuer

WHO = ("--tenant", "acme|t1", "--principal", "desk|loader")
MADE = ("dev-certs", "certs", "--tenant", "acme|t1", "--principal")


@pytest.fixture(autouse=True)
def own_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An authority of the operator's own that is away."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTHORITY_ADMIN_DATABASE_URL", "postgresql://postgres@127.0.0.1:1/nothing")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "name one of --spiffe"),
        (("--spiffe", "spiffe://dev.local/a", "--subject", "CN=a"), "name one of --spiffe"),
        (("--spiffe", "spiffe://dev.local"), "is no SPIFFE id"),
        (("--spiffe", "spiffe://dev.local/a/../b"), "is no SPIFFE id"),
        (("--spiffe", "https://dev.local/a"), "is no SPIFFE id"),
        (("--spiffe", ""), "is no SPIFFE id"),
        (("--subject", ""), "is no distinguished name"),
        (("--subject", "loader"), "is no distinguished name"),
        (("--subject", "CN=spiffe://dev.local/a"), "is no distinguished name"),
        (("--subject", "CN=\\61"), "write it as certificates are read, which is CN=a"),
        (("--certificate", "nowhere.pem"), "cannot be read"),
        (("--certificate", "text.pem"), "holds no certificate"),
        (("--token-subject", "", "x"), "an issuer has 1 to"),
        (("--token-subject", "https://login.example", "x" * 257), "an issuer has 1 to"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    arguments: tuple[str, ...], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.pem").write_text("text")
    result = ran(capsys, "principals", "bind", *WHO, *arguments)
    assert (result.code, told in result.sentence) == (2, True), result


def test_who_shows_something_gets_no_key(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    result = ran(capsys, "principals", "add", *WHO, "--kind", "service", "--spiffe", "spiffe://dev.local/a",
                 "--out", "x.json")  # fmt: skip
    assert (result.code, result.sentence[:40]) == (2, "a certificate or token stands for a key:")
    assert list(tmp_path.iterdir()) == []


def test_a_certificate_is_registered_by_its_key(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    # Given a certificate, then its file is read, and only then the database is asked
    (tmp_path / "client.pem").write_bytes(TestAuthority().client("spiffe://dev.local/a").certificate)
    result = ran(capsys, "principals", "bind", *WHO, "--certificate", "client.pem")
    assert (result.code, "AUTHORITY_ADMIN_DATABASE_URL" in result.sentence) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("desk|a", "desk|a"), "is one principal, not two"),
        (("desk|a", "desk"), "NAMESPACE|ID"),
        (("desk|a", ""), "NAMESPACE|ID"),
    ],
)
def test_a_link_is_of_two_principals(arguments: tuple[str, str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, "links", "revoke", "--tenant", "acme|t1", "--principals", *arguments, "--yes")
    assert (result.code, told in result.sentence) == (2, True), result


@pytest.mark.parametrize("evidence", ["", "x" * 513])
def test_a_link_says_where_it_can_be_looked_up(evidence: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, "links", "add", "--tenant", "acme|t1", "--principals", "desk|a", "desk|b",
                 "--method", "directory", "--evidence", evidence)  # fmt: skip
    assert (result.code, "--evidence" in result.sentence) == (2, True), result


# --- dev-certs --------------------------------------------------------------------------------------------------------


def test_a_folder_gets_more_clients_and_no_file_is_overwritten(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    first = ran(capsys, *MADE, "desk|a", "--principal", "desk|b", "--json").document
    assert [one["spiffe"] for one in first["clients"]] == [f"spiffe://dev.local/acme/t1/desk/{one}" for one in "ab"]
    authority = (tmp_path / "certs" / "ca.pem").read_bytes()
    assert ran(capsys, *MADE, "desk|c").code == 0
    assert (tmp_path / "certs" / "ca.pem").read_bytes() == authority
    again = ran(capsys, *MADE, "desk|a")
    assert again.code == 1
    assert again.sentence.startswith("certs/desk-a-key.pem is there already, and nothing is overwritten")
    # and what binds a holder is the certificate's credential
    credentials = Credentials.from_file(tmp_path / "certs" / "desk-a.json")
    assert credentials.key_id == Credential(CredentialForm.SPIFFE, "spiffe://dev.local/acme/t1/desk/a").id
    assert credentials.private_key is None


@pytest.mark.parametrize("damage", ["ca.pem", "ca-key.pem"])
def test_a_folder_whose_authority_is_damaged_is_not_used(
    damage: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert ran(capsys, *MADE, "desk|a").code == 0
    (tmp_path / "certs" / damage).write_text("none")
    result = ran(capsys, *MADE, "desk|b")
    assert (result.code, "cannot be used" in result.sentence) == (1, True)
    (tmp_path / "certs" / damage).unlink()
    assert ran(capsys, *MADE, "desk|b").code == 1


@pytest.mark.parametrize(
    "arguments",
    [("desk|a/b",), ("desk|a:b",), ("desk|a", "--trust-domain", "Dev.local"), ("desk|a", "--trust-domain", "")],
)
def test_what_cannot_stand_in_an_id_is_refused_before_anything_is_made(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert ran(capsys, *MADE, *arguments).code == 2
    assert list(tmp_path.iterdir()) == []


# --- token issuers ----------------------------------------------------------------------------------------------------


def test_without_issuers_there_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "token-issuers", "list").out == "none: AUTHORITY_TOKEN_ISSUERS names no file here\n"
    assert ran(capsys, "token-issuers", "check", "--json").document == []


def test_keys_that_cannot_be_had_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "issuers.toml"
    monkeypatch.setenv("AUTHORITY_TOKEN_ISSUERS", str(file))
    assert ran(capsys, "token-issuers", "list").sentence.startswith("AUTHORITY_TOKEN_ISSUERS: ")
    file.write_text('[[issuer]]\nissuer="i"\naudience="a"\nalgorithms=["ES256"]\njwks_file="jwks.json"\n')
    result = ran(capsys, "token-issuers", "check", "--json")
    assert (result.code, result.document[0]["problem"]) == (1, "jwks.json cannot be read (No such file or directory)")
    (tmp_path / "jwks.json").write_text(json.dumps({"keys": [{"kty": "oct", "k": "AA", "kid": "secret"}]}))
    assert ran(capsys, "token-issuers", "check").code == 1
    (tmp_path / "jwks.json").write_bytes(TestIssuer(BEGINNING).published)
    assert ran(capsys, "token-issuers", "check", "--json").document[0]["keys"] == ["key-1 ES256"]
