"""`authority inspect` on every kind of statement, in every form, and on whatever else may be handed to it."""

import base64
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToJson
from hypothesis import given
from hypothesis import strategies as st

from authority.cli.endpoint import endpoint_of, published
from authority.cli.inspect import STYLES
from authority.domain.statement import KeyPurpose, Statement
from authority.signing.inspection import Verdict, describe
from authority.signing.statement_forms import MOST_BYTES, NotAStatement, find_statement
from capability_authority.offline import PrivateKey, pae, statement_digest, to_dsse_json, to_wire
from capability_authority.v1.capability_service_pb2 import CommitValidatedResponse, GetKeySetResponse
from capability_authority.v1.statements_pb2 import Signature, SignedStatement
from capability_authority.v1.types_pb2 import KEY_STATE_ACTIVE, KEY_STATE_REVOKED
from capability_authority.v1.types_pb2 import KeyPurpose as WirePurpose
from tests.unit.cli.running import ran
from tests.unit.cli.test_endpoint import settings
from tests.unit.signing import kinds, samples
from tests.unit.signing.kinds import Kind, name_of, signed

KEYS = {purpose: PrivateKey.generate() for purpose in KeyPurpose}
HOLDER = PrivateKey.generate()

each_kind = pytest.mark.parametrize("kind", kinds.ALL, ids=name_of)


def statement_of(kind: Kind) -> Statement:
    """The sample of the kind, signed by the key that may."""
    return signed(kind.payload_type, kind.payload(), KEYS[kind.purpose] if kind.purpose else HOLDER)


def message_of(statement: Statement) -> SignedStatement:
    signature = Signature(key_id=statement.key_id, signature=statement.signature)
    return SignedStatement(payload_type=statement.payload_type, payload=statement.payload, signature=signature)


def key_set(state: int = KEY_STATE_ACTIVE, compromised_s: int = 0) -> GetKeySetResponse:
    response = GetKeySetResponse(issuer=samples.ISSUER)
    for purpose, key in KEYS.items():
        entry = response.keys.add(
            key_id=key.public_key.key_id,
            public_key=key.public_key.raw,
            purpose=WirePurpose.Value(f"KEY_PURPOSE_{purpose.name}"),
            state=state,
        )
        if compromised_s:
            entry.compromised_since_time.seconds = compromised_s
    return response


