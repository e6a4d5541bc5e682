"""The frozen vectors of this project, which every implementation has to meet (`golden/`)."""

from typing import Any

import pytest
from google.protobuf.json_format import ParseDict

from capability_authority.offline import (
    PAYLOAD_CLASSES,
    GrantUse,
    KeyRecord,
    KeySet,
    PayloadRefused,
    PrivateKey,
    PublicKey,
    capability_fingerprint,
    encode,
    from_dsse_json,
    instant_ms,
    open_statement,
    pae,
    parse_statement,
    read_payload,
    request_fingerprint,
    sha256,
    sign,
    statement_digest,
    to_dsse_json,
    to_wire,
    verify_grant_chain,
    verify_receipt,
    verify_statement,
)
from capability_authority.offline.verification import PURPOSES
from capability_authority.v1.statements_pb2 import CommitCapability, CommitReceipt, Signature, SignedStatement
from capability_authority.v1.types_pb2 import KEY_PURPOSE_GRANT, KEY_STATE_ACTIVE, KEY_STATE_REVOKED
from tests.vectors.vector_files import own

STATEMENTS = own("golden/statements.json")
FINGERPRINTS = own("golden/fingerprints.json")
BY_ID = {vector["id"]: vector for vector in STATEMENTS["statements"]}
SIGNED = [vector for vector in STATEMENTS["statements"] if "key" in vector]
KEYS = {name: PrivateKey.from_seed(bytes.fromhex(key["seed_hex"])) for name, key in STATEMENTS["keys"].items()}


def public_key(name: str) -> PublicKey:
    return KEYS[name].public_key


def message_of(vector: dict[str, Any]) -> Any:  # a message of the vector's own type
    return ParseDict(vector["message"], PAYLOAD_CLASSES[vector["payload_type"]]())


def statement_of(vector: dict[str, Any]) -> SignedStatement:
    return SignedStatement(
        payload_type=vector["payload_type"],
        payload=bytes.fromhex(vector["payload_hex"]),
        signature=Signature(key_id=public_key(vector["key"]).key_id, signature=bytes.fromhex(vector["signature_hex"])),
    )


def by_id(vector: dict[str, Any]) -> str:
    return str(vector["id"])


def test_there_is_a_statement_of_every_kind() -> None:
    assert {vector["payload_type"] for vector in STATEMENTS["statements"]} == set(PAYLOAD_CLASSES)


@pytest.mark.parametrize("name", KEYS)
def test_keys_follow_from_their_seeds(name: str) -> None:
    vector = STATEMENTS["keys"][name]

    assert public_key(name).raw.hex() == vector["public_key_hex"]
    assert public_key(name).key_id == vector["key_id"]


@pytest.mark.parametrize("vector", STATEMENTS["statements"], ids=by_id)
def test_messages_have_the_frozen_payload_and_digest(vector: dict[str, Any]) -> None:
    payload = encode(message_of(vector))

    assert payload.hex() == vector["payload_hex"]
    assert to_wire(statement_digest(vector["payload_type"], payload)) == vector["statement_digest"]
    assert read_payload(vector["payload_type"], payload, type(message_of(vector))) == message_of(vector)


@pytest.mark.parametrize("vector", SIGNED, ids=by_id)
def test_statements_have_the_frozen_bytes(vector: dict[str, Any]) -> None:
    statement = sign(message_of(vector), KEYS[vector["key"]])

    assert statement.signature.signature.hex() == vector["signature_hex"]
    assert statement.SerializeToString(deterministic=True).hex() == vector["statement_hex"]
    assert parse_statement(bytes.fromhex(vector["statement_hex"])) == statement
    assert to_dsse_json(statement) == vector["dsse_json"]
    assert from_dsse_json(vector["dsse_json"]) == statement


@pytest.mark.parametrize("vector", [vector for vector in SIGNED if vector["id"] != "derived-grant"], ids=by_id)
def test_statements_verify_and_say_what_they_say(vector: dict[str, Any]) -> None:
    record = KeyRecord(
        public_key=public_key(vector["key"]), purpose=PURPOSES[vector["payload_type"]], state=KEY_STATE_ACTIVE
    )

    message = verify_statement(statement_of(vector), KeySet.of("authority.example", record))

    assert message == message_of(vector)


