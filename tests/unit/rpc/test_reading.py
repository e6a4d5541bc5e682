"""Request bytes are read strictly."""

import tracemalloc

import pytest

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.rpc.interceptors.reading import read_strictly
from authority.rpc.refused import Refused
from capability_authority.v1 import capability_service_pb2, memory_service_pb2, proposal_service_pb2

UNKNOWN = b"\xfa\x3f\x01x"
"""Field 1023, which no message of the contract has."""


def _delimited(number: int, payload: bytes) -> bytes:
    assert len(payload) < 128
    return bytes((number << 3 | 2, len(payload))) + payload


COMMIT = capability_service_pb2.CommitValidatedRequest.FromString
CREATE = proposal_service_pb2.CreateProposalRequest.FromString


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (UNKNOWN, "1023"),
        (_delimited(1, UNKNOWN), "capability.1023"),
        (_delimited(1, _delimited(3, UNKNOWN)), "capability.signature.1023"),
        (_delimited(2, UNKNOWN), "presentation.1023"),
    ],
)
def test_d13_an_unknown_field_is_refused_by_its_path_at_any_depth(raw: bytes, path: str) -> None:
    with pytest.raises(Refused) as refused:
        read_strictly(COMMIT, raw)

    assert refused.value.refusal == Refusal(Reason.MALFORMED, {"field": path, "problem": "unknown field"})


def test_d13_an_unknown_field_of_a_repeated_message_is_refused() -> None:
    raw = b"\x82\x01\x00" + b"\x82\x01" + bytes((len(UNKNOWN),)) + UNKNOWN

    with pytest.raises(Refused) as refused:
        read_strictly(CREATE, raw)

    assert refused.value.refusal.facts["field"] == "costs[1].1023"


def test_d16_a_flood_of_repeated_messages_is_refused_before_it_is_walked() -> None:
    # Given 3 MiB of empty costs, a million of them.
    raw = b"\x82\x01\x00" * (1024 * 1024)

    with pytest.raises(Refused) as refused:
        read_strictly(CREATE, raw)

    assert refused.value.refusal.reason is Reason.LIMIT_EXCEEDED
    assert refused.value.refusal.facts["field"] == "costs"


@pytest.mark.parametrize(
    "raw", [b"\x0a\x01\xff", b"\x0a\x05ab", b"\xff", b"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"]
)
def test_f07_bytes_that_are_no_such_message_are_malformed(raw: bytes) -> None:
    with pytest.raises(Refused) as refused:
        read_strictly(memory_service_pb2.GetMemoryRecordRequest.FromString, raw)

    assert refused.value.refusal == Refusal(Reason.MALFORMED, {"problem": "not a message of this type"})
    assert refused.value.__suppress_context__


def test_d13_known_fields_written_in_another_way_are_read() -> None:
    read = memory_service_pb2.GetMemoryRecordRequest.FromString

    messages = [read_strictly(read, bytes.fromhex(raw)) for raw in ("0a0161", "0a01620a0161", "0a810061", "8a000161")]

    assert {message.SerializeToString() for message in messages} == {bytes.fromhex("0a0161")}


def _encoded(number: int) -> bytes:
    return bytes((number & 0x7F | 0x80, number >> 7 & 0x7F | 0x80, number >> 14 & 0x7F | 0x80, number >> 21))


FLOODS = {
    "numbers": b"\x78\x00",
    "texts": b"\x7a\x00",
    "groups": b"\x7b\x7c",
    "groups in groups": b"\x7b" * 99 + b"\x7c" * 99,
}
"""Unknown fields of each encoding, numbered 15; a request has room for millions of them."""


@pytest.mark.parametrize("below", [False, True], ids=["in the request", "in a message of it"])
@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_d16_a_flood_of_unknown_fields_is_refused_without_an_object_for_each(flood: bytes, below: bool) -> None:  # noqa: FBT001
    # Given 4 MB of unknown fields.
    raw = flood * (4_000_000 // len(flood))
    if below:
        raw = b"\x0a" + _encoded(len(raw)) + raw

    # When they are read.
    tracemalloc.start()
    try:
        with pytest.raises(Refused) as refused:
            read_strictly(COMMIT, raw)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    # Then they are refused as one is, and cost no more than a few copies of the bytes.
    field = "capability.15" if below else "15"
    assert refused.value.refusal == Refusal(Reason.MALFORMED, {"field": field, "problem": "unknown field"})
    assert peak < 3 * len(raw)
