"""Whether what is written has the shape of a message: every key known, every value of its type, one of a oneof."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from capability_authority_conformance.values import Json, shown

__all__ = ["Misshape", "misshapes"]

Path = tuple[str | int, ...]

_FREE_FORM: Final = {"google.protobuf.Struct": "a mapping", "google.protobuf.Value": ""}
_KINDS: Final = {
    FieldDescriptor.CPPTYPE_STRING: (str, "a text; what looks like a number or boolean needs quotes"),
    FieldDescriptor.CPPTYPE_BOOL: (bool, "true or false"),
    FieldDescriptor.CPPTYPE_INT64: (int, "a whole number"),
    FieldDescriptor.CPPTYPE_UINT32: (int, "a whole number"),
}
_SEE: Final = "see suite.proto"


@dataclass(frozen=True, slots=True)
class Misshape:
    """Where something is not as the schema has it, what, and what to do."""

    path: Path
    what: str
    remedy: str


def misshapes(value: Json, message: Descriptor, path: Path = ()) -> Iterator[Misshape]:
    """Everything in the value that is not as the message has it."""
    if message.full_name in _FREE_FORM:
        if _FREE_FORM[message.full_name] and not isinstance(value, dict):
            yield Misshape(path, f"a mapping is wanted, not {shown(value)}", _SEE)
        return
    if not isinstance(value, dict):
        yield Misshape(path, f"a {message.name} is wanted, a mapping, not {shown(value)}", _SEE)
        return
    for key, member in value.items():
        field = message.fields_by_name.get(key)
        if field is None:
            near = get_close_matches(key, message.fields_by_name, n=1)
            known = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(message.fields_by_name)}"
            yield Misshape((*path, key), f"{message.name} has no {key!r}", known)
        else:
            yield from _of_field(member, field, (*path, key))
    for oneof in message.oneofs:
        written = [field.name for field in oneof.fields if field.name in value]
        if len(written) > 1:
            yield Misshape(path, f"{message.name} has {' and '.join(written)}", "write one of them")


def _of_field(value: Json, field: FieldDescriptor, path: Path) -> Iterator[Misshape]:
    message = field.message_type
    if message is not None and message.GetOptions().map_entry:
        if not isinstance(value, dict):
            yield Misshape(path, f"a mapping is wanted, not {shown(value)}", _SEE)
            return
        for key, item in value.items():
            yield from _of_one(item, message.fields_by_name["value"], (*path, key))
    elif field.is_repeated:
        if not isinstance(value, list):
            yield Misshape(path, f"a list is wanted, not {shown(value)}", "write `- ` before each item")
            return
        for index, item in enumerate(value):
            yield from _of_one(item, field, (*path, index))
    else:
        yield from _of_one(value, field, path)


def _of_one(value: Json, field: FieldDescriptor, path: Path) -> Iterator[Misshape]:
    if field.message_type is not None:
        yield from misshapes(value, field.message_type, path)
    elif field.enum_type is not None:
        names = field.enum_type.values_by_name
        if value not in names:
            near = get_close_matches(str(value), names, n=1)
            remedy = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
            yield Misshape(path, f"no {field.enum_type.name} is {shown(value)}", remedy)
    else:
        kind, wanted = _KINDS[field.cpp_type]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            yield Misshape(path, f"{field.name} is {shown(value)}", f"write {wanted}")
