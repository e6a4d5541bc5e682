"""Statements: what is signed, digested and opened."""

from collections.abc import Iterator

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from capability_authority.offline import (
    SIGNED_PAYLOAD_TYPES,
    EnvelopeRefused,
    KeyUnknown,
    PayloadRefused,
    PayloadTypeMismatch,
    PublicKey,
    SignatureInvalid,
    StatementError,
    digest_of,
    encode,
    open_statement,
    pae,
    parse_statement,
    payload_type_of,
    sha256,
    sign,
    statement_digest,
    timestamp,
)
from capability_authority.v1.statements_pb2 import (
    CommitCapability,
    Invocation,
    ProposalRevision,
    Signature,
    SignedStatement,
)
from capability_authority.v1.types_pb2 import TenantRef
from tests.unit.offline.builders import (
    ALL_CLASSES,
    SIGNED_CLASSES,
    M,
    capability,
    descriptor_of,
    filled,
    private_key,
    scalar,
)

KEY = private_key("issuer")
UNKNOWN_FIELD = bytes.fromhex("f2b91d0178")


def keys(key_id: str) -> PublicKey | None:
    return KEY.public_key if key_id == KEY.public_key.key_id else None


def signed_bytes(payload_type: str, payload: bytes) -> SignedStatement:
    """A statement over bytes that `sign` would not make: a signer that does not keep the rules."""
    signature = Signature(key_id=KEY.public_key.key_id, signature=KEY.sign(pae(payload_type, payload)))
    return SignedStatement(payload_type=payload_type, payload=payload, signature=signature)


def test_the_pre_authentication_encoding_is_that_of_dsse() -> None:
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
    assert pae("é", b"") == b"DSSEv1 2 \xc3\xa9 0 "


@given(st.text(max_size=12), st.binary(max_size=12), st.text(max_size=12), st.binary(max_size=12))
def test_d11_no_byte_moves_between_payload_type_and_payload(
    one_type: str, one_payload: bytes, other_type: str, other_payload: bytes
) -> None:
    same_parts = (one_type, one_payload) == (other_type, other_payload)

    assert (pae(one_type, one_payload) == pae(other_type, other_payload)) == same_parts


def test_d11_shifted_parts_give_another_digest() -> None:
    assert statement_digest("ab", b"c") != statement_digest("a", b"bc")
    assert statement_digest("a 1", b"b") != statement_digest("a", b"1 b")


@pytest.mark.parametrize("message_class", ALL_CLASSES)
def test_a_payload_type_names_its_kind(message_class: type[Message]) -> None:
    words = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in message_class.__name__)

    assert payload_type_of(message_class) == (
        f"application/vnd.capability-authority.{words.removeprefix('-')}.v1+protobuf"
    )


def test_a_message_that_is_no_payload_has_no_payload_type() -> None:
    with pytest.raises(TypeError, match="TenantRef"):
        payload_type_of(TenantRef)


@pytest.mark.parametrize("message_class", SIGNED_CLASSES)
def test_what_is_signed_opens(message_class: type[Message]) -> None:
    message = filled(message_class)

    statement = sign(message, KEY)

    assert open_statement(statement, expected=message_class, keys=keys) == message
    assert statement.payload_type in SIGNED_PAYLOAD_TYPES
    assert statement.payload == encode(message)
    assert statement.signature.key_id == KEY.public_key.key_id
    assert digest_of(statement) == sha256(pae(statement.payload_type, statement.payload))


def test_a_proposal_revision_is_digested_and_never_signed() -> None:
    revision = filled(ProposalRevision)

    assert len(statement_digest(payload_type_of(ProposalRevision), encode(revision))) == 32
    with pytest.raises(TypeError, match="never signed"):
        sign(revision, KEY)


def test_nothing_is_signed_that_nobody_could_read() -> None:
    message = capability()
    message.MergeFromString(UNKNOWN_FIELD)

    with pytest.raises(PayloadRefused, match="unknown_field"):
        sign(message, KEY)


