"""The golden vectors of statements and payloads, run over the client."""

from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict

from capability_authority.offline import (
    PAYLOAD_CLASSES,
    GrantUse,
    KeyRecord,
    KeySet,
    OfflineError,
    PayloadRefused,
    PrivateKey,
    PublicKey,
    UnreadableStatement,
    digest_of,
    encode,
    from_dsse_json,
    instant_ms,
    open_statement,
    parse_statement,
    read_payload,
    sign,
    statement_digest,
    to_dsse_json,
    to_wire,
    verify_grant_chain,
    verify_receipt,
)
from capability_authority.offline.verification import PURPOSES
from capability_authority.v1.statements_pb2 import CommitCapability, CommitReceipt, SignedStatement
from capability_authority.v1.types_pb2 import KEY_STATE_ACTIVE, KEY_STATE_REVOKED, KeyState
from tests.vectors.vector_runs import Vector, every, vectors, word


def public_key(group: dict[str, Any]) -> PublicKey:
    return PublicKey(bytes.fromhex(group["key"]["public_key"]))


def judge(vector: Vector) -> str | None:
    """The reason for which the statement is refused, if it is."""
    key, expected = public_key(vector.group), PAYLOAD_CLASSES[vector.group["payload_type"]]
    try:
        statement = parse_statement(bytes.fromhex(vector.test["statement"]))
    except UnreadableStatement:
        return "envelope_refused"
    digest = to_wire(statement_digest(statement.payload_type, statement.payload))
    assert digest == vector.test["statement_digest"]
    try:
        message = open_statement(statement, expected=expected, keys=lambda _: key)
    except OfflineError as error:
        return word(error)
    assert MessageToDict(message) == vector.test["message"]
    return None


@every("statements")
def test_statements_are_opened_or_refused(vector: Vector) -> None:
    assert judge(vector) == vector.test["reason"]


def test_there_is_a_statement_of_every_kind() -> None:
    valid = {vector.group["payload_type"] for vector in vectors("statements") if vector.test["result"] == "valid"}
    read = {vector.group["payload_type"] for vector in vectors("reading") if vector.test["result"] == "valid"}

    assert read == set(PAYLOAD_CLASSES)
    assert read - valid == {"application/vnd.capability-authority.proposal-revision.v1+protobuf"}


def test_what_a_statement_says_is_signed_again_into_the_same_bytes() -> None:
    for vector in (vector for vector in vectors("statements") if vector.test["result"] == "valid"):
        key = PrivateKey.from_seed(bytes.fromhex(vector.group["key"]["seed"]))
        message = ParseDict(vector.test["message"], PAYLOAD_CLASSES[vector.group["payload_type"]]())

        assert key.public_key.key_id == vector.group["key"]["key_id"]
        assert sign(message, key).SerializeToString(deterministic=True).hex() == vector.test["statement"]


@every("reading")
def test_d13_e11_i14_payloads_have_one_reading_or_are_refused(vector: Vector) -> None:
    assert judge_payload(vector) == vector.test["reason"]


def judge_payload(vector: Vector) -> str | None:
    payload_type, payload = vector.group["payload_type"], bytes.fromhex(vector.test["payload"])
    try:
        message = read_payload(payload_type, payload, PAYLOAD_CLASSES[payload_type])
    except PayloadRefused as error:
        return error.problem
    assert MessageToDict(message) == vector.test["message"]
    assert encode(message) == payload
    return None


def one(name: str) -> Vector:
    """The valid vector of this id."""
    return next(vector for vector in vectors("statements") if vector.test["id"] == name)


def statement_of(name: str) -> SignedStatement:
    return parse_statement(bytes.fromhex(one(name).test["statement"]))


def message_of(name: str) -> Any:  # a message of the vector's own type
    return ParseDict(one(name).test["message"], PAYLOAD_CLASSES[one(name).group["payload_type"]]())


def record_of(name: str, state: "KeyState.ValueType" = KEY_STATE_ACTIVE) -> KeyRecord:
    vector = one(name)
    return KeyRecord(public_key=public_key(vector.group), purpose=PURPOSES[vector.group["payload_type"]], state=state)


def test_the_statements_name_each_other() -> None:
    capability: CommitCapability = message_of("commit-capability")
    receipt: CommitReceipt = message_of("commit-receipt")
    digests = {vector.test["id"]: vector.test["statement_digest"] for vector in vectors("signing_input")}

    assert to_wire(capability.proposal_digest) == digests["proposal-revision"]
    assert to_wire(capability.validation_receipt_digest) == digests["validation-receipt"]
    assert to_wire(capability.decision_receipt_digest) == digests["decision-receipt"]
    assert to_wire(receipt.capability_digest) == digests["commit-capability"]
    assert receipt.capability == capability
    assert to_wire(receipt.request_fingerprint) == vectors("fingerprints")[0].test["fingerprint"]
    assert message_of("derived-grant").parent_digest == digest_of(statement_of("grant"))


def test_the_receipt_of_a_revoked_key_verifies_with_its_attestation() -> None:
    revoked, current = record_of("commit-receipt", KEY_STATE_REVOKED), record_of("key-attestation")

    receipt = verify_receipt(
        statement_of("commit-receipt"),
        KeySet.of("authority.example", revoked, current),
        attestation=statement_of("key-attestation"),
    )

    assert receipt == message_of("commit-receipt")


def test_the_derived_grant_verifies_below_its_parent() -> None:
    parent, child = message_of("grant"), message_of("derived-grant")

    chain = verify_grant_chain(
        [statement_of("grant"), statement_of("derived-grant")],
        KeySet.of("authority.example", record_of("grant")),
        now_ms=instant_ms(child.not_before_time),
        use=GrantUse(action="memory.propose", audience="memory.example", write_memory_namespace="team/build"),
    )

    assert chain.blocks == (parent, child)


@every("dsse_json")
def test_dsse_envelopes_are_statements_or_refused(vector: Vector) -> None:
    assert judge_envelope(vector) == vector.test["reason"]


def judge_envelope(vector: Vector) -> str | None:
    try:
        statement = from_dsse_json(vector.test["envelope"])
    except OfflineError as error:
        return word(error)
    assert statement.SerializeToString(deterministic=True).hex() == vector.test["statement"]
    assert (to_dsse_json(statement) == vector.test["envelope"]) == vector.test["is_written_so"]
    return None
