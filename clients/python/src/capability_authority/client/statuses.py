"""From the status of a failed RPC to the exception that says it (architecture, Errors)."""

from collections.abc import Mapping
from dataclasses import dataclass
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

__all__ = ["DOMAIN", "KeyedCall", "failure_of"]

M = TypeVar("M", bound=Message)

DOMAIN: Final = "capability-authority"
"""`google.rpc.ErrorInfo.domain` of every refusal that is the authority's own."""


@dataclass(frozen=True, slots=True)
class KeyedCall:
    """A call, and the key that makes another try of it the same request."""

    rpc: Rpc
    key_field: str = ""
    key: str = ""

    @classmethod
    def of(cls, rpc: Rpc, request: Message) -> "KeyedCall":
        """The call of `request`; without a key for a read."""
        if not rpc.changes_state:
            return cls(rpc)
        if rpc.name == "CommitValidated":
            return cls(rpc, "commit_idempotency_key", request.presentation.commit_idempotency_key)  # type: ignore[attr-defined]
        return cls(rpc, "request_id", request.request_id)  # type: ignore[attr-defined]

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
    code, details = error.code(), _details(error)
    info = _unpacked(details, ErrorInfo())
    retry = _unpacked(details, RetryInfo())
    delay = None if retry is None else max(retry.retry_delay.ToMicroseconds() / 1e6, 0.0)
    if info is None or info.domain != DOMAIN or not info.reason:
        sentence = f"{code.name}: {error.details() or 'no details'}"
        kind = DeadlineExceeded if code is grpc.StatusCode.DEADLINE_EXCEEDED else TransportError
        return kind(call.failure(code, sentence, retry_delay=delay))
    metadata = MappingProxyType(dict(info.metadata))
    failure = call.failure(
        code, error.details() or info.reason, reason=info.reason, metadata=metadata, retry_delay=delay
    )
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
