"""Bytes are read in exactly one way or refused, whoever signed them (semantics §3)."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.domain import limits
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.signing.key_folder import KeyFolder
from authority.signing.key_ring import KeyRing
from authority.signing.statements import StatementReader
from capability_authority.offline import PrivateKey, sign
from capability_authority.v1.statements_pb2 import Signature, SignedStatement
from tests.unit.signing import kinds, samples
from tests.unit.signing.conftest import Room
from tests.unit.signing.flips import at_path, message_paths
from tests.unit.signing.kinds import Kind, signed

UNKNOWN_FIELD_200 = b"\xc2\x0c\x01x"
"""Field 200, one byte long."""
OPTIONAL_LAST_FIELDS = {"capability": 2, "decision_receipt": 2, "grant": 1}
"""Correlation ids, persons and grant digests of capabilities and decisions, and the public key of a grant's holder."""
I14_PAYLOAD = bytes.fromhex("080470017001")


def refusal_of(reader: StatementReader, kind: Kind, statement: Statement) -> Refusal:
    """The refusal that reading the statement must end in."""
    assert kind.read is not None
    answer = kind.read(reader, statement)
    assert isinstance(answer, Refusal), answer
    assert answer.reason is Reason.MALFORMED
    return answer


def issued(room: Room, kind: Kind, payload: bytes) -> Statement:
    """A statement over the bytes by the very key that signs this kind."""
    assert kind.purpose is not None
    return signed(kind.payload_type, payload, room.private_key(kind.purpose))


@pytest.mark.parametrize("kind", kinds.READ, ids=kinds.name_of)
def test_e11_an_unknown_field_is_refused_at_any_depth(room: Room, kind: Kind) -> None:
    # Given good payloads with one field more: before or after their own, or in a message inside them
    payloads = [kind.payload() + UNKNOWN_FIELD_200, UNKNOWN_FIELD_200 + kind.payload()]
    for path in message_paths(kind.message()):
        message = kind.message()
        at_path(message, path).MergeFromString(UNKNOWN_FIELD_200)
        payloads.append(message.SerializeToString(deterministic=True))

    # When they are read, then each is refused for just that
    for payload in payloads:
        refusal = refusal_of(room.reader, kind, issued(room, kind, payload))
        assert refusal.facts == {"field": f"{kind.name}.payload", "problem": "unknown_field"}


@pytest.mark.parametrize("kind", kinds.READ, ids=kinds.name_of)
def test_i14_bytes_that_languages_read_differently_are_refused(room: Room, kind: Kind) -> None:
    refusal_of(room.reader, kind, issued(room, kind, I14_PAYLOAD))
    refusal_of(room.reader, kind, issued(room, kind, kind.payload() + I14_PAYLOAD))


@pytest.mark.parametrize("kind", kinds.READ, ids=kinds.name_of)
def test_every_truncation_is_refused(room: Room, kind: Kind) -> None:
    # Given a good statement
    assert kind.purpose is not None
    assert kind.read is not None
    statement = issued(room, kind, kind.payload())
    read_though_cut = 0
    for length in range(len(statement.payload)):
        # When its payload ends early
        cut = replace(statement, payload=statement.payload[:length])
        read_though_cut += not isinstance(kind.read(room.reader, cut), Refusal)

        # Then its signature is not valid
        refusal = room.reader.judge_signature(cut, kind.purpose, samples.TENANT, samples.NAMESPACE)
        assert refusal == Refusal(Reason.SIGNATURE_INVALID)

    # And it is read at most where a last field ends that may be absent
    assert read_though_cut <= OPTIONAL_LAST_FIELDS.get(kind.name, 0)


@pytest.mark.parametrize("kind", kinds.READ, ids=kinds.name_of)
def test_fields_in_another_order_or_twice_are_refused(room: Room, kind: Kind) -> None:
    # Given the first field, which is an id, moved to the end and given twice
    payload = kind.payload()
    first = 2 + payload[1]
    for other in (payload[first:] + payload[:first], payload[:first] + payload):
        # When it is read, then it is refused, though every parser reads the same values
        refusal = refusal_of(room.reader, kind, issued(room, kind, other))
        assert refusal.facts == {"field": f"{kind.name}.payload", "problem": "not_deterministic"}


@pytest.mark.parametrize(
    ("kind", "other"), [(kind, other) for kind in kinds.READ for other in kinds.ALL if other is not kind]
)
def test_a_payload_of_another_type_is_refused(room: Room, kind: Kind, other: Kind) -> None:
    # Given a good payload under another type's name, and another type's payload under the good name
    assert kind.purpose is not None
    misnamed = signed(other.payload_type, kind.payload(), room.private_key(kind.purpose))
    swapped = signed(kind.payload_type, other.payload(), room.private_key(kind.purpose))

    # Then neither is read
    assert refusal_of(room.reader, kind, misnamed).facts["field"] == f"{kind.name}.payload_type"
    refusal_of(room.reader, kind, swapped)


