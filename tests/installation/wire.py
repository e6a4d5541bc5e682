"""Sends bytes as anybody may, with whatever proofs, and shows what comes back to the last byte."""

import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from grpc import aio

from authority.domain.reasons import Reason
from capability_authority.client import Credentials
from capability_authority.client.rpcs import RPCS
from capability_authority.offline import PROOF_METADATA_KEY, make_invocation
from capability_authority.v1.types_pb2 import PrincipalRef, TenantRef
from tests.integration.rpc.running import Failure, Stream, Watching

INTERNALS = (
    "Traceback", "asyncpg", "psycopg", "postgres", "redis", "grpc._", "google.protobuf", "site-packages", ".py",
    "select ", "insert ", "constraint", "commit_receipt", "Error:", "Exception", "127.0.0.1", "password",
)  # fmt: skip
"""Words that tell a caller how the service is built."""
MALFORMED, LIMIT_EXCEEDED = "MALFORMED", "LIMIT_EXCEEDED"


class Wire:
    """A connection of its own to one process, on which one principal calls unless told otherwise."""

    def __init__(self, channel: aio.Channel, credentials: Credentials) -> None:
        self._channel = channel
        self.credentials = credentials

    def proof(self, rpc: str, request: bytes, **changed: Any) -> bytes:
        """A fitting proof of the call, except for what is `changed` (the arguments of `make_invocation`)."""
        caller = self.credentials
        fitting: dict[str, Any] = {
            "private_key": caller.private_key,
            "tenant": TenantRef(namespace=caller.tenant.namespace, id=caller.tenant.id),
            "principal": PrincipalRef(namespace=caller.principal.namespace, id=caller.principal.id),
            "audience": caller.audience,
            "method": RPCS[rpc].path,
            "request_bytes": request,
            "nonce": secrets.token_bytes(16),
            "issued_ms": time.time_ns() // 1_000_000,
        }
        return make_invocation(**fitting | changed)

    async def send(
        self,
        rpc: str,
        request: Message | bytes,
        *,
        proofs: Sequence[bytes] | None = None,
        within_s: float = 20.0,
        beside: Sequence[tuple[str, str]] = (),
    ) -> bytes:
        """The bytes of the answer; without `proofs` there is one that fits. `beside` is more metadata."""
        data = request if isinstance(request, bytes) else request.SerializeToString()
        entries = [self.proof(rpc, data)] if proofs is None else proofs
        call: aio.UnaryUnaryMultiCallable[bytes, bytes] = self._channel.unary_unary(RPCS[rpc].path)
        metadata: list[tuple[str, str | bytes]] = [*beside, *((PROOF_METADATA_KEY, entry) for entry in entries)]
        return await call(data, timeout=within_s, metadata=metadata)

    def stream(self, *, proofs: Sequence[bytes] | None = None) -> Stream:
        """A stream of commits; without `proofs` there is one that opens it."""
        entries = [self.proof("StreamCommitValidated", b"")] if proofs is None else proofs
        return Stream(self._channel, metadata=[(PROOF_METADATA_KEY, entry) for entry in entries])

    def watch(self, rpc: str, request: Message, *, proofs: Sequence[bytes] | None = None) -> Watching:
        """A watch; without `proofs` there is one that opens it."""
        data = request.SerializeToString()
        entries = [self.proof(rpc, data)] if proofs is None else proofs
        return Watching(self._channel, RPCS[rpc], data, metadata=[(PROOF_METADATA_KEY, entry) for entry in entries])

    async def stream_refused(self, *, proofs: Sequence[bytes]) -> Failure:
        """Why no stream is opened with these proofs, in which nothing internal shows."""
        failure = await self.stream(proofs=proofs).fails()
        assert_tells_nothing_internal(failure)
        return failure

    async def refused(
        self, rpc: str, request: Message | bytes, *, proofs: Sequence[bytes] | None = None, within_s: float = 20.0
    ) -> Failure:
        """Why the call is refused, in which nothing internal shows. A call that is not refused is an error."""
        try:
            answer = await self.send(rpc, request, proofs=proofs, within_s=within_s)
        except aio.AioRpcError as error:
            failure = Failure(error)
        else:
            raise AssertionError(f"the call was not refused: {answer!r}")
        assert_tells_nothing_internal(failure)
        return failure


def assert_tells_nothing_internal(failure: Failure) -> None:
    """The message is the reason's fixed sentence, and no detail names anything inside the service."""
    assert failure.status is not None
    assert failure.message == Reason[failure.reason].value
    told = " ".join([failure.message, *failure.info.metadata.values(), *(failure.violation or ())])
    assert not [word for word in INTERNALS if word in told], told
    assert len(failure.status.SerializeToString()) < 1024


def refusal_in(status: Status) -> str:
    """The reason of one item's status and the field or term that it names; nothing internal shows in it."""
    info = ErrorInfo()
    assert status.details[0].Unpack(info)
    assert status.message == Reason[info.reason].value
    shown = " ".join([status.message, *info.metadata.values()])
    assert not [word for word in INTERNALS if word in shown], shown
    return f"{info.reason} {info.metadata.get('field') or info.metadata.get('term', '')}".rstrip()


def assert_bad_shape(failure: Failure, reason: str, field: str) -> None:
    """INVALID_ARGUMENT for this reason, naming this field; the same again is no use."""
    assert (failure.code, failure.reason) == (grpc.StatusCode.INVALID_ARGUMENT, reason)
    assert failure.violation is not None
    assert failure.violation[0] == field
    assert failure.retry is None


@asynccontextmanager
async def wire_to(address: str, credentials: Credentials) -> AsyncIterator[Wire]:
    """A connection that is shared with nobody."""
    async with aio.insecure_channel(address, (("grpc.use_local_subchannel_pool", 1),)) as channel:
        yield Wire(channel, credentials)
