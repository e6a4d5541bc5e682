"""The reading rule: bytes have one reading, or none."""

import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from google.protobuf.wrappers_pb2 import StringValue, UInt32Value
from hypothesis import given
from hypothesis import strategies as st

from capability_authority.offline import (
    PayloadRefused,
    PayloadTypeMismatch,
    encode,
    payload_type_of,
    read_payload,
)
from capability_authority.offline.reading import read_exactly
from capability_authority.v1.statements_pb2 import (
    CommitCapability,
    CommitReceipt,
    DecisionReceipt,
    ProposalRevision,
    Revocation,
    ValidationReceipt,
)
from capability_authority.v1.types_pb2 import ValidationFinding
from tests.unit.offline.builders import ALL_CLASSES, descriptor_of, filled

UNKNOWN_FIELD = bytes.fromhex("f2b91d0178")
"""Field 60000, one byte long."""


def read(message_class: type[Message], payload: bytes) -> Message:
    return read_payload(payload_type_of(message_class), payload, message_class)


def refused(message_class: type[Message], payload: bytes) -> tuple[str, str]:
    with pytest.raises(PayloadRefused) as refusal:
        read(message_class, payload)
    return refusal.value.problem, refusal.value.path


@pytest.mark.parametrize("message_class", ALL_CLASSES)
def test_what_is_encoded_reads_back(message_class: type[Message]) -> None:
    message = filled(message_class)

    assert read(message_class, encode(message)) == message
    assert read(message_class, b"") == message_class()


@pytest.mark.parametrize("message_class", ALL_CLASSES)
def test_a_payload_is_read_only_as_the_kind_it_is(message_class: type[Message]) -> None:
    for other in ALL_CLASSES:
        if other is not message_class:
            with pytest.raises(PayloadTypeMismatch) as refusal:
                read_payload(payload_type_of(other), encode(filled(other)), message_class)
            assert (refusal.value.expected, refusal.value.presented) == (
                payload_type_of(message_class),
                payload_type_of(other),
            )


@pytest.mark.parametrize("message_class", ALL_CLASSES)
def test_e11_an_unknown_field_is_refused(message_class: type[Message]) -> None:
    payload = encode(filled(message_class))

    assert refused(message_class, payload + UNKNOWN_FIELD) == ("unknown_field", "")
    assert refused(message_class, UNKNOWN_FIELD + payload) == ("unknown_field", "")


@pytest.mark.parametrize("message_class", ALL_CLASSES)
def test_e11_an_unknown_field_is_refused_in_every_nested_message(message_class: type[Message]) -> None:
    spoiled = 0
    for path in nested_paths(descriptor_of(message_class)):
        message = filled(message_class)
        target: Message = message
        for name in path:
            inner = getattr(target, name)
            target = inner if isinstance(inner, Message) else inner[-1]
        target.MergeFromString(UNKNOWN_FIELD)

        assert refused(message_class, message.SerializeToString(deterministic=True)) == ("unknown_field", "")
        spoiled += 1

    assert spoiled >= 2  # a tenant and a time, at least


def nested_paths(descriptor: Descriptor) -> list[tuple[str, ...]]:
    """The path of every nested message, at every depth."""
    paths: list[tuple[str, ...]] = []
    for field in descriptor.fields:
        if field.message_type is not None:
            paths += [(field.name,), *((field.name, *below) for below in nested_paths(field.message_type))]
    return paths


@pytest.mark.parametrize("message_class", ALL_CLASSES)
def test_e11_reordered_and_repeated_fields_are_refused(message_class: type[Message]) -> None:
    payload = encode(filled(message_class))
    first = encode_first_field(message_class)

    assert refused(message_class, payload.removeprefix(first) + first) == ("not_deterministic", "")
    assert refused(message_class, first + payload) == ("not_deterministic", "")


def encode_first_field(message_class: type[Message]) -> bytes:
    """The bytes of the first field alone."""
    message = filled(message_class)
    for field in message_class.DESCRIPTOR.fields[1:]:
        message.ClearField(field.name)
    return message.SerializeToString(deterministic=True)