@pytest.fixture
def trusted(tmp_path: Path) -> Path:
    """A file with the key set of the samples' issuer."""
    file = tmp_path / "keys.json"
    file.write_text(MessageToJson(key_set()))
    return file


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No authority is served here."""
    monkeypatch.chdir(tmp_path)


FORMS: dict[str, Callable[[SignedStatement], bytes]] = {
    "serialized": lambda message: message.SerializeToString(deterministic=True),
    "protobuf JSON": lambda message: MessageToJson(message).encode(),
    "protobuf JSON with the contract's names": lambda message: MessageToJson(
        message, preserving_proto_field_name=True
    ).encode(),
    "DSSE JSON": lambda message: to_dsse_json(message).encode(),
    "an answer that holds it": lambda message: MessageToJson(CommitValidatedResponse(receipt=message)).encode(),
}


@each_kind
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packing", ["plain", "base64", "urlsafe", "folded"])
def test_every_kind_is_found_in_every_form(kind: Kind, form: str, packing: str) -> None:
    statement = statement_of(kind)
    data = FORMS[form](message_of(statement))
    packed = {
        "plain": data,
        "base64": base64.b64encode(data),
        "urlsafe": base64.urlsafe_b64encode(data).rstrip(b"="),
        "folded": base64.encodebytes(data),
    }[packing]

    assert find_statement(packed) == statement


@each_kind
def test_every_kind_is_described_in_words(kind: Kind) -> None:
    statement = statement_of(kind)

    description = describe(statement)

    assert description.kind == kind.payload_type.removeprefix("application/vnd.capability-authority.").split("+")[0]
    assert description.digest == to_wire(statement_digest(statement.payload_type, statement.payload))
    assert description.key_id == statement.key_id
    assert description.problem == ""
    assert set(description.says) == {field.name for field, _ in kind.message().ListFields()}
    json.dumps(dict(description.says))


def test_values_are_readable() -> None:
    capability = describe(statement_of(kinds.CAPABILITY)).says
    validation = describe(statement_of(kinds.VALIDATION)).says
    invocation = describe(statement_of(kinds.INVOCATION)).says

    assert capability["tenant"] == {"namespace": "acme", "id": "t1"}
    assert capability["expire_time"] == "2026-09-21T14:28:20.123Z"
    assert capability["evidence_digests"] == [to_wire(samples.digest(4)), to_wire(samples.digest(5))]
    assert capability["max_uses"] == 1
    assert validation["outcome"] == "review"
    findings = validation["findings"]
    assert isinstance(findings, list)
    assert findings[1] == {
        "validator": "canonical_json", "validator_version": "1", "outcome": "pass", "confidence_permille": 1000
    }  # fmt: skip
    assert invocation["nonce"] == bytes(range(16)).hex()


@each_kind
def test_without_keys_nothing_is_called_valid(kind: Kind, capsys: pytest.CaptureFixture[str]) -> None:
    text = base64.b64encode(FORMS["serialized"](message_of(statement_of(kind)))).decode()

    shown = ran(capsys, "inspect", text)
    told = ran(capsys, "inspect", text, "--json")

    assert shown.code == told.code == 0
    assert "UNKNOWN: not verified: no key set was given; --data DIR or --key-set FILE would verify it" in shown.out
    assert "Nothing of this is proved." in shown.out
    assert "VALID:" not in shown.out
    assert told.document["verdict"] == "unknown"


@each_kind
def test_with_the_issuers_keys_what_they_signed_is_valid(
    kind: Kind, trusted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FORMS["DSSE JSON"](message_of(statement_of(kind))).decode()

    told = ran(capsys, "inspect", text, "--json", "--key-set", str(trusted))
    shown = ran(capsys, "inspect", text, "--key-set", str(trusted))

    # A holder's key is in no issuer's key set.
    expected = "valid" if kind.purpose else "unknown"
    assert told.document["verdict"] == expected
    assert told.code == shown.code == (0 if kind.purpose else 1)
    assert f"{expected.upper()}: " in shown.out
    assert ("Nothing of this is proved." in shown.out) == (expected != "valid")


def test_the_key_set_may_be_as_the_client_keeps_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "key_set.bin"
    file.write_bytes(key_set().SerializeToString())
    text = FORMS["DSSE JSON"](message_of(statement_of(kinds.RECEIPT))).decode()

    result = ran(capsys, "inspect", text, "--json", "--key-set", str(file))

    assert (result.code, result.document["verdict"]) == (0, "valid")


def test_another_message_is_no_key_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "receipt.bin"
    file.write_bytes(message_of(statement_of(kinds.RECEIPT)).SerializeToString())

    result = ran(capsys, "inspect", str(file), "--key-set", str(file))

    assert result.code == 1
    assert result.sentence == f"--key-set: {file} is no GetKeySet answer, neither as JSON nor serialized"


def damaged(statement: Statement) -> Iterator[tuple[str, Statement]]:
    other = KEYS[KeyPurpose.GRANT]
    yield "another signature", replace(statement, signature=bytes(64))
    yield "no signature", replace(statement, signature=b"")
    yield "another payload type", replace(statement, payload_type=kinds.VALIDATION.payload_type)
    yield (
        "a key of another purpose",
        replace(
            statement,
            key_id=other.public_key.key_id,
            signature=other.sign(pae(statement.payload_type, statement.payload)),
        ),
    )


@pytest.mark.parametrize("damage", [name for name, _ in damaged(statement_of(kinds.RECEIPT))])
def test_e01_what_was_not_signed_so_is_invalid(damage: str, trusted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    statement = dict(damaged(statement_of(kinds.RECEIPT)))[damage]
    text = FORMS["DSSE JSON"](message_of(statement)).decode()

    result = ran(capsys, "inspect", text, "--json", "--key-set", str(trusted))

    assert result.code == 1
    assert result.document["verdict"] == "invalid"


def test_a_revoked_key_proves_nothing_and_says_since_when(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "keys.json"
    file.write_text(MessageToJson(key_set(KEY_STATE_REVOKED, compromised_s=1_790_000_000)))
    text = FORMS["DSSE JSON"](message_of(statement_of(kinds.RECEIPT))).decode()

    result = ran(capsys, "inspect", text, "--json", "--key-set", str(file))

    assert result.code == 1
    assert result.document["because"] == "the signing key was revoked, compromised since 2026-09-21T14:13:20.000Z"


def test_another_issuer_is_not_believed(trusted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = FORMS["DSSE JSON"](message_of(statement_of(kinds.RECEIPT))).decode()

    pinned = ran(capsys, "inspect", text, "--key-set", str(trusted), "--issuer", "somebody.else")

    assert pinned.code == 1
    assert "expected the key set of 'somebody.else'" in pinned.sentence


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"keys": 5}', '{"issuer": "x", "keys": [{"key_id": "y"}]}', "[" * 9999]
)
def test_a_file_that_is_no_key_set_is_refused(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "keys.json"
    file.write_text(content)
    text = FORMS["DSSE JSON"](message_of(statement_of(kinds.RECEIPT))).decode()

    result = ran(capsys, "inspect", text, "--key-set", str(file))

    assert result.code == 1
    assert "key set" in result.sentence or "key-set" in result.sentence


def test_the_dsse_envelope_can_be_taken_along(capsys: pytest.CaptureFixture[str]) -> None:
    message = message_of(statement_of(kinds.RECEIPT))

    result = ran(capsys, "inspect", base64.b64encode(FORMS["serialized"](message)).decode(), "--dsse")

    assert result.out == to_dsse_json(message) + "\n"


def test_files_and_standard_input_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = FORMS["serialized"](message_of(statement_of(kinds.RECEIPT)))
    file = tmp_path / "receipt"
    file.write_bytes(data)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    from_file = ran(capsys, "inspect", str(file), "--json").document
    from_input = ran(capsys, "inspect", "-", "--json").document

    assert from_file == from_input
    assert from_file["kind"] == "commit-receipt.v1"


def test_of_several_statements_one_must_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    message = message_of(statement_of(kinds.RECEIPT))
    text = MessageToJson(CommitValidatedResponse(receipt=message, attestation=message))

    result = ran(capsys, "inspect", text)

    assert result.code == 1
    assert result.sentence.endswith("this JSON holds several statements, attestation, receipt: give one of them")


def sentence_about(data: bytes) -> str:
    """Why it is refused, or what is the matter with its payload; empty when nothing is."""
    try:
        return describe(find_statement(data)).problem
    except NotAStatement as error:
        return str(error)


# --- hostile input ---------------------------------------------------------------------------------------------------


def test_strings_of_a_statement_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    # Given a receipt whose maker wrote escape sequences into it
    capability = replace(samples.CAPABILITY, memory_namespace="\x1b]0;owned\x07\x1b[2J", correlation_id="a\nVALID: b")
    message = kinds.RECEIPT.encode(replace(samples.RECEIPT, capability=capability))
    payload = message.SerializeToString(deterministic=True)
    forged = signed(kinds.RECEIPT.payload_type, payload, KEYS[KeyPurpose.RECEIPT])

    result = ran(capsys, "inspect", FORMS["DSSE JSON"](message_of(forged)).decode())

    assert result.out.replace("\n", "").isprintable()
    assert not any(line.startswith("VALID") for line in result.out.splitlines())


def test_key_ids_and_payload_types_cannot_steer_it_either(capsys: pytest.CaptureFixture[str]) -> None:
    message = SignedStatement(payload_type="\x1b[2J", payload=b"x", signature=Signature(key_id="\x1b[31m"))

    result = ran(capsys, "inspect", FORMS["DSSE JSON"](message).decode())

    assert result.code == 1
    assert result.out.replace("\n", "").isprintable()
    assert "none of ours" in result.out


@each_kind
def test_a_payload_cut_anywhere_is_told_as_a_problem(kind: Kind, capsys: pytest.CaptureFixture[str]) -> None:
    whole = statement_of(kind)
    for end in range(len(whole.payload)):
        description = describe(replace(whole, payload=whole.payload[:end]))
        # A cut between two fields may leave a payload that can be read: it says less, and another digest tells so.
        assert description.problem or len(description.says) < len(describe(whole).says)
        assert description.digest != describe(whole).digest

    cut = replace(whole, payload=whole.payload[:-1])
    result = ran(capsys, "inspect", FORMS["DSSE JSON"](message_of(cut)).decode(), "--json")

    assert result.code == 1
    assert result.document["says"] == {}
    assert result.document["problem"].startswith("the payload is refused")


def test_a_serialized_statement_cut_anywhere_is_refused_or_unsigned() -> None:
    data = FORMS["serialized"](message_of(statement_of(kinds.RECEIPT)))
    for end in range(len(data)):
        try:
            found = find_statement(data[:end])
        except NotAStatement:
            continue
        assert not found.signature


@given(data=st.binary(max_size=400))
def test_random_bytes_are_refused_in_one_sentence(data: bytes) -> None:
    assert sentence_about(data).isprintable()


@given(data=st.data())
def test_any_json_is_refused_in_one_sentence(data: st.DataObject) -> None:
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    names = st.sampled_from(
        ["payloadType", "payload", "signature", "signatures", "keyid", "sig", "key_id", "receipt", "x"]
    )
    document: Any = data.draw(
        st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4))
    )
    assert sentence_about(json.dumps(document).encode()).isprintable()


@pytest.mark.parametrize(
    "hostile",
    [
        b'{"a":' * 100_000,
        b"{" + b"[" * 50_000,
        b'{"payloadType": "x", "payload": "' + b"A" * 100_000 + b'!"}',
        b'{"signatures": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        b"=" * 1000,
        b"A" * 999,
        b"\x00" * 1000,
        b"\n" * 1000,
        b"\xff\xfe{",
    ],
    ids=lambda data: repr(data[:12]),
)
def test_crafted_bytes_are_refused(hostile: bytes) -> None:
    with pytest.raises(NotAStatement):
        find_statement(hostile)


def test_a_giant_file_is_not_read_to_its_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a file of a tebibyte, sparse as it is, and near: long paths are cut
    monkeypatch.chdir(tmp_path)
    file = Path("giant")
    with file.open("wb") as opened:
        opened.truncate(1 << 40)

    result = ran(capsys, "inspect", str(file))

    assert result.code == 1
    assert result.sentence == f"{file}: it has more than {MOST_BYTES:,} bytes, and no statement is as large"


@pytest.mark.parametrize("argument", ["", " ", "nonsense", "/nothing/there", "x" * 5_000, "\udcff", "ü"])
def test_an_argument_that_is_nothing_is_refused(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, "inspect", argument)

    assert result.code == 1
    assert result.sentence.isprintable()


@pytest.mark.parametrize("path", ["/nothing/there", "receipt.bin", "here/receipt", "./x", "answer.json"])
def test_a_path_to_nothing_is_told_as_such(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, "inspect", path)

    assert (result.code, result.sentence) == (1, f"{path}: there is no such file")


@pytest.mark.parametrize("text", ["nonsense", '{"a/b": 1}', "A" * 300 + "/"])
def test_what_is_no_path_is_not_told_as_one(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no such file" not in ran(capsys, "inspect", text).sentence


def test_what_a_killed_authority_left_behind_gives_no_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Given the folder of a process that has ended
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    data = tmp_path / ".authority"
    data.mkdir()
    with published(data, endpoint_of(settings(), 1)):
        text = (data / "endpoint.json").read_text()
    (data / "endpoint.json").write_text(text.replace(f'"pid": {os.getpid()}', f'"pid": {ended.pid}'))

    result = ran(capsys, "inspect", FORMS["DSSE JSON"](message_of(statement_of(kinds.RECEIPT))).decode(), "--json")

    assert (result.code, result.document["verdict"]) == (0, "unknown")


def test_a_folder_is_no_statement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "inspect", str(tmp_path)).sentence == f"{tmp_path}: Is a directory"


def test_every_verdict_has_a_colour_of_its_own() -> None:
    assert len({STYLES[verdict] for verdict in Verdict}) == len(Verdict)
