"""Reads request bytes strictly: what this service does not understand it does not act on."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeVar

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError, Message

from authority.domain import limits
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal, malformed, over_limit
from authority.rpc.refused import Refused

Read = TypeVar("Read", bound=Message)

_MORE = 0x80
"""The bit by which a byte of a varint says that another follows."""


def read_strictly(deserialize: Callable[[bytes], Read], raw: bytes) -> Read:
    """The message in the bytes. Raises `Refused` as `read` and `refuse_unknown` do."""
    message = read(deserialize, raw)
    refuse_unknown(deserialize, raw, message)
    return message


def read(deserialize: Callable[[bytes], Read], raw: bytes) -> Read:
    """The message in the bytes, with whatever else is in them.

    Raises `Refused`: MALFORMED for bytes that are no such message (bad UTF-8 too, case F07).
    """
    try:
        return deserialize(raw)
    except DecodeError:
        raise Refused(Refusal(Reason.MALFORMED, {"problem": "not a message of this type"})) from None


def refuse_unknown(deserialize: Callable[[bytes], Message], raw: bytes, message: Message) -> None:
    """Judges the message that was read from the bytes; its unknown fields are dropped.

    Raises `Refused`: MALFORMED for an unknown field at any depth (case D13), naming its path; LIMIT_EXCEEDED for more
    repeated messages than any request may hold.

    Protobuf's own list of unknown fields is never asked for: it makes a Python object of each, and two million fit into
    one request, which anybody may send to an RPC that needs no proof (case D16).
    """
    whole = message.ByteSize()
    message.DiscardUnknownFields()
    if message.ByteSize() != whole:
        _refuse(deserialize(raw), "", knows_all=False)
    _refuse(message, "", knows_all=True)


def _refuse(message: Message, prefix: str, *, knows_all: bool) -> None:
    number = None if knows_all else _first_unknown(message)
    if number is not None:
        raise Refused(malformed(f"{prefix}{number}", "unknown field"))
    for path, below in _messages_in(message, prefix):
        _refuse(below, f"{path}.", knows_all=knows_all)


def _first_unknown(message: Message) -> int | None:
    """The number of the first unknown field of the message itself: what is left of it without its known fields."""
    rest = type(message)()
    rest.CopyFrom(message)
    for field, _ in message.ListFields():
        rest.ClearField(field.name)
    encoded = rest.SerializeToString()
    return _varint(encoded) >> 3 if encoded else None


def _varint(encoded: bytes) -> int:
    """The number that the bytes begin with; protobuf has read it before, so it has an end."""
    number = 0
    for place, byte in enumerate(encoded):
        number |= (byte & ~_MORE) << 7 * place
        if not byte & _MORE:
            break
    return number


def _messages_in(message: Message, prefix: str) -> Iterator[tuple[str, Message]]:
    for name, is_repeated in _message_fields(message.DESCRIPTOR):
        if not is_repeated:
            if message.HasField(name):
                yield prefix + name, getattr(message, name)
            continue
        items: Any = getattr(message, name)
        if len(items) > limits.BATCH_ITEMS:
            raise Refused(over_limit(prefix + name, f"{limits.BATCH_ITEMS} items"))
        for index, item in enumerate(items):
            yield f"{prefix}{name}[{index}]", item


@cache
def _message_fields(descriptor: Descriptor) -> tuple[tuple[str, bool], ...]:
    """The fields that hold messages: looked up once for each type, for this runs in every call."""
    fields = (field for field in descriptor.fields if field.message_type is not None)
    return tuple((field.name, field.is_repeated) for field in fields)