@pytest.mark.parametrize("vector", STATEMENTS["refused"], ids=by_id)
def test_well_signed_payloads_with_more_than_one_reading_are_refused(vector: dict[str, Any]) -> None:
    statement = statement_of(vector)
    signed = pae(statement.payload_type, statement.payload)
    assert public_key(vector["key"]).verify(statement.signature.signature, signed)

    with pytest.raises(PayloadRefused) as refusal:
        open_statement(
            statement, expected=PAYLOAD_CLASSES[vector["payload_type"]], keys=lambda _: public_key(vector["key"])
        )

    assert refusal.value.problem == vector["problem"]


def test_the_statements_name_each_other() -> None:
    capability: CommitCapability = message_of(BY_ID["commit-capability"])
    receipt: CommitReceipt = message_of(BY_ID["commit-receipt"])

    assert to_wire(capability.proposal_digest) == BY_ID["proposal-revision"]["statement_digest"]
    assert to_wire(capability.validation_receipt_digest) == BY_ID["validation-receipt"]["statement_digest"]
    assert to_wire(capability.decision_receipt_digest) == BY_ID["decision-receipt"]["statement_digest"]
    assert capability.content_digest == sha256(STATEMENTS["content_utf8"].encode())
    assert capability.holder_key == public_key("holder").thumbprint
    assert to_wire(receipt.capability_digest) == BY_ID["commit-capability"]["statement_digest"]
    assert receipt.capability == capability
    assert message_of(BY_ID["invocation"]).request_digest == sha256(bytes.fromhex(STATEMENTS["request_hex"]))


def test_the_receipt_of_a_revoked_key_verifies_with_its_attestation() -> None:
    purpose = PURPOSES[BY_ID["commit-receipt"]["payload_type"]]
    revoked = KeyRecord(public_key=public_key("receipt"), purpose=purpose, state=KEY_STATE_REVOKED)
    current = KeyRecord(public_key=public_key("current receipt"), purpose=purpose, state=KEY_STATE_ACTIVE)

    receipt = verify_receipt(
        statement_of(BY_ID["commit-receipt"]),
        KeySet.of("authority.example", revoked, current),
        attestation=statement_of(BY_ID["key-attestation"]),
        content=STATEMENTS["content_utf8"].encode(),
    )

    assert receipt == message_of(BY_ID["commit-receipt"])


def test_the_derived_grant_verifies_below_its_parent() -> None:
    grant_key = KeyRecord(public_key=public_key("grant"), purpose=KEY_PURPOSE_GRANT, state=KEY_STATE_ACTIVE)
    parent, child = message_of(BY_ID["grant"]), message_of(BY_ID["derived-grant"])

    chain = verify_grant_chain(
        [statement_of(BY_ID["grant"]), statement_of(BY_ID["derived-grant"])],
        KeySet.of("authority.example", grant_key),
        now_ms=instant_ms(child.not_before_time),
        use=GrantUse(action="memory.propose", audience="memory.example", write_memory_namespace="team/build"),
    )

    assert chain.blocks == (parent, child)
    assert to_wire(child.parent_digest) == BY_ID["grant"]["statement_digest"]
    assert child.holder_public_key == public_key("agent").raw


@pytest.mark.parametrize("vector", FINGERPRINTS["vectors"], ids=by_id)
def test_requests_have_the_frozen_fingerprint(vector: dict[str, Any]) -> None:
    assert to_wire(request_fingerprint(**(FINGERPRINTS["terms"] | vector["terms"]))) == vector["fingerprint"]


def test_d10_d11_no_two_requests_have_the_same_fingerprint() -> None:
    fingerprints = {vector["fingerprint"] for vector in FINGERPRINTS["vectors"]}

    assert len(fingerprints) == len(FINGERPRINTS["vectors"])


def test_the_receipt_holds_the_fingerprint_of_its_own_terms() -> None:
    receipt: CommitReceipt = message_of(BY_ID["commit-receipt"])

    fingerprint = capability_fingerprint(
        receipt.capability,
        content_digest=to_wire(receipt.capability.content_digest),
        media_type=receipt.capability.media_type,
        evidence_digests=[to_wire(digest) for digest in receipt.capability.evidence_digests],
    )

    assert fingerprint == receipt.request_fingerprint
    assert to_wire(fingerprint) == FINGERPRINTS["vectors"][0]["fingerprint"]
