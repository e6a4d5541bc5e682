"""Paths into answers and into what was saved: `outcomes.0.result.receipt.payload.holder.id` (suite.proto)."""

import binascii
from base64 import b64decode
from typing import Final

from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

from capability_authority.offline import PAYLOAD_CLASSES, OfflineError, read_payload
from capability_authority_conformance.target.outcome import status_as_json
from capability_authority_conformance.values import Json

__all__ = ["ABSENT", "Absent", "as_json", "found"]


class Absent:
    """Nothing stands there."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT: Final = Absent()
_STATUS_FIELDS: Final = frozenset({"code", "message", "details"})


def as_json(message: Message) -> Json:
    """A message as cases see it: defaults are there, absent messages are not."""
    shown: Json = MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    return _with_plain_statuses(shown)


def _with_plain_statuses(value: Json) -> Json:
    match value:
        case list():
            return [_with_plain_statuses(item) for item in value]
        case dict() if value.keys() == _STATUS_FIELDS:
            return status_as_json(ParseDict(value, Status()))
        case dict():
            return {name: _with_plain_statuses(item) for name, item in value.items()}
        case _:
            return value


def found(value: Json, path: str) -> Json | Absent:
    """What stands at the path; `ABSENT` when it leads nowhere. An empty path and `.` are the value itself.

    `*` takes each member of a list; those where the rest of the path leads nowhere are left out.
    """
    steps = [] if path in ("", ".") else path.split(".")
    return _walk(value, steps)


def _walk(value: Json, steps: list[str]) -> Json | Absent:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    match value:
        case list() if step == "*":
            return _each(value, rest)
        case dict() if step == "*" and not rest:
            return value
        case list() if step.isdecimal() and int(step) < len(value):
            return _walk(value[int(step)], rest)
        case dict() if step in value:
            payload = _payload(value) if step == "payload" and rest else None
            return _walk(value[step] if payload is None else payload, rest)
        case _:
            return ABSENT


def _each(value: list[Json], rest: list[str]) -> list[Json]:
    """What the rest of the path leads to from each item; one list, however many `*` it has."""
    below = [there for item in value if not isinstance(there := _walk(item, rest), Absent)]
    if "*" not in rest:
        return below
    return [item for items in below for item in (items if isinstance(items, list) else [items])]


def _payload(statement: dict[str, Json]) -> Json | None:
    """What a signed statement says, when it can be read strictly."""
    kind, payload = statement.get("payload_type"), statement.get("payload")
    if not isinstance(kind, str) or not isinstance(payload, str) or kind not in PAYLOAD_CLASSES:
        return None
    try:
        return as_json(read_payload(kind, b64decode(payload, validate=True), PAYLOAD_CLASSES[kind]))
    except (OfflineError, binascii.Error):
        return None
