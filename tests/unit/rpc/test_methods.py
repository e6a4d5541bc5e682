"""Every RPC of the contract is of a kind."""

import pytest
from google.protobuf.descriptor import MethodDescriptor

from authority.rpc.methods import METHODS, PACKAGE, MethodKind, kind_of
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

CONTRACT: dict[str, MethodDescriptor] = {
    f"/{service.full_name}/{method.name}": method
    for file in (
        audit_service_pb2,
        capability_service_pb2,
        grant_service_pb2,
        evidence_service_pb2,
        interop_service_pb2,
        memory_service_pb2,
        policy_service_pb2,
        proposal_service_pb2,
    )
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


def test_every_rpc_of_the_contract_has_its_line_and_no_other() -> None:
    assert set(METHODS) == set(CONTRACT)
    assert all(method.startswith(PACKAGE) for method in METHODS)


@pytest.mark.parametrize("method", CONTRACT)
def test_reads_are_what_the_semantics_name(method: str) -> None:
    # Semantics §2: Verify*, Get*, List*, …; Watch* and Stream* are streams; GetKeySet needs no proof; all else mutates.
    name = method.rpartition("/")[2]
    prefixes = dict.fromkeys(("Verify", "Get", "List", "Recall", "Export", "Read", "Resolve"), MethodKind.READ)
    prefixes |= {"Stream": MethodKind.STREAM, "Watch": MethodKind.WATCH}
    kinds = [kind for prefix, kind in prefixes.items() if name.startswith(prefix)] or [MethodKind.MUTATION]

    assert kind_of(method) is (MethodKind.OPEN if name == "GetKeySet" else kinds[0])


@pytest.mark.parametrize("method", [name for name, kind in METHODS.items() if kind is MethodKind.MUTATION])
def test_every_mutation_can_be_retried(method: str) -> None:
    fields = CONTRACT[method].input_type.fields_by_name
    # Of a batch each item must be.
    item = fields["requests"].message_type if "requests" in fields else None
    items = item.fields_by_name if item else fields

    assert "request_id" in items or "presentation" in items, "its request id, or a commit's idempotency key"


def test_every_rpc_streams_as_its_kind_says_and_the_interceptors_expect() -> None:
    for name, method in CONTRACT.items():
        kind = kind_of(name)
        streams = (kind is MethodKind.STREAM, kind.opens_stream)
        assert (method.client_streaming, method.server_streaming) == streams, name


def test_standard_services_need_no_proof() -> None:
    assert kind_of("/grpc.health.v1.Health/Check") is MethodKind.OPEN


@pytest.mark.parametrize(
    "method", ["/capability_authority.v1.CapabilityService/Forgotten", "/grpc.health.v1.HealthX/A"]
)
def test_an_rpc_without_a_line_is_of_no_kind(method: str) -> None:
    with pytest.raises(KeyError):
        kind_of(method)
