"""What one call came to, read from gRPC's status: the reason, its code and facts, or the answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from grpc import aio

from capability_authority_conformance.error_table import DOMAIN, OF_SHAPE, error_table
from capability_authority_conformance.values import Json, shown

__all__ = ["BROKEN_CODES", "NO_REASON", "OK", "UNREADABLE", "Outcome", "refused", "status_as_json", "unreadable"]

M = TypeVar("M", bound=Message)

OK: Final = "OK"
NO_REASON: Final = "NO_REASON"
"""A status of gRPC itself, or of whatever stands in between: without ErrorInfo."""
UNREADABLE: Final = "UNREADABLE"
"""Bytes that are no answer of this RPC; no case can expect it."""
BROKEN_CODES: Final = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "UNKNOWN", "INTERNAL"})
"""With these and no reason a call broke: nobody refused it."""
_STATUS_ENTRY: Final = "grpc-status-details-bin"
_CODES: Final = {code.value[0]: code.name for code in grpc.StatusCode}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one call."""

    reason: str
    """`OK`, a reason, `NO_REASON` or `UNREADABLE`."""
    code: str
    """Of gRPC, by its name."""
    text: str = ""
    """The status's sentence."""
    facts: Mapping[str, str] = field(default_factory=dict)
    retry: bool = False
    """Whether it carries RetryInfo."""
    answer: Json = None
    breaches: tuple[str, ...] = ()
    """What the error table does not allow of this refusal, whatever a case says."""

    @property
    def is_transport(self) -> bool:
        """Whether something broke rather than refused: no answer of the authority at all."""
        return self.reason == UNREADABLE or (self.reason == NO_REASON and self.code in BROKEN_CODES)

    def __str__(self) -> str:
        if self.reason == OK:
            return f"OK {shown(self.answer)}"
        facts = "".join(f" {name}={value}" for name, value in sorted(self.facts.items()))
        return f"{self.reason} ({self.code}){facts}: {self.text}"


def refused(error: aio.AioRpcError) -> Outcome:
    """The outcome of a call that ended with a status other than OK."""
    entries = [
        value for name, value in error.trailing_metadata() or () if name == _STATUS_ENTRY and isinstance(value, bytes)
    ]
    status = Status()
    try:
        status = Status.FromString(entries[0]) if entries else Status()
    except DecodeError:
        return Outcome(NO_REASON, error.code().name, "its status details cannot be read")
    return of_status(status, error.code().name, error.details() or "")


def of_status(status: Status, code: str, text: str) -> Outcome:
    """The outcome that a rich status tells; `code` and `text` are those of the plain one."""
    info = _unpacked(status, ErrorInfo())
    if info is None:
        return Outcome(NO_REASON, code, text)
    facts = dict(info.metadata)
    retry = _unpacked(status, RetryInfo()) is not None
    breaches = tuple(_breaches(status, info, code, retry=retry))
    return Outcome(info.reason, code, text, facts, retry, None, breaches)


def status_as_json(status: Status) -> Json:
    """A status within an answer, as cases see it."""
    outcome = of_status(status, _CODES.get(status.code, str(status.code)), status.message)
    return {"code": outcome.code, "reason": outcome.reason, "facts": dict(outcome.facts)}


def unreadable(problem: str) -> Outcome:
    """The outcome of a call whose answer is no message of the contract."""
    return Outcome(UNREADABLE, "OK", problem)


def _breaches(status: Status, info: ErrorInfo, code: str, *, retry: bool) -> list[str]:
    row = error_table().get(info.reason)
    if row is None:
        return [f"no reason of the contract: {info.reason!r}"]
    found = []
    if info.domain != DOMAIN:
        found.append(f"ErrorInfo.domain is {info.domain!r}, not {DOMAIN!r}")
    if _CODES.get(status.code) != code:
        found.append(f"the rich status has code {status.code}, the plain one {code}")
    if retry != row.retry:
        found.append(f"RetryInfo {'is there' if retry else 'is missing'}: the error table says otherwise")
    if info.reason in OF_SHAPE and "field" in info.metadata:
        bad = _unpacked(status, BadRequest())
        if bad is None or info.metadata["field"] not in [violation.field for violation in bad.field_violations]:
            found.append(f"BadRequest does not name the field {info.metadata['field']!r}")
    return found


def _unpacked(status: Status, message: M) -> M | None:
    for detail in status.details:
        try:
            if detail.Unpack(message):
                return message
        except DecodeError:
            return None
    return None
