"""Strict reading against `measured/protobuf_wire.json`: byte strings that protobuf reads as one message."""

from typing import Any

import pytest
from google.protobuf.message import DecodeError
from google.protobuf.wrappers_pb2 import StringValue

from capability_authority.offline import PayloadRefused
from capability_authority.offline.reading import read_exactly
from tests.vectors.vector_files import own

CASES = own("measured/protobuf_wire.json")["cases"]
ONE_READING = {"plain", "nul"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_d13_the_parser_reads_what_was_measured(case: dict[str, Any]) -> None:
    wire = bytes.fromhex(case["wire_hex"])

    if case["value"] == "REJECT":
        with pytest.raises(DecodeError):
            StringValue.FromString(wire)
    else:
        assert StringValue.FromString(wire).value == case["value"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_d13_only_the_deterministic_encoding_is_read(case: dict[str, Any]) -> None:
    wire = bytes.fromhex(case["wire_hex"])

    if case["id"] in ONE_READING:
        assert read_exactly(wire, StringValue).value == case["value"]
    else:
        with pytest.raises(PayloadRefused):
            read_exactly(wire, StringValue)
