"""Signed payloads are frozen (semantics §3): payload_descriptors.txt pins every message and enum of statements.proto.

To pin a new message, and never to change a line once released, run this file:
``.venv/bin/python tests/house/test_payload_descriptors_are_pinned.py``
"""

import difflib
from collections.abc import Iterator
from pathlib import Path

from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto

from capability_authority.v1 import statements_pb2

FLOATS = ("float", "double")
PINNED = Path(__file__).with_name("payload_descriptors.txt")
FROZEN = (
    "A signed payload is frozen: what was signed yesterday must be read the same way for ever. A new field is a new "
    "message with a new payload type: put the .proto back and add that message. Only added messages may be pinned, "
    f"as {Path(__file__).name} says.\n"
)


def reachable_types() -> list[Descriptor | EnumDescriptor]:
    """Every message and enum declared in statements.proto or used by one, at any depth, by full name."""
    found: dict[str, Descriptor | EnumDescriptor] = {}
    waiting: list[Descriptor | EnumDescriptor] = list(statements_pb2.DESCRIPTOR.message_types_by_name.values())
    while waiting:
        kind = waiting.pop()
        if kind.full_name not in found:
            found[kind.full_name] = kind
            if isinstance(kind, Descriptor):
                waiting += [used for field in kind.fields for used in (field.message_type, field.enum_type) if used]
    return [found[name] for name in sorted(found)]


def fields_of(message: Descriptor) -> list[FieldDescriptorProto]:
    """The fields in the order of their declaration."""
    declared = DescriptorProto()
    message.CopyToProto(declared)
    return list(declared.field)


def type_of(field: FieldDescriptorProto) -> str:
    """The name that a .proto file gives the type: ``bytes``, ``capability_authority.v1.Cost``."""
    return field.type_name.lstrip(".") or FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()


def describe(kind: Descriptor | EnumDescriptor) -> Iterator[str]:
    """All that decides how bytes are read: a heading, then a line for each field or value."""
    if isinstance(kind, EnumDescriptor):
        yield f"enum {kind.full_name}"
        yield from (f"  {value.number} {value.name}" for value in kind.values)
        return
    yield f"message {kind.full_name}"
    for field in fields_of(kind):
        repeated = "repeated " if field.label == FieldDescriptorProto.LABEL_REPEATED else ""
        optional = "optional " if field.proto3_optional else ""
        oneof = f" in oneof {field.oneof_index}" if field.HasField("oneof_index") else ""
        yield f"  {field.number} {field.name}: {repeated}{optional}{type_of(field)}{oneof}"


def descriptors() -> str:
    """What is pinned."""
    return "".join(line + "\n" for kind in reachable_types() for line in describe(kind))


def test_payload_descriptors_are_pinned() -> None:
    pinned, current = PINNED.read_text("utf-8"), descriptors()
    difference = difflib.unified_diff(
        pinned.splitlines(), current.splitlines(), PINNED.name, "statements.proto", lineterm="", n=1
    )
    assert current == pinned, FROZEN + "\n".join(difference)


def test_payloads_hold_no_maps_and_no_floats() -> None:
    # Given what languages encode differently: maps in any order, and floating point numbers (semantics §3)
    messages = [kind for kind in reachable_types() if isinstance(kind, Descriptor)]
    maps = [kind.full_name for kind in messages if kind.GetOptions().map_entry]
    floats = [f"{kind.full_name}.{f.name}" for kind in messages for f in fields_of(kind) if type_of(f) in FLOATS]

    # Then no payload has any
    assert (maps, floats) == ([], [])


def test_payload_fields_are_declared_in_number_order() -> None:
    # Protobuf runtimes that write fields as declared then agree with those that write them by number.
    messages = [kind for kind in reachable_types() if isinstance(kind, Descriptor)]
    numbers = {kind.full_name: [field.number for field in fields_of(kind)] for kind in messages}
    assert {name: found for name, found in numbers.items() if found != sorted(found)} == {}


if __name__ == "__main__":
    PINNED.write_text(descriptors(), "utf-8")
