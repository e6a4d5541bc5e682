"""JSON values, as cases and answers hold them."""

from typing import TypeAlias, Union

from google.protobuf import struct_pb2
from google.protobuf.json_format import MessageToDict

__all__ = ["Json", "members_of", "of_struct", "of_value", "shown"]

Json: TypeAlias = Union["dict[str, Json]", "list[Json]", str, int, float, bool, None]

_SHOWN_CHARACTERS = 400


def of_value(value: struct_pb2.Value) -> Json:
    """The value as plain JSON; whole numbers are ints."""
    return _with_ints(MessageToDict(value))


def of_struct(value: struct_pb2.Struct) -> dict[str, Json]:
    """The members as plain JSON; whole numbers are ints."""
    return {name: of_value(member) for name, member in value.fields.items()}


def members_of(value: Json) -> dict[str, Json]:
    """The members of a mapping. Raises `ValueError` for any other value."""
    if not isinstance(value, dict):
        raise ValueError(f"a mapping is wanted, not {shown(value)}")  # noqa: TRY004 - a wrong value, of any type
    return value


def _with_ints(value: Json) -> Json:
    match value:
        case bool():
            return value
        case float():
            return int(value) if value.is_integer() else value
        case list():
            return [_with_ints(item) for item in value]
        case dict():
            return {name: _with_ints(item) for name, item in value.items()}
        case _:
            return value


def shown(value: object) -> str:
    """A value for people, cut short."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}… ({len(text)} characters)"
