"""Is there somebody to be judged? Asked before the first case, and again when a call broke (case: never a pass)."""

from collections.abc import Iterable
from typing import Final

import grpc
from google.protobuf.message import DecodeError
from grpc import aio
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse  # type: ignore[import-untyped]

from capability_authority.offline import KeySet, KeySetRefused
from capability_authority.v1.capability_service_pb2 import GetKeySetRequest, GetKeySetResponse
from capability_authority.v1.memory_service_pb2 import ListMemoryRecordsRequest
from capability_authority_conformance.problems import TargetUnusable
from capability_authority_conformance.set_up import Caller
from capability_authority_conformance.target.diagnosis import what_is_there
from capability_authority_conformance.target.outcome import NO_REASON, UNREADABLE, Outcome, refused
from capability_authority_conformance.target.proofs import proof_metadata
from capability_authority_conformance.target.rpcs import Rpc, rpc_named
from capability_authority_conformance.target.target import Identity, Target
from capability_authority_conformance.v1.suite_pb2 import SpoiledProof

__all__ = ["SET_UP", "introduced", "require_answering", "require_known"]

SET_UP: Final = (
    "make the suite's principals known there: `python -m capability_authority_conformance set-up --keys DIR` writes"
    " DIR/setup.json, and whoever runs the target makes it so (for the authority of this repository: `authority"
    " provision DIR/setup.json`, or `make conformance-set-up` beside `make serve`)"
)
_OTHER_SERVICE: Final = "point --target at the Capability Authority: its contract is capability_authority.v1"
_HEALTH: Final = "/grpc.health.v1.Health/Check"


async def introduced(target: Target) -> Identity:
    """Who the target is, once it has answered GetKeySet and its health. Raises `TargetUnusable`."""
    rpc = _rpc("GetKeySet")
    try:
        data = await target.raw(rpc.path, GetKeySetRequest().SerializeToString())
        response = GetKeySetResponse.FromString(data)
    except aio.AioRpcError as error:
        raise await _unusable(target, refused(error)) from None
    except DecodeError as error:
        raise TargetUnusable(f"{_at(target)} answers GetKeySet with no key set: {error}", _OTHER_SERVICE) from None
    if not response.issuer or not response.audience or not response.keys:
        raise TargetUnusable(f"{_at(target)} answers GetKeySet with no issuer, audience or keys", _OTHER_SERVICE)
    try:
        keys = KeySet.from_response(response, pinned_issuer=response.issuer, pinned_key_ids=None)
    except KeySetRefused as error:
        raise TargetUnusable(
            f"{_at(target)} answers GetKeySet with a key set that is none: {error}", _OTHER_SERVICE
        ) from None
    await _require_healthy(target)
    return Identity(response.issuer, response.audience, keys)


async def require_answering(target: Target) -> None:
    """Raises `TargetUnusable` when the target no longer answers at all; a case that broke is then nobody's failure."""
    rpc = _rpc("GetKeySet")
    outcome = await target.call(rpc, [b""], ())
    if outcome.is_transport:
        raise await _unusable(target, outcome)


async def require_known(target: Target, identity: Identity, callers: Iterable[Caller]) -> None:
    """Raises `TargetUnusable` unless every principal of the set-up is known there, and the memory namespaces exist."""
    unknown = []
    listing = _rpc("ListMemoryRecords")
    for caller in callers:
        if caller.revoked:
            continue
        request = ListMemoryRecordsRequest(memory_namespace="open", page_size=1).SerializeToString()
        metadata = proof_metadata(caller, listing, request, identity.audience, SpoiledProof.SPOILED_PROOF_UNSPECIFIED)
        outcome = await target.call(listing, [request], metadata)
        if outcome.reason == "CALLER_UNAUTHENTICATED":
            unknown.append(f"`{caller.name}`")
        elif outcome.reason == "NOT_FOUND":
            raise TargetUnusable(f"{_at(target)} has no memory namespace `open` for `{caller.name}`", SET_UP)
        elif outcome.reason in (NO_REASON, UNREADABLE):
            raise await _unusable(target, outcome)
    if unknown:
        raise TargetUnusable(
            f"{_at(target)} answers CALLER_UNAUTHENTICATED: it does not know {', '.join(unknown)} with these keys",
            SET_UP,
        )


async def _require_healthy(target: Target) -> None:
    try:
        data = await target.raw(_HEALTH, HealthCheckRequest().SerializeToString())
    except aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.UNIMPLEMENTED:
            return
        raise await _unusable(target, refused(error)) from None
    try:
        status = HealthCheckResponse.FromString(data).status
    except DecodeError as error:
        raise TargetUnusable(f"{_at(target)} answers for its health with no health: {error}", _OTHER_SERVICE) from None
    if status != HealthCheckResponse.SERVING:
        known = HealthCheckResponse.ServingStatus.values()
        name = HealthCheckResponse.ServingStatus.Name(status) if status in known else status
        raise TargetUnusable(
            f"{_at(target)} says of its own health: {name}", "see what the target lacks, and try again"
        )


async def _unusable(target: Target, outcome: Outcome) -> TargetUnusable:
    """What is there instead of an authority."""
    if outcome.code == "UNIMPLEMENTED" and "http2 header with status" not in outcome.text:
        return TargetUnusable(f"{_at(target)} is another gRPC service: {outcome}", _OTHER_SERVICE)
    if outcome.reason not in (NO_REASON, UNREADABLE):
        return TargetUnusable(f"{_at(target)} refuses the first call: {outcome}", "mend what the reason names")
    seen, remedy = await what_is_there(target.address, outcome)
    return TargetUnusable(f"{_at(target)} {seen}", remedy)


def _at(target: Target) -> str:
    return f"the target {target.address.target}"


def _rpc(name: str) -> Rpc:
    rpc = rpc_named(name)
    assert rpc is not None
    return rpc
