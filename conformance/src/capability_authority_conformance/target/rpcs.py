"""The RPCs of the contract, read from the generated descriptors: a new one is known as soon as it is generated."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

import capability_authority.v1

__all__ = ["Rpc", "rpc_named", "rpc_names"]

_HOSTED_BY_OTHERS = "validator_service_pb2"


@dataclass(frozen=True, slots=True)
class Rpc:
    """One RPC of the contract."""

    path: str
    """The full name that Invocations bind: `/package.Service/Method`."""
    request_class: type[Message]
    response_class: type[Message]
    streams_requests: bool
    streams_answers: bool

    @property
    def name(self) -> str:
        """The method alone."""
        return self.path.rpartition("/")[2]

    @property
    def request(self) -> Descriptor:
        """What its request may hold."""
        return self.request_class.DESCRIPTOR  # type: ignore[return-value]  # one of two alike

    @property
    def response(self) -> Descriptor:
        """What its answer may hold."""
        return self.response_class.DESCRIPTOR  # type: ignore[return-value]


def _all_rpcs() -> Iterator[Rpc]:
    for module in iter_modules(capability_authority.v1.__path__):
        if not module.name.endswith("_service_pb2") or module.name == _HOSTED_BY_OTHERS:
            continue
        file = import_module(f"capability_authority.v1.{module.name}").DESCRIPTOR
        for service in file.services_by_name.values():
            for method in service.methods:
                yield Rpc(
                    f"/{service.full_name}/{method.name}",
                    GetMessageClass(method.input_type),
                    GetMessageClass(method.output_type),
                    method.client_streaming,
                    method.server_streaming,
                )


@cache
def _by_name() -> Mapping[str, Rpc | None]:
    """By `Service/Method`, and by `Method` alone; None where two services have a method of that name."""
    names: dict[str, Rpc | None] = {}
    for rpc in _all_rpcs():
        service = rpc.path.split("/")[1].rpartition(".")[2]
        names[f"{service}/{rpc.name}"] = rpc
        names[rpc.name] = None if rpc.name in names else rpc
    return names


def rpc_named(name: str) -> Rpc | None:
    """The RPC of that name; None when there is none, or when two services have one."""
    return _by_name().get(name)


def rpc_names() -> list[str]:
    """The names under which cases may call."""
    return sorted(name for name, rpc in _by_name().items() if rpc is not None)
