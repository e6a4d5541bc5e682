"""What a request of the contract may say in protobuf's JSON: its fields, an example, and what is wrong with another."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from authority.cli.output import Json, printable
from capability_authority.client.rpcs import Rpc

Parsed: TypeAlias = object
"""Whatever a JSON parser answers with."""

_BYTES: Final = "bytes, in base64"
_WELL_KNOWN: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "google.protobuf.Timestamp": ("time, such as 2027-01-31T08:00:00Z", "2027-01-31T08:00:00Z"),
        "google.protobuf.Duration": ("duration, such as 900s", "900s"),
    }
)
"""Messages that are strings in JSON: what they are, and one."""
_SCALARS: Final[Mapping[int, str]] = MappingProxyType(
    {
        FieldDescriptor.CPPTYPE_BOOL: "true or false",
        FieldDescriptor.CPPTYPE_DOUBLE: "number",
        FieldDescriptor.CPPTYPE_FLOAT: "number",
        FieldDescriptor.CPPTYPE_STRING: "text",
    }
)
_SHOWN_CHARACTERS: Final = 40


def request_of(rpc: Rpc) -> Descriptor:
    """What the RPC's request is made of."""
    descriptor = rpc.request_class.DESCRIPTOR
    assert isinstance(descriptor, Descriptor)
    return descriptor


def fields_of(message: Descriptor, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every field by its path, with what it holds in words; those of messages within follow them."""
    for field in message.fields:
        path = f"{prefix}{field.name}{'[]' if field.is_repeated else ''}"
        yield path, _kind(field)
        if _is_object(field):
            assert field.message_type is not None
            yield from fields_of(field.message_type, f"{path}.")


def example_of(message: Descriptor, left_out: frozenset[str] = frozenset()) -> dict[str, Json]:
    """A request that can be parsed, with every field but those left out, and one of each choice."""
    chosen: set[str] = set()
    example: dict[str, Json] = {}
    for field in message.fields:
        choice = field.containing_oneof.name if field.containing_oneof else field.name
        if field.name in left_out or choice in chosen:
            continue
        chosen.add(choice)
        example[field.name] = [_example(field)] if field.is_repeated else _example(field)
    return example


def problem_of(message: Descriptor, document: Parsed, path: str = "") -> str:
    """The first thing that the message cannot take, with what it can; empty when nothing is found."""
    if not isinstance(document, dict):
        return f"{path or 'the request'} must be an object with fields of {_names(message)}"
    fields = {name: field for field in message.fields for name in (field.name, field.json_name)}
    for name, value in document.items():
        place = f"{path}.{name}" if path else str(name)
        if name not in fields:
            return f"{message.name} has no field {_shown(name)}; its fields are {_names(message)}{_hint(message)}"
        if value is not None and (problem := _problem_in(fields[name], value, place)):
            return problem
    return ""


def hint_of(message: Descriptor) -> str:
    """What the message has, for who cannot be told more exactly."""
    return f"its fields are {_names(message)}{_hint(message)}"


def _problem_in(field: FieldDescriptor, value: Parsed, place: str) -> str:
    if not field.is_repeated:
        return _problem_with(field, value, place)
    if not isinstance(value, list):
        return f"{place} must be a list of {_kind(field)}"
    found = (_problem_with(field, item, f"{place}[{number}]") for number, item in enumerate(value))
    return next(filter(None, found), "")


def _problem_with(field: FieldDescriptor, value: Parsed, place: str) -> str:
    if _is_object(field):
        assert field.message_type is not None
        return problem_of(field.message_type, value, place)
    if field.enum_type is not None:
        known = isinstance(value, int) or value in field.enum_type.values_by_name
        return "" if known else f"{place} is no {field.enum_type.name}: it is one of {_values(field.enum_type)}"
    if field.type == FieldDescriptor.TYPE_BYTES and not isinstance(value, str):
        return (
            f"{place} must be the base64 of its bytes, as bytes fields are base64: a JSON value goes in as the base64"
            " of its canonical text (RFC 8785)"
        )
    is_text = field.message_type is not None or field.cpp_type == FieldDescriptor.CPPTYPE_STRING
    if isinstance(value, dict | list) or (is_text and not isinstance(value, str)):
        return f"{place} must be {_kind(field)}"
    return ""


def _kind(field: FieldDescriptor) -> str:
    if field.message_type is not None:
        known = _WELL_KNOWN.get(field.message_type.full_name)
        return known[0] if known else field.message_type.name
    if field.enum_type is not None:
        return f"one of {_values(field.enum_type)}"
    if field.type == FieldDescriptor.TYPE_BYTES:
        return _BYTES
    return _SCALARS.get(field.cpp_type, "whole number")


def _example(field: FieldDescriptor) -> Json:
    if field.message_type is not None:
        known = _WELL_KNOWN.get(field.message_type.full_name)
        return known[1] if known else example_of(field.message_type)
    if field.enum_type is not None:
        return field.enum_type.values[min(1, len(field.enum_type.values) - 1)].name
    if field.type == FieldDescriptor.TYPE_BYTES:
        return "e30="
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return False
    return "…" if field.cpp_type == FieldDescriptor.CPPTYPE_STRING else 1


def _is_object(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.full_name not in _WELL_KNOWN


def _names(message: Descriptor) -> str:
    return ", ".join(field.name for field in message.fields) or "none"


def _values(enum: EnumDescriptor) -> str:
    """Without the one that says that nothing was said."""
    return ", ".join(value.name for value in enum.values if value.number)


def _hint(message: Descriptor) -> str:
    has_bytes = any(field.type == FieldDescriptor.TYPE_BYTES for field in message.fields)
    return "; bytes fields are base64" if has_bytes else ""


def _shown(name: Parsed) -> str:
    text = str(name)
    return f'"{printable(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…")}"'
