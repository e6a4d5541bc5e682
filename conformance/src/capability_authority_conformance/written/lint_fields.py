"""Whether the fields that a case names are in the contract's messages."""

from collections.abc import Iterator

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from capability_authority_conformance.values import Json

__all__ = ["path_problem", "request_problems"]

_STATUS = "google.rpc.Status"
_STATUS_FIELDS = frozenset({"code", "reason", "facts"})


def request_problems(request: Json, message: Descriptor) -> Iterator[str]:
    """Every field of a request that its message has not. Values are judged by protobuf, once they are known."""
    if not isinstance(request, dict) or message.full_name.startswith("google.protobuf."):
        return
    for name, value in request.items():
        field = message.fields_by_name.get(name)
        if field is None:
            yield f"{message.name} has no field {name!r}"
        elif field.message_type is not None and not field.message_type.GetOptions().map_entry:
            for item in value if isinstance(value, list) else [value]:
                yield from request_problems(item, field.message_type)


def path_problem(path: str, message: Descriptor, *, streams: bool = False) -> str:
    """Why a path can never lead anywhere in such an answer; empty when it may."""
    steps = [] if path in ("", ".") else path.split(".")
    if streams and steps:
        if steps[0] != "messages":
            return f"{path!r}: the answer to a stream is {{messages: [...]}}"
        steps = [step for number, step in enumerate(steps[1:]) if number or not (step == "*" or step.isdecimal())]
    return _problem(steps, message, path)


def _problem(steps: list[str], message: Descriptor, path: str) -> str:
    if not steps:
        return ""
    if message.full_name == _STATUS:
        return "" if steps[0] in _STATUS_FIELDS else f"{path!r}: a status is {{code, reason, facts}}"
    field = message.fields_by_name.get(steps[0])
    if field is None:
        return f"{path!r} leads nowhere: {message.name} has no field {steps[0]!r}"
    rest = steps[1:]
    if _is_list(field) and rest and (rest[0] == "*" or rest[0].isdecimal()):
        rest = rest[1:]
    below = field.message_type
    if below is None or below.GetOptions().map_entry or below.full_name.startswith("google.protobuf."):
        return ""
    return _problem(rest, below, path)


def _is_list(field: FieldDescriptor) -> bool:
    return bool(field.is_repeated)
