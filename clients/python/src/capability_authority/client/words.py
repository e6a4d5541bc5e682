"""Enum values of the contract as the lowercase words that people write: MEMORY_TYPE_DURABLE_FACT is "durable_fact"."""

from typing import Literal, Protocol, TypeAlias

from google.protobuf.descriptor import EnumDescriptor

from capability_authority.v1 import types_pb2

__all__ = [
    "MemoryType",
    "ProposalState",
    "Provenance",
    "ReviewVerdict",
    "Visibility",
    "memory_type_number",
    "name_of",
    "visibility_number",
    "word_of",
]

MemoryType: TypeAlias = Literal["durable_fact", "preference", "procedure", "snapshot", "critique"]
Provenance: TypeAlias = Literal["system_observation", "tool_result", "user_claim", "agent_output", "unknown"]
Visibility: TypeAlias = Literal["private", "channel", "team", "workspace"]
ProposalState: TypeAlias = Literal[
    "proposed",
    "validating",
    "validated",
    "rejected",
    "changes_requested",
    "approved",
    "superseded",
    "committed",
    "withdrawn",
    "expired",
]
ReviewVerdict: TypeAlias = Literal["approve", "reject", "request_changes", "revoke", "adopt"]


class _Enum(Protocol):
    """A generated enum."""

    DESCRIPTOR: EnumDescriptor


def word_of(enum: _Enum, number: int) -> str:
    """The word of an enum value; "unknown_7" for one that this version of the client does not know."""
    value = enum.DESCRIPTOR.values_by_number.get(number)
    return f"unknown_{number}" if value is None else value.name.removeprefix(_prefix(enum)).lower()


def name_of(enum: _Enum, word: str) -> str:
    """The name of the enum value that `word` stands for. Raises `ValueError` for a word that names none."""
    name = _prefix(enum) + word.upper()
    known = enum.DESCRIPTOR.values_by_name
    if word != word.lower() or name not in known or not known[name].number:
        expected = ", ".join(word_of(enum, value.number) for value in enum.DESCRIPTOR.values if value.number)
        raise ValueError(f"{word!r} is none of: {expected}")
    return name


def memory_type_number(word: MemoryType | None) -> "types_pb2.MemoryType.ValueType":
    """The enum value of a memory type; unspecified for None. Raises `ValueError` for a word that names none."""
    if word is None:
        return types_pb2.MEMORY_TYPE_UNSPECIFIED
    return types_pb2.MemoryType.Value(name_of(types_pb2.MemoryType, word))


def visibility_number(word: Visibility | None) -> "types_pb2.Visibility.ValueType":
    """The enum value of a visibility; unspecified for None. Raises `ValueError` for a word that names none."""
    if word is None:
        return types_pb2.VISIBILITY_UNSPECIFIED
    return types_pb2.Visibility.Value(name_of(types_pb2.Visibility, word))


def _prefix(enum: _Enum) -> str:
    # buf's STANDARD lint: the zero value is the prefix and UNSPECIFIED.
    return enum.DESCRIPTOR.values_by_number[0].name.removesuffix("UNSPECIFIED")
