"""What makes two requests of one `request_id` the same request."""

from hashlib import sha256
from typing import Protocol

from google.protobuf.descriptor import Descriptor

from authority.domain.identity import Caller
from authority.rpc.convert.values import key
from authority.rpc.current_call import current_trace_id
from authority.usecases.ports import RequestMark


class MarkedRequest(Protocol):
    """The request message of a mutation."""

    DESCRIPTOR: Descriptor
    request_id: str

    def SerializeToString(self, *, deterministic: bool) -> bytes:  # noqa: N802 - protobuf's name
        """The message as bytes."""
        ...


def request_mark(caller: Caller, request: MarkedRequest) -> RequestMark:
    """The mark of a request whose shape is good; takes the request id out of the message.

    The digest covers the meaning, not the bytes sent: the message is encoded again, deterministically, without its
    request id, so that another encoding of the same request is a retry (case D13). Metadata, deadline and trace are
    outside it; a correlation id is a field of the request and inside (case D14). The message's full name, which
    belongs to one RPC alone, stands in front.
    """
    request_id = key(request.request_id, "request_id")
    request.request_id = ""
    name = request.DESCRIPTOR.full_name.encode()
    digest = sha256(name + b"\0" + request.SerializeToString(deterministic=True)).digest()
    return RequestMark(caller.tenant, caller.ref, request_id, digest, current_trace_id())
