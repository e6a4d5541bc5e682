"""What `authority call` refuses before it calls anybody."""

import dataclasses
import io
import json
import sys
from pathlib import Path

import pytest
from google.protobuf.json_format import MessageToDict, Parse, ParseDict

from authority.cli.call import fill_in
from authority.cli.endpoint import endpoint_of, published
from authority.cli.requests import problem_of, request_of
from authority.signing.possession import new_key
from capability_authority.client import Credentials, Reference
from capability_authority.client.rpcs import RPCS
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


def test_a_watch_is_refused_with_what_to_use_instead(credentials: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, "call", "WatchAuditEvents", "--credentials", str(credentials))

    assert result.code == 2
    assert "is a stream" in result.sentence
    assert "authority audit watch" in result.sentence


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (b"{", "1 of --json is no StreamCommitValidatedRequest: Failed to load JSON"),
        (b'\n{"bogus": 1}\n', "2 of --json is no StreamCommitValidatedRequest: StreamCommitValidatedRequest has no"),
        (b'{"commit": 5}', "1 of --json is no StreamCommitValidatedRequest: commit must be an object"),
        (b"\xff\n", "1 of --json is not UTF-8"),
    ],
)
def test_a_line_that_is_no_request_is_told_by_its_number(
    lines: bytes, why: str, credentials: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "lines"
    file.write_bytes(lines)

    result = ran(capsys, "call", "StreamCommitValidated", "--credentials", str(credentials), "--json", str(file))

    assert result.code == 2
    assert result.sentence.startswith(f"line {why}")


def test_without_a_place_it_asks_for_one(capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, "call", "GetKeySet")

    assert result.code == 2
    assert result.sentence.startswith("say where the authority is: --data DIR")


@pytest.mark.parametrize(
    ("request_json", "why"),
    [
        ("{", "Failed to load JSON"),
        ('{"bogus": 1}', 'GetProposalRequest has no field "bogus"; its fields are proposal_id, revision'),
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


@pytest.mark.parametrize(
    ("request_json", "why"),
    [
        (
            '{"content": {"claim": "x"}}',
            "content must be the base64 of its bytes, as bytes fields are base64: a JSON value goes in as the base64 ",
        ),
        ('{"memory_type": "rule"}', "memory_type is no MemoryType: it is one of MEMORY_TYPE_"),
        ('{"source_refs": "one"}', "source_refs must be a list of text"),
        ('{"source_refs": [1]}', "source_refs[0] must be text"),
        ('{"costs": [{"prize": 1}]}', 'Cost has no field "prize"; its fields are '),
        ('{"costs": [5]}', "costs[0] must be an object with fields of "),
        ('{"valid_from_time": 5}', "valid_from_time must be time, such as 2027-"),
        ('{"valid_from_time": "soon"}', "; its fields are request_id, proposal_id, memory_namespace,"),
        ('{"bogus": 1}', "; bytes fields are base64"),
    ],
)
def test_what_is_wrong_with_a_request_is_one_sentence_with_what_would_be_right(
    request_json: str, why: str, credentials: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = ran(capsys, "call", "CreateProposal", "--credentials", str(credentials), "--json", request_json)

    assert result.code == 2
    assert why in result.sentence
    assert result.sentence.startswith("--json is no CreateProposalRequest: ")


def test_every_rpc_is_listed_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, "call", "--list")

    assert result.code == 0
    assert [line.split()[0] for line in result.out.splitlines()[1:]] == sorted(RPCS)


@pytest.mark.parametrize("rpc", sorted(RPCS))
def test_every_rpc_is_described_with_an_example_that_can_be_parsed(
    rpc: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = ran(capsys, "call", rpc, "--describe")

    assert result.code == 0
    request = RPCS[rpc].request_class
    example = result.out.partition("An example")[2].partition(":\n")[2]
    parsed = Parse(example, request())
    assert not problem_of(request_of(RPCS[rpc]), json.loads(example))
    told = {line.split()[0] for line in result.out.splitlines() if line}
    assert {f"{field.name}{'[]' if field.is_repeated else ''}" for field in request.DESCRIPTOR.fields} <= told
    assert parsed.ListFields() or not {*request.DESCRIPTOR.fields_by_name} - {"request_id"}


def test_without_an_rpc_it_says_how_to_find_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "call").sentence == "name an RPC: `authority call --list` shows them"


OTHER = {"namespace": "acme", "id": "other"}
OWN = {"namespace": "agents", "id": "a1"}


@pytest.mark.parametrize(
    ("given", "holder", "key", "audience"),
    [
        ({}, OWN, "own", "a"),
        ({"holder": OWN}, OWN, "own", "a"),
        ({"holder": OTHER}, OTHER, "", "a"),
        ({"holder_key_id": "k", "audience": "b"}, OWN, "k", "b"),
    ],
)
def test_a_capability_is_for_its_caller_unless_it_says_otherwise(
    given: dict[str, object], holder: dict[str, str], key: str, audience: str, credentials: Path
) -> None:
    caller = Credentials.from_file(credentials)
    request = ParseDict(given, RPCS["IssueCapability"].request_class())

    fill_in(request, caller)

    expected = {"holder": holder, "holder_key_id": caller.key_id if key == "own" else key, "audience": audience}
    assert MessageToDict(request, preserving_proto_field_name=True) == {k: v for k, v in expected.items() if v}


def test_each_capability_of_a_batch_is_for_its_caller_under_a_request_id_of_its_own(credentials: Path) -> None:
    caller = Credentials.from_file(credentials)
    given: dict[str, object] = {"requests": [{"request_id": "r"}, {"holder": OTHER}, {}]}
    request = ParseDict(given, RPCS["BatchIssueCapabilities"].request_class())

    fill_in(request, caller)

    first, other, last = MessageToDict(request, preserving_proto_field_name=True)["requests"]
    own = {"holder": OWN, "holder_key_id": caller.key_id, "audience": "a"}
    assert first == own | {"request_id": "r"}
    assert other == {"holder": OTHER, "audience": "a", "request_id": other["request_id"]}
    assert last == own | {"request_id": last["request_id"]}
    assert len({"", "r", other["request_id"], last["request_id"]}) == 4


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
