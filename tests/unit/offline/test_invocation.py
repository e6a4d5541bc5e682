"""Invocations: proof of exactly one call."""

from typing import Any

import pytest

from capability_authority.offline import (
    PROOF_METADATA_KEY,
    InstantError,
    instant_ms,
    make_invocation,
    open_statement,
    parse_statement,
    sha256,
)
from capability_authority.offline.invocation import MAX_PROOF_BYTES
from capability_authority.v1.capability_service_pb2 import GetKeySetRequest, GetKeySetResponse
from capability_authority.v1.statements_pb2 import Invocation
from capability_authority.v1.types_pb2 import PrincipalRef, TenantRef
from tests.unit.offline.builders import NOW_MS, private_key

KEY = private_key("holder")
CALL: dict[str, Any] = {
    "private_key": KEY,
    "tenant": TenantRef(namespace="cognitum-tenant", id="acme"),
    "principal": PrincipalRef(namespace="workload", id="committer"),
    "audience": "memory.example",
    "method": "/capability_authority.v1.CapabilityService/GetKeySet",
    "request_bytes": GetKeySetResponse(issuer="x").SerializeToString(),
    "nonce": bytes(range(16)),
    "issued_ms": NOW_MS,
}


def test_it_names_caller_audience_method_request_nonce_and_time() -> None:
    proof = make_invocation(**CALL)

    invocation = open_statement(parse_statement(proof), expected=Invocation, keys=lambda _: KEY.public_key)

    assert invocation.tenant == CALL["tenant"]
    assert invocation.principal == CALL["principal"]
    assert invocation.audience == CALL["audience"]
    assert invocation.method == CALL["method"]
    assert invocation.request_digest == sha256(CALL["request_bytes"])
    assert invocation.nonce == CALL["nonce"]
    assert instant_ms(invocation.issue_time) == NOW_MS
    assert len(invocation.ListFields()) == len(Invocation.DESCRIPTOR.fields)


def test_the_same_call_has_the_same_proof_and_any_other_call_another() -> None:
    others: list[dict[str, Any]] = [
        {"private_key": private_key("other")},
        {"tenant": TenantRef(namespace="cognitum-tenant", id="other")},
        {"principal": PrincipalRef(namespace="workload", id="other")},
        {"audience": "other.example"},
        {"method": "/capability_authority.v1.CapabilityService/CommitValidated"},
        {"request_bytes": GetKeySetRequest().SerializeToString()},
        {"nonce": bytes(16)},
        {"issued_ms": NOW_MS + 1},
    ]

    proofs = {make_invocation(**{**CALL, **other}) for other in others}

    assert make_invocation(**CALL) == make_invocation(**CALL)
    assert len(proofs | {make_invocation(**CALL)}) == len(others) + 1


def test_the_metadata_key_carries_bytes() -> None:
    assert PROOF_METADATA_KEY == "capability-authority-proof-bin"


@pytest.mark.parametrize("length", [0, 15, 33])
def test_a_nonce_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="16 to 32 bytes"):
        make_invocation(**{**CALL, "nonce": bytes(length)})


@pytest.mark.parametrize("method", ["", "GetKeySet", "/Service", "/a.b/c/d", "/a.b/", "//c", "/a.b/c\n"])
def test_a_method_that_is_no_full_rpc_name_is_refused(method: str) -> None:
    with pytest.raises(ValueError, match="full RPC name"):
        make_invocation(**{**CALL, "method": method})


def test_an_instant_out_of_range_is_refused() -> None:
    with pytest.raises(InstantError):
        make_invocation(**{**CALL, "issued_ms": 2**60})


def test_the_longest_ids_fit_and_a_larger_proof_is_refused() -> None:
    longest = "i" * 256
    ids = {
        "tenant": TenantRef(namespace=longest, id=longest),
        "principal": PrincipalRef(namespace=longest, id=longest),
        "audience": longest,
        "nonce": bytes(32),
    }

    assert len(make_invocation(**{**CALL, **ids})) <= MAX_PROOF_BYTES
    with pytest.raises(ValueError, match="2048 bytes"):
        make_invocation(**{**CALL, **ids, "audience": longest * 4})