def test_equal_messages_give_equal_statements() -> None:
    assert sign(capability(), KEY) == sign(capability(), KEY)


def test_e02_the_digest_of_a_statement_does_not_cover_its_signature() -> None:
    statement, again = sign(capability(), KEY), sign(capability(), private_key("other"))

    assert statement.signature != again.signature
    assert digest_of(statement) == digest_of(again)


@pytest.mark.parametrize("message_class", SIGNED_CLASSES)
def test_a_statement_of_another_kind_is_refused(message_class: type[Message]) -> None:
    statement = sign(filled(message_class), KEY)

    for other in SIGNED_CLASSES:
        if other is message_class:
            continue
        with pytest.raises(PayloadTypeMismatch):
            open_statement(statement, expected=other, keys=keys)
        relabelled = SignedStatement()
        relabelled.CopyFrom(statement)
        relabelled.payload_type = payload_type_of(other)
        with pytest.raises(SignatureInvalid):
            open_statement(relabelled, expected=other, keys=keys)


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(KeyUnknown) as refusal:
        open_statement(sign(capability(), private_key("stranger")), expected=CommitCapability, keys=keys)

    assert refusal.value.presented == private_key("stranger").public_key.key_id


def test_e10_a_lookup_that_ignores_the_key_id_does_not_let_it_be_changed() -> None:
    statement = sign(capability(), KEY)
    statement.signature.key_id = private_key("stranger").public_key.key_id

    with pytest.raises(KeyUnknown):
        open_statement(statement, expected=CommitCapability, keys=lambda _: KEY.public_key)


@pytest.mark.parametrize("message_class", SIGNED_CLASSES)
def test_e10_every_field_of_every_payload_is_under_the_signature(message_class: type[Message]) -> None:
    statement = sign(filled(message_class), KEY)
    flipped = set()

    for path, changed in with_one_field_changed(filled(message_class)):
        statement.payload = changed.SerializeToString(deterministic=True)
        with pytest.raises(SignatureInvalid):
            open_statement(statement, expected=message_class, keys=keys)
        flipped.add(path.split(".")[0])

    assert flipped == set(message_class.DESCRIPTOR.fields_by_name)


def test_e10_every_field_of_the_statement_itself_counts() -> None:
    flipped = set()

    for path, changed in with_one_field_changed(sign(capability(), KEY)):
        with pytest.raises(StatementError):
            open_statement(changed, expected=CommitCapability, keys=keys)
        flipped.add(path)

    assert flipped == {"payload_type", "payload", "signature.key_id", "signature.signature", "signature"}


def with_one_field_changed(message: M) -> Iterator[tuple[str, M]]:
    """Every message that differs from this one in one field, at any depth, with the path of that field."""
    for field in descriptor_of(message).fields:
        for change in (_cleared, _replaced):
            changed = type(message)()
            changed.CopyFrom(message)
            if change(changed, field.name):
                yield field.name, changed
        if field.message_type is not None:
            for below, part in with_one_field_changed(_first_part(message, field.name)):
                changed = type(message)()
                changed.CopyFrom(message)
                _first_part(changed, field.name).CopyFrom(part)
                yield f"{field.name}.{below}", changed


def _first_part(message: Message, name: str) -> Message:
    value = getattr(message, name)
    return value if isinstance(value, Message) else value[0]


def _cleared(message: Message, name: str) -> bool:
    message.ClearField(name)
    return True


def _replaced(message: Message, name: str) -> bool:
    """Put another value there; for a list, its items in another order. False when that is not possible."""
    field = descriptor_of(message).fields_by_name[name]
    value = getattr(message, name)
    if field.is_repeated:
        items = list(reversed(value))
        message.ClearField(name)
        getattr(message, name).extend(items)
        return True
    if field.message_type is not None or field.type == field.TYPE_BOOL:
        return False  # Of a flag that is set the other value is the cleared one.
    others = (scalar(field, number) for number in (1_001, 1_002))
    setattr(message, name, next(other for other in others if other != value))
    return True


