"""The reading rule: bytes are read in exactly one way, or refused (semantics §3).

After parsing, a message is taken only if no unknown field exists at any depth, every enum value is known, every instant
is a whole millisecond in range, and encoding it deterministically gives the same bytes again. Protobuf promises none of
this by itself: parsers keep unknown fields, take open enum values, and read many byte strings as one message, so that
two languages can see different messages in bytes that both hold to be signed (cases D13, E11, I14).
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeAlias, TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.timestamp_pb2 import Timestamp

from capability_authority.offline.errors import PayloadRefused, UnreadableStatement
from capability_authority.offline.instants import InstantError, instant_ms

__all__ = ["PayloadRefused", "read_exactly"]

M = TypeVar("M", bound=Message)

_Problem: TypeAlias = tuple[str, str] | None
"""A problem word and the dotted path of the field that has it."""
_Check: TypeAlias = Callable[[Any], _Problem]
"""Judges one message, or one value of a field."""


def read_exactly(data: bytes, message_class: type[M], *, refusal: type[UnreadableStatement] = PayloadRefused) -> M:
    """The message that `data` is the deterministic encoding of.

    Raises `refusal` with a problem: not_parsable (also text that is not UTF-8), unknown_field, not_deterministic,
    unknown_enum_value, instant_out_of_range.
    """
    message = message_class()
    try:
        message.ParseFromString(data)
    except DecodeError:
        raise refusal("not_parsable") from None
    message.DiscardUnknownFields()
    if message.SerializeToString(deterministic=True) != data:
        raise refusal(_why_unequal(data, message))
    check = _check_of(message_class.DESCRIPTOR)
    problem = check(message) if check is not None else None
    if problem is not None:
        raise refusal(*problem)
    return message


def _why_unequal(data: bytes, known: Message) -> str:
    """Tell, once the bytes are refused, whether an unknown field or only another way of writing was the cause."""
    everything = type(known)()
    everything.ParseFromString(data)
    return "unknown_field" if everything.ByteSize() > known.ByteSize() else "not_deterministic"


@cache
def _check_of(descriptor: Descriptor) -> _Check | None:
    """The check for a message type, compiled once from its descriptor; None when nothing in it can be wrong.

    An absent message reads as its default, which passes every check, so presence needs no asking. Payload types do not
    contain themselves, which ends the recursion.
    """
    if descriptor.full_name == Timestamp.DESCRIPTOR.full_name:
        return _instant_problem
    checks = [(field.name, check) for field in descriptor.fields if (check := _field_check(field)) is not None]
    return _all_fields(checks) if checks else None


def _field_check(field: FieldDescriptor) -> _Check | None:
    check: _Check | None = None
    if field.enum_type is not None:
        check = _known_value(frozenset(field.enum_type.values_by_number))
    elif field.message_type is not None:
        check = _check_of(field.message_type)
    return _every_item(check) if check is not None and field.is_repeated else check


def _all_fields(checks: list[tuple[str, _Check]]) -> _Check:
    def check_fields(message: Message) -> _Problem:
        for name, check in checks:
            if (problem := check(getattr(message, name))) is not None:
                word, below = problem
                return word, f"{name}.{below}" if below else name
        return None

    return check_fields


def _every_item(check: _Check) -> _Check:
    def check_items(items: Iterable[object]) -> _Problem:
        return next((problem for item in items if (problem := check(item)) is not None), None)

    return check_items


def _known_value(known: frozenset[int]) -> _Check:
    def check_value(number: int) -> _Problem:
        return None if number in known else ("unknown_enum_value", "")

    return check_value


def _instant_problem(instant: Timestamp) -> _Problem:
    try:
        instant_ms(instant)
    except InstantError:
        return "instant_out_of_range", ""
    return None
