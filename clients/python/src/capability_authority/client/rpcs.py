"""The RPCs of the contract, read from the generated descriptors, so that a new one is known as soon as it is made."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from capability_authority.v1 import (
    audit_service_pb2,
    capability_service_pb2,
    evidence_service_pb2,
    grant_service_pb2,
    interop_service_pb2,
    memory_service_pb2,
    policy_service_pb2,
    proposal_service_pb2,
)

__all__ = ["RPCS", "Rpc", "UnknownRpc", "rpc_named", "rpc_of"]

_SERVICE_FILES: Final = (
    audit_service_pb2,
    capability_service_pb2,
    grant_service_pb2,
    evidence_service_pb2,
    interop_service_pb2,
    memory_service_pb2,
    policy_service_pb2,
    proposal_service_pb2,
)
_WITHOUT_PROOF: Final = frozenset({"GetKeySet"})
_READ_PREFIXES: Final = ("Verify", "Get", "List", "Recall", "Export", "Read", "Resolve", "Watch")


class UnknownRpc(LookupError):
    """No RPC of the contract has this name; the message names those that come close."""


@dataclass(frozen=True, slots=True)
class Rpc:
    """One RPC of the contract."""

    path: str
    """The full RPC name that Invocations bind, "/capability_authority.v1.CapabilityService/CommitValidated"."""
    request_class: type[Message]
    response_class: type[Message]
    is_stream: bool = False
    """Whether its responses, or its requests too, are a stream; every other RPC is unary."""

    @property
    def name(self) -> str:
        """The last part of the path, unique in the contract: "CommitValidated"."""
        return self.path.rpartition("/")[2]

    @property
    def needs_proof(self) -> bool:
        """Whether a call is authenticated by an Invocation (semantics §2)."""
        return self.name not in _WITHOUT_PROOF

    @property
    def changes_state(self) -> bool:
        """Whether it is a mutation; it then carries an idempotency key (semantics §2)."""
        return not self.name.startswith(_READ_PREFIXES)


def _all_rpcs() -> Iterator[Rpc]:
    for file in _SERVICE_FILES:
        for service in file.DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                request, response = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
                yield Rpc(f"/{service.full_name}/{method.name}", request, response, method.server_streaming)


RPCS: Final[Mapping[str, Rpc]] = MappingProxyType({rpc.name: rpc for rpc in _all_rpcs()})
"""Every RPC of the contract, by its short name."""

_BY_REQUEST: Final[Mapping[type[Message], Rpc]] = {rpc.request_class: rpc for rpc in RPCS.values()}


def rpc_named(name: str) -> Rpc:
    """The RPC of a name: "CommitValidated", "CapabilityService/CommitValidated" or the full path; a dot may divide too.

    Raises `UnknownRpc`.
    """
    short = name.replace(".", "/").rpartition("/")[2]
    rpc = RPCS.get(short)
    if rpc is not None and f"/{rpc.path}".replace(".", "/").endswith("/" + name.replace(".", "/").lstrip("/")):
        return rpc
    by_small = {known.lower(): known for known in RPCS}
    near = [by_small[small] for small in get_close_matches(short.lower(), by_small, n=1)]
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(sorted(RPCS))}"
    raise UnknownRpc(f"no RPC is named {name!r}; {hint}")


def rpc_of(request_class: type[Message]) -> Rpc:
    """The RPC that takes this request message, for each has its own. Raises `UnknownRpc` for any other message."""
    try:
        return _BY_REQUEST[request_class]
    except KeyError:
        raise UnknownRpc(f"{request_class.__name__} is no request message") from None
