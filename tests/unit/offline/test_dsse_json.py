"""Statements as DSSE JSON envelopes."""

import base64
import json
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from capability_authority.offline import EnvelopeRefused, from_dsse_json, is_canonical, sign, to_dsse_json
from capability_authority.v1.statements_pb2 import Signature, SignedStatement
from tests.unit.offline.builders import SIGNED_CLASSES, capability, filled, private_key

STATEMENT = sign(capability(), private_key("issuer"))


def envelope(**changes: object) -> dict[str, Any]:
    """The envelope of `STATEMENT` with members changed, or left out when None."""
    members = {**json.loads(to_dsse_json(STATEMENT)), **changes}
    return {name: value for name, value in members.items() if value is not None}


def signature(**changes: object) -> list[dict[str, Any]]:
    members = {**json.loads(to_dsse_json(STATEMENT))["signatures"][0], **changes}
    return [{name: value for name, value in members.items() if value is not None}]


@pytest.mark.parametrize("message_class", SIGNED_CLASSES)
def test_what_is_exported_reads_back(message_class: type[Message]) -> None:
    statement = sign(filled(message_class), private_key("issuer"))

    exported = to_dsse_json(statement)

    assert from_dsse_json(exported) == statement
    assert from_dsse_json(exported.encode()) == statement
    assert is_canonical(exported.encode())


@given(st.binary(max_size=40), st.binary(max_size=70))
def test_any_bytes_survive_the_export(payload: bytes, signature_bytes: bytes) -> None:
    statement = SignedStatement(
        payload_type="t", payload=payload, signature=Signature(key_id="k", signature=signature_bytes)
    )

    assert from_dsse_json(to_dsse_json(statement)) == statement


def test_the_members_are_those_of_dsse() -> None:
    exported = json.loads(to_dsse_json(STATEMENT))

    assert exported == {
        "payloadType": STATEMENT.payload_type,
        "payload": base64.standard_b64encode(STATEMENT.payload).decode(),
        "signatures": [
            {
                "keyid": STATEMENT.signature.key_id,
                "sig": base64.standard_b64encode(STATEMENT.signature.signature).decode(),
            }
        ],
    }


def test_url_safe_base64_and_members_that_dsse_does_not_define_are_taken() -> None:
    other = envelope(
        payload=base64.urlsafe_b64encode(STATEMENT.payload).decode(),
        signatures=signature(cert="none"),
        comment="from elsewhere",
    )

    assert from_dsse_json(json.dumps(other, indent=2)) == STATEMENT


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", ""),
        ("[]", "signatures"),
        ("null", "signatures"),
        ('{"payload":"","payload":""}', ""),
        ("\ud800", ""),
        (json.dumps(envelope(payload=None)), "payload"),
        (json.dumps(envelope(payload=1)), "payload"),
        (json.dumps(envelope(payload="A")), "payload"),
        (json.dumps(envelope(payload="AA==AA==")), "payload"),
        (json.dumps(envelope(payload="AAAA==")), "payload"),
        (json.dumps(envelope(payload="AAAA=")), "payload"),
        (json.dumps(envelope(payload="A A=")), "payload"),
        (json.dumps(envelope(payload="ä===")), "payload"),
        (json.dumps(envelope(payloadType=None)), "payloadType"),
        (json.dumps(envelope(payloadType=["t"])), "payloadType"),
        (json.dumps(envelope(signatures=None)), "signatures"),
        (json.dumps(envelope(signatures=[])), "signatures"),
        (json.dumps(envelope(signatures=signature() * 2)), "signatures"),
        (json.dumps(envelope(signatures={"0": signature()})), "signatures"),
        (json.dumps(envelope(signatures=signature(keyid=None))), "keyid"),
        (json.dumps(envelope(signatures=signature(sig=None))), "sig"),
        (json.dumps(envelope(signatures=signature(sig=64))), "sig"),
        (json.dumps(envelope(signatures=["sig"])), "keyid"),
    ],
)
def test_anything_else_is_refused(text: str, path: str) -> None:
    with pytest.raises(EnvelopeRefused) as refusal:
        from_dsse_json(text)

    assert (refusal.value.problem, refusal.value.path) == ("not_dsse_json", path)