@given(st.data())
def test_e10_no_mutated_bytes_open(data: st.DataObject) -> None:
    statement = sign(capability(), KEY)
    target, name = data.draw(
        st.sampled_from([(statement, "payload"), (statement.signature, "signature"), (statement.signature, "key_id")])
    )
    before = getattr(target, name)
    whole = before if isinstance(before, bytes) else before.encode()
    position = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 127).filter(lambda byte: byte != whole[position]))
    after = whole[:position] + bytes([byte]) + whole[position + 1 :]
    setattr(target, name, after if isinstance(before, bytes) else after.decode())

    with pytest.raises(StatementError):
        open_statement(statement, expected=CommitCapability, keys=keys)


def test_e11_received_bytes_are_verified_not_what_they_would_be_encoded_to() -> None:
    statement = sign(capability(), KEY)
    statement.payload += UNKNOWN_FIELD
    understood = CommitCapability.FromString(statement.payload)
    understood.DiscardUnknownFields()
    assert understood == capability()

    with pytest.raises(SignatureInvalid):
        open_statement(statement, expected=CommitCapability, keys=keys)


@pytest.mark.parametrize("addition", [UNKNOWN_FIELD, b"\x0a\x00", b"\x0a\x03cap"])
def test_e11_bytes_with_two_readings_are_refused_even_when_well_signed(addition: bytes) -> None:
    statement = signed_bytes(payload_type_of(CommitCapability), encode(capability()) + addition)

    with pytest.raises(PayloadRefused):
        open_statement(statement, expected=CommitCapability, keys=keys)


@pytest.mark.parametrize("length", [0, 32, 63, 65, 96])
def test_e05_a_signature_of_another_length_is_refused(length: int) -> None:
    statement = sign(capability(), KEY)
    statement.signature.signature = (statement.signature.signature * 2)[:length]

    with pytest.raises(SignatureInvalid, match=f"{length} bytes"):
        open_statement(statement, expected=CommitCapability, keys=keys)


def test_unknown_fields_around_the_payload_are_refused() -> None:
    outer, inner = sign(capability(), KEY), sign(capability(), KEY)
    outer.MergeFromString(UNKNOWN_FIELD)
    inner.signature.MergeFromString(UNKNOWN_FIELD)

    for statement in (outer, inner):
        with pytest.raises(EnvelopeRefused):
            open_statement(statement, expected=CommitCapability, keys=keys)
        with pytest.raises(EnvelopeRefused):
            parse_statement(statement.SerializeToString(deterministic=True))


def test_an_empty_statement_is_refused() -> None:
    with pytest.raises(PayloadTypeMismatch):
        open_statement(SignedStatement(), expected=CommitCapability, keys=keys)
    with pytest.raises(KeyUnknown):
        open_statement(
            SignedStatement(payload_type=payload_type_of(Invocation)), expected=Invocation, keys=lambda _: None
        )


def test_the_bytes_of_a_statement_read_back_in_one_way_only() -> None:
    statement = sign(capability(), KEY)
    data = statement.SerializeToString(deterministic=True)

    assert parse_statement(data) == statement
    for other in (data + data, data[:-1], b"\x0a\x00" + data, b"\xff"):
        with pytest.raises(EnvelopeRefused):
            parse_statement(other)


def test_a_refusal_is_fit_for_a_line_of_a_log() -> None:
    statement = sign(Invocation(issue_time=timestamp(0)), KEY)
    statement.signature.key_id = "\n\x1b[31m" + "x" * 10_000

    with pytest.raises(KeyUnknown) as refusal:
        open_statement(statement, expected=Invocation, keys=keys)

    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 400
