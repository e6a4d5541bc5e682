"""Reads request bytes strictly: what this service does not understand it does not act on."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from authority.domain import limits
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal, malformed, over_limit
from authority.rpc.refused import Refused


def read_strictly(deserialize: Callable[[bytes], Message], raw: bytes) -> Message:
    """The message in the bytes.

    Raises `Refused`: MALFORMED for bytes that are no such message (bad UTF-8 too, case F07) and for an unknown field at
    any depth (case D13), naming its path; LIMIT_EXCEEDED for more repeated messages than any request may hold.
    """
    try:
        message = deserialize(raw)
    except DecodeError:
        raise Refused(Refusal(Reason.MALFORMED, {"problem": "not a message of this type"})) from None
    _refuse_unknown_fields(message, "")
    return message


def _refuse_unknown_fields(message: Message, prefix: str) -> None:
    unknown = UnknownFieldSet(message)
    if len(unknown):
        raise Refused(malformed(f"{prefix}{unknown[0].field_number}", "unknown field"))
    for path, below in _messages_in(message, prefix):
        _refuse_unknown_fields(below, f"{path}.")


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
