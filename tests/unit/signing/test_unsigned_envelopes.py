"""Envelopes without their signature, from anybody: each is read, or malformed, and never a fault of ours."""

import json

from hypothesis import given
from hypothesis import strategies as st

from authority.domain.action_envelope import ActionEnvelope
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.signing.action_envelopes import SignedEnvelopeReader
from tests.unit.rpc.requests import ENVELOPE_JSON

READER = SignedEnvelopeReader()
GOOD = json.loads(ENVELOPE_JSON)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


def is_read_or_malformed(text: bytes) -> bool:
    """Whether it is either, and a refusal says which field it is about and quotes nothing unprintable."""
    read = READER.read_unsigned(text)
    if isinstance(read, ActionEnvelope):
        return True
    assert isinstance(read, Refusal)
    facts = read.facts
    return read.reason is Reason.MALFORMED and facts["field"] == "envelope_json" and facts["problem"].isprintable()


def test_a_good_one_says_what_it_says() -> None:
    read = READER.read_unsigned(ENVELOPE_JSON)
    assert isinstance(read, ActionEnvelope)
    assert (read.action, read.resource_refs, read.capability_id) == ("memory.recall", ("notes",), "grant-1")
    assert (read.content_digest, read.validation_receipt_id) == ("", "")


@given(text=st.binary(max_size=200))
def test_f07_any_bytes_are_answered(text: bytes) -> None:
    assert is_read_or_malformed(text)


@given(start=st.integers(0, len(ENVELOPE_JSON)), length=st.integers(0, 12), middle=st.binary(max_size=6))
def test_f07_any_cut_is_answered(start: int, length: int, middle: bytes) -> None:
    assert is_read_or_malformed(ENVELOPE_JSON[:start] + middle + ENVELOPE_JSON[start + length :])


@given(member=st.sampled_from(sorted(GOOD)), value=VALUES)
def test_f07_any_value_of_any_member_is_answered(member: str, value: object) -> None:
    assert is_read_or_malformed(json.dumps(GOOD | {member: value}).encode())
