"""From the status of a failed RPC to the exception that says it (architecture, Errors)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from grpc import aio
from grpc_status import rpc_status  # type: ignore[import-untyped]

from capability_authority.client.errors import (
    BY_REASON,
    AuthorityError,
    DeadlineExceeded,
    TransportError,
    UnknownReason,
)
from capability_authority.client.failures import Failure
from capability_authority.client.rpcs import Rpc

__all__ = ["DOMAIN", "KeyedCall", "failure_in", "failure_of"]

M = TypeVar("M", bound=Message)
E = TypeVar("E", bound=AuthorityError)

DOMAIN: Final = "capability-authority"
"""`google.rpc.ErrorInfo.domain` of every refusal that is the authority's own."""

_CODES: Final[Mapping[int, grpc.StatusCode]] = MappingProxyType({code.value[0]: code for code in grpc.StatusCode})


@dataclass(frozen=True, slots=True)
class KeyedCall:
    """A call, and the key that makes another try of it the same request."""

    rpc: Rpc
    key_field: str = ""
    key: str = ""
    proves_itself: bool = False
    """Whether the request holds what proves its caller, so that no Invocation goes with it."""

    @classmethod
    def of(cls, rpc: Rpc, request: Message) -> "KeyedCall":
        """The call of `request`; without a key for a read. In a batch each of its requests has its own."""
        fields = request.DESCRIPTOR.fields_by_name
        if not rpc.changes_state:
            return cls(rpc)
        if "requests" in fields:
            return cls(rpc, "requests")
        if "presentation" in fields:
            key = request.presentation.commit_idempotency_key  # type: ignore[attr-defined]
            return cls(rpc, "commit_idempotency_key", key, proves_itself=bool(request.upstream_envelope_json))  # type: ignore[attr-defined]
        return cls(rpc, "request_id", request.request_id)  # type: ignore[attr-defined]

    def told(self, error: E) -> E:
        """The failure of the call that this one was part of, as a failure of this one."""
        failure = replace(error.failure, rpc=self.rpc.name, key_field=self.key_field, key=self.key)
        return type(error)(failure)

    def failure(
        self,
        code: grpc.StatusCode | None,
        sentence: str,
        *,
        reason: str = "",
        metadata: Mapping[str, str] = MappingProxyType({}),
        retry_delay: float | None = None,
    ) -> Failure:
        """What is known when this call fails so."""
        return Failure(
            rpc=self.rpc.name,
            code=code,
            sentence=sentence,
            reason=reason,
            metadata=metadata,
            retry_delay=retry_delay,
            key_field=self.key_field,
            key=self.key,
        )


def failure_of(call: KeyedCall, error: aio.AioRpcError) -> AuthorityError:
    """The exception for a status: by the reason in its ErrorInfo, or `TransportError` when the authority gave none.

    A reason that this version does not know gives `UnknownReason`.
    """
    return _failure(call, error.code(), error.details() or "", _details(error))


def failure_in(call: KeyedCall, status: Status) -> AuthorityError:
    """The exception for the status that one item of a batch was answered with, by the same rule."""
    return _failure(call, _CODES.get(status.code, grpc.StatusCode.UNKNOWN), status.message, status)


def _failure(call: KeyedCall, code: grpc.StatusCode, text: str, details: Status) -> AuthorityError:
    info = _unpacked(details, ErrorInfo())
    retry = _unpacked(details, RetryInfo())
    delay = None if retry is None else max(retry.retry_delay.ToMicroseconds() / 1e6, 0.0)
    if info is None or info.domain != DOMAIN or not info.reason:
        kind = DeadlineExceeded if code is grpc.StatusCode.DEADLINE_EXCEEDED else TransportError
        return kind(call.failure(code, f"{code.name}: {text or 'no details'}", retry_delay=delay))
    metadata = MappingProxyType(dict(info.metadata))
    failure = call.failure(code, text or info.reason, reason=info.reason, metadata=metadata, retry_delay=delay)
    return BY_REASON.get(info.reason, UnknownReason)(failure)


def _details(error: aio.AioRpcError) -> Status:
    """The rich status, or an empty one when there is none, or it contradicts the plain one, or cannot be read."""
    try:
        return rpc_status.from_call(error) or Status()
    except (DecodeError, ValueError):
        return Status()


def _unpacked(status: Status, message: M) -> M | None:
    """The first detail of the message's type, or None when there is none that can be read."""
    for detail in status.details:
        try:
            if detail.Unpack(message):
                return message
        except DecodeError:
            return None
    return None
