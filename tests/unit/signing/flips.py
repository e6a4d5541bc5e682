"""Changes one field of a message at a time, by reflection, so that no field can be forgotten (case E10)."""

from collections.abc import Iterator
from typing import Any

from google.protobuf.message import Message


def field_paths(message: Message, above: str = "") -> Iterator[str]:
    """The dotted path of every field at every depth of a message that has every field set."""
    for field in message.DESCRIPTOR.fields:
        yield above + field.name
        if field.message_type is not None:
            yield from field_paths(_descend(message, [field.name]), f"{above}{field.name}.")


def message_paths(message: Message) -> Iterator[str]:
    """The dotted path of every nested message at every depth."""
    return (
        path for path in field_paths(message) if any(below.startswith(f"{path}.") for below in field_paths(message))
    )


def at_path(message: Message, path: str) -> Message:
    """The nested message at a dotted path; the first of several."""
    return _descend(message, path.split("."))


def flips(message: Message) -> Iterator[tuple[str, Message]]:
    """The path of every field at every depth, each with copies of the message in which only that field differs."""
    for path in field_paths(message):
        *parents, name = path.split(".")
        for value in _others(getattr(_descend(message, parents), name)):
            flipped = type(message)()
            flipped.CopyFrom(message)
            _put(_descend(flipped, parents), name, value)
            yield path, flipped


def _descend(message: Message, parents: list[str]) -> Message:
    """The nested message; the first of several."""
    for name in parents:
        found: Any = getattr(message, name)
        message = found if isinstance(found, Message) else found[0]
    return message


def _put(owner: Message, name: str, value: Any) -> None:
    owner.ClearField(name)
    if isinstance(value, list):
        getattr(owner, name).extend(value)
    elif value is not None:
        setattr(owner, name, value)


def _others(value: Any) -> Iterator[Any]:
    """Other values for the field: None is none at all."""
    yield None
    if isinstance(value, Message):
        return
    if isinstance(value, str):
        yield value + "x"
        yield "x" + value[1:]
        yield value[:-1]
    elif isinstance(value, bytes):
        yield bytes([value[0] ^ 1]) + value[1:]
        yield value[:-1]
        yield value + b"\x00"
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
        yield value - 1
    else:
        items = list(value)
        yield [*items, items[0]]
        if len(items) > 1:
            yield items[1:]
            yield items[::-1]