@pytest.mark.parametrize("kind", kinds.READ, ids=kinds.name_of)
@pytest.mark.parametrize("named", ["", "x", "\x00", "application/json"])
def test_an_unknown_payload_type_is_refused(room: Room, kind: Kind, named: str) -> None:
    assert kind.purpose is not None
    for payload_type in (named, f"{kind.payload_type} {named}", kind.payload_type.upper()):
        statement = signed(payload_type, kind.payload(), room.private_key(kind.purpose))
        assert refusal_of(room.reader, kind, statement).facts["field"] == f"{kind.name}.payload_type"


@pytest.mark.parametrize("kind", kinds.READ, ids=kinds.name_of)
def test_a_payload_over_the_limit_is_refused_before_it_is_parsed(room: Room, kind: Kind) -> None:
    # Given a payload one byte over the limit, which is no message at all
    payload = b"\xff" * (limits.STATEMENT_BYTES + 1)

    # Then its size is what is told
    refusal = refusal_of(room.reader, kind, issued(room, kind, payload))
    assert refusal.facts == {"field": f"{kind.name}.payload", "problem": "must be at most 32768 bytes"}


@pytest.mark.parametrize("key_id", ["", "sha256:", "sha256:" + "A" * 64, "sha256:" + "0" * 63 + "\x00", "0" * 64])
@pytest.mark.parametrize("kind", kinds.READ, ids=kinds.name_of)
def test_a_key_id_that_is_none_is_refused(room: Room, kind: Kind, key_id: str) -> None:
    statement = Statement(kind.payload_type, kind.payload(), key_id, bytes(64))
    assert refusal_of(room.reader, kind, statement).facts["field"] == f"{kind.name}.signature.key_id"


READER = StatementReader(KeyRing(KeyFolder(Path("absent"))))
"""Reading asks no key; Hypothesis wants no fixture made anew for each example."""
KEY_ID = PrivateKey.generate().public_key.key_id


@pytest.mark.parametrize("kind", kinds.READ, ids=kinds.name_of)
@given(payload=st.binary(max_size=200))
def test_random_bytes_are_refused_and_raise_nothing(kind: Kind, payload: bytes) -> None:
    refusal_of(READER, kind, Statement(kind.payload_type, payload, KEY_ID, bytes(64)))


@pytest.mark.parametrize("kind", kinds.READ, ids=kinds.name_of)
@given(data=st.data())
def test_a_mutated_payload_is_refused_or_read_as_exactly_what_it_says(kind: Kind, data: st.DataObject) -> None:
    # Given a good payload with one byte changed, inserted or taken out
    payload = bytearray(kind.payload())
    at = data.draw(st.integers(0, len(payload) - 1))
    payload[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))

    # When it is read
    assert kind.read is not None
    read = kind.read(READER, Statement(kind.payload_type, bytes(payload), KEY_ID, bytes(64)))

    # Then it is refused, or writing what was read gives the same bytes
    if isinstance(read, Refusal):
        assert read.reason is Reason.MALFORMED
    else:
        value = getattr(read, "terms", None) or getattr(read, "receipt", None) or read
        assert kind.encode(value).SerializeToString(deterministic=True) == payload


@given(proof=st.binary(max_size=200))
def test_random_proofs_are_no_invocations(proof: bytes) -> None:
    assert READER.open_invocation(proof) is None


def test_a_proof_is_exactly_one_invocation() -> None:
    # Given a good proof
    holder = PrivateKey.generate()
    good = sign(kinds.INVOCATION.message(), holder)
    proof = good.SerializeToString(deterministic=True)
    opened = READER.open_invocation(proof)
    assert opened is not None
    assert opened.invocation == kinds.INVOCATION.sample
    assert READER.is_signed_by(opened.statement, holder.public_key.raw)

    # When bytes follow it, a part is missing, a field is unknown, or it is a statement of another kind
    other_kind = sign(kinds.CAPABILITY.message(), holder).SerializeToString(deterministic=True)
    unsigned = SignedStatement(payload_type=good.payload_type, payload=good.payload).SerializeToString()
    unknown_field = SignedStatement(
        payload_type=good.payload_type, payload=good.payload + UNKNOWN_FIELD_200, signature=good.signature
    ).SerializeToString(deterministic=True)
    nameless = SignedStatement(
        payload_type=good.payload_type,
        payload=good.payload,
        signature=Signature(signature=good.signature.signature),
    ).SerializeToString(deterministic=True)

    # Then it is none
    broken = (b"", proof + proof, proof + UNKNOWN_FIELD_200, proof[:-1], other_kind, unsigned, unknown_field, nameless)
    assert [READER.open_invocation(each) for each in broken] == [None] * len(broken)