@pytest.mark.parametrize("message_class", ALL_CLASSES)
def test_truncated_payloads_are_refused_or_are_whole_fields(message_class: type[Message]) -> None:
    payload = encode(filled(message_class))

    for length in range(len(payload)):
        try:
            message = read(message_class, payload[:length])
        except PayloadRefused:
            continue
        assert encode(message) == payload[:length]


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (ValidationReceipt(outcome=99), "outcome"),  # type: ignore[arg-type]
        (ValidationReceipt(outcome=-1), "outcome"),  # type: ignore[arg-type]
        (ValidationReceipt(findings=[ValidationFinding(), ValidationFinding(outcome=4)]), "findings.outcome"),  # type: ignore[arg-type]
        (DecisionReceipt(outcome=4), "outcome"),  # type: ignore[arg-type]
        (ProposalRevision(proposer_kind=9), "proposer_kind"),  # type: ignore[arg-type]
        (ProposalRevision(provenance=6), "provenance"),  # type: ignore[arg-type]
        (ProposalRevision(memory_type=6), "memory_type"),  # type: ignore[arg-type]
        (ProposalRevision(visibility=5), "visibility"),  # type: ignore[arg-type]
        (Revocation(kind=8), "kind"),  # type: ignore[arg-type]
    ],
)
def test_an_unknown_enum_value_is_refused_and_named(message: Message, path: str) -> None:
    payload = message.SerializeToString(deterministic=True)

    assert refused(type(message), payload) == ("unknown_enum_value", path)
    with pytest.raises(PayloadRefused):
        encode(message)


def test_every_enum_field_of_a_payload_is_among_the_cases_above() -> None:
    found = {
        (field.full_name.split(".")[-2], field.name)
        for message_class in ALL_CLASSES
        for field in every_field(descriptor_of(message_class))
        if field.enum_type is not None
    }

    assert found == {
        ("ValidationReceipt", "outcome"),
        ("ValidationFinding", "outcome"),
        ("DecisionReceipt", "outcome"),
        ("Revocation", "kind"),
        *(("ProposalRevision", name) for name in ("proposer_kind", "provenance", "memory_type", "visibility")),
    }


@pytest.mark.parametrize("instant", [Timestamp(nanos=1), Timestamp(nanos=-1), Timestamp(seconds=253_402_300_800)])
def test_an_instant_finer_than_a_millisecond_or_out_of_range_is_refused(instant: Timestamp) -> None:
    deep = CommitReceipt(capability=CommitCapability(expire_time=instant))

    assert refused(CommitReceipt, deep.SerializeToString(deterministic=True)) == (
        "instant_out_of_range",
        "capability.expire_time",
    )


def test_no_payload_holds_what_cannot_be_encoded_in_one_way() -> None:
    floating = {FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT}

    for message_class in ALL_CLASSES:
        for field in every_field(descriptor_of(message_class)):
            nested = field.message_type
            assert field.type not in floating, field.full_name
            assert nested is None or not nested.GetOptions().map_entry, field.full_name
            assert nested is None or nested.full_name != AnyMessage.DESCRIPTOR.full_name, field.full_name


def every_field(descriptor: Descriptor) -> list[FieldDescriptor]:
    """Every field, at every depth."""
    return [
        found
        for field in descriptor.fields
        for found in (field, *(every_field(field.message_type) if field.message_type is not None else ()))
    ]


def test_i14_a_second_field_behind_the_one_meant_is_refused() -> None:
    payload = bytes.fromhex("080470017001")

    with pytest.raises(PayloadRefused) as refusal:
        read_exactly(payload, UInt32Value)  # one field, `value`: uint32, as in the measured case

    assert refusal.value.problem == "unknown_field"
    assert read_exactly(payload[:2], UInt32Value) == UInt32Value(value=4)


@given(st.data())
def test_d13_of_all_byte_strings_that_parse_alike_one_is_read(data: st.DataObject) -> None:
    value = data.draw(st.text(min_size=1, max_size=4))
    message = StringValue(value=value)
    plain = message.SerializeToString(deterministic=True)
    variants = [
        StringValue(value="other").SerializeToString() + plain,
        b"\x8a\x00" + plain[1:],
        plain[:1] + bytes([plain[1] | 0x80, 0x00]) + plain[2:],
        plain + UNKNOWN_FIELD,
    ]

    assert read_exactly(plain, StringValue) == message
    for variant in variants:
        assert StringValue.FromString(variant).value == value
        with pytest.raises(PayloadRefused):
            read_exactly(variant, StringValue)


@st.composite
def mutations(draw: st.DrawFn, payload: bytes) -> bytes:
    """The payload after a few bytes were changed, taken out, put in or moved."""
    mutated = bytearray(payload)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(mutated)))
        end = draw(st.integers(start, min(len(mutated), start + 8)))
        mutated[start:end] = draw(st.binary(max_size=8) | st.just(bytes(mutated[end : end + 8])))
    return bytes(mutated)


@given(st.data())
def test_a_mutated_payload_is_read_only_as_what_encodes_to_it(data: st.DataObject) -> None:
    message_class = data.draw(st.sampled_from(ALL_CLASSES))
    mutated = data.draw(mutations(encode(filled(message_class))))

    try:
        message = read(message_class, mutated)
    except PayloadRefused:
        return
    assert encode(message) == mutated
