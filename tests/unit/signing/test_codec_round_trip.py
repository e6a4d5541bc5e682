"""Domain values survive the way through payload bytes, for every kind (semantics §3)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_authority.offline import encode, read_payload
from tests.unit.signing import kinds, strategies
from tests.unit.signing.kinds import Kind

VALUES: tuple[tuple[Kind, st.SearchStrategy[Any]], ...] = (
    (kinds.CAPABILITY, strategies.CAPABILITIES),
    (kinds.VALIDATION, strategies.VALIDATIONS),
    (kinds.DECISION, strategies.DECISIONS),
    (kinds.RECEIPT, strategies.RECEIPTS),
    (kinds.EVIDENCE, strategies.CLAIMS),
    (kinds.GRANT, strategies.GRANTS),
    (kinds.INVOCATION, strategies.INVOCATIONS),
    (kinds.ATTESTATION, strategies.ATTESTATIONS),
)


@pytest.mark.parametrize(("kind", "values"), VALUES, ids=[kind.name for kind, _ in VALUES])
@given(data=st.data())
def test_any_value_comes_back_from_its_payload_bytes(
    kind: Kind, values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    # Given any value, written as payload bytes
    value = data.draw(values)
    payload = encode(kind.encode(value))

    # When the bytes are read by the reading rule
    read = kind.decode(read_payload(kind.payload_type, payload, type(kind.message())))

    # Then they say the same value, and it is written as the same bytes
    assert read == value
    assert encode(kind.encode(read)) == payload


@pytest.mark.parametrize("kind", kinds.ALL, ids=kinds.name_of)
def test_every_field_of_a_kind_is_carried(kind: Kind) -> None:
    # Given a value with every field set
    message = kind.message()

    # Then no field of the payload is left out: not by the encoder, and not by the sample these tests rest on
    assert {field.name for field, _ in message.ListFields()} == set(message.DESCRIPTOR.fields_by_name)
    assert kind.decode(message) == kind.sample
