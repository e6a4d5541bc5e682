"""Words for enum values: complete, both ways."""

from typing import Any, get_args

import pytest

from capability_authority.client import words
from capability_authority.client.words import name_of, word_of
from capability_authority.v1 import proposal_service_pb2 as proposal_pb
from capability_authority.v1 import types_pb2


@pytest.mark.parametrize(
    ("literal", "enum"),
    [
        (words.MemoryType, types_pb2.MemoryType),
        (words.Visibility, types_pb2.Visibility),
        (words.ProposalState, proposal_pb.ProposalState),
        (words.ReviewVerdict, proposal_pb.DecideProposalRequest.Verdict),
    ],
    ids=["MemoryType", "Visibility", "ProposalState", "ReviewVerdict"],
)
def test_every_value_but_unspecified_has_its_word(literal: object, enum: Any) -> None:
    written = get_args(literal)

    assert [word_of(enum, value.number) for value in enum.DESCRIPTOR.values if value.number] == list(written)
    assert [enum.Value(name_of(enum, word)) for word in written] == [
        value.number for value in enum.DESCRIPTOR.values if value.number
    ]


def test_a_value_newer_than_the_client_has_a_word_too() -> None:
    assert word_of(types_pb2.MemoryType, 99) == "unknown_99"


@pytest.mark.parametrize("word", ["", "fact", "Critique", "unspecified", "MEMORY_TYPE_CRITIQUE"])
def test_another_word_is_refused_with_those_there_are(word: str) -> None:
    with pytest.raises(ValueError, match="durable_fact, preference, procedure, snapshot, critique"):
        name_of(types_pb2.MemoryType, word)
