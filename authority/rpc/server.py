"""The gRPC server: services, interceptors, limits, health, and an orderly stop."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4

import grpc
from grpc import aio
from grpc_health.v1 import health, health_pb2_grpc  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection  # type: ignore[import-untyped]

from authority.domain import limits
from authority.rpc.audit import AuditServicer
from authority.rpc.bounds import Bounds
from authority.rpc.capabilities import CapabilityServicer
from authority.rpc.commit_streams import CommitStreams
from authority.rpc.evidence import EvidenceServicer
from authority.rpc.grants import GrantServicer
from authority.rpc.health import Health
from authority.rpc.incidents import Incidents
from authority.rpc.interceptors.answers import Answers
from authority.rpc.interceptors.deadline import Deadlines
from authority.rpc.interceptors.opening import Opening
from authority.rpc.interceptors.proof import Proofs
from authority.rpc.interop import InteropServicer
from authority.rpc.listening import PlaintextRefused, is_local
from authority.rpc.memory import MemoryServicer
from authority.rpc.open_streams import Later, OpenStreams
from authority.rpc.policies import PolicyServicer
from authority.rpc.proposals import ProposalServicer
from authority.rpc.reflected_pool import ReflectedPool
from authority.rpc.use_cases import UseCases
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
from capability_authority.v1.audit_service_pb2_grpc import add_AuditServiceServicer_to_server
from capability_authority.v1.capability_service_pb2_grpc import add_CapabilityServiceServicer_to_server
from capability_authority.v1.evidence_service_pb2_grpc import add_EvidenceServiceServicer_to_server
from capability_authority.v1.grant_service_pb2_grpc import add_GrantServiceServicer_to_server
from capability_authority.v1.interop_service_pb2_grpc import add_InteropServiceServicer_to_server
from capability_authority.v1.memory_service_pb2_grpc import add_MemoryServiceServicer_to_server
from capability_authority.v1.policy_service_pb2_grpc import add_PolicyServiceServicer_to_server
from capability_authority.v1.proposal_service_pb2_grpc import add_ProposalServiceServicer_to_server

SERVICES: tuple[str, ...] = tuple(
    service.full_name
    for file in (
        capability_service_pb2,
        grant_service_pb2,
        proposal_service_pb2,
        policy_service_pb2,
        memory_service_pb2,
        evidence_service_pb2,
        interop_service_pb2,
        audit_service_pb2,
    )
    for service in file.DESCRIPTOR.services_by_name.values()
)
"""Full names of the services, each with a health state of its own beside that of the whole server, named ""."""

REDIS = "redis"
"""A name of health: whether Redis is used. Without it commits go on, and reads by Invocation are UNAVAILABLE."""

_MESSAGE_BYTES = 4 * 1024 * 1024
_METADATA_BYTES = 8 * 1024
_KEEPALIVE_MS = 60_000
_KEEPALIVE_TIMEOUT_MS = 20_000
_LEAST_PING_INTERVAL_MS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """What operators may set. Times are seconds."""

    deadline_cap: float = 30.0
    deadline_margin: float = 0.1
    """How long before anybody gives up a use case must have its answer ready."""
    concurrent_rpcs: int = 1024
    """One more is refused by gRPC itself with RESOURCE_EXHAUSTED, without ErrorInfo."""
    stream_life: float = limits.STREAM_LIFE_MS / 1_000
    """How long a stream is read from."""
    streams: int = 256
    """Open at once; one more is refused with OVERLOADED. Each takes the place of a concurrent RPC."""
    streams_per_principal: int = 16
    """Of them, of one principal."""
    reflection: bool = False
    connection_age: float | None = None
    """After this a client is sent to connect anew; None lets connections live."""
    reuse_port: bool = False
    """Whether several processes may listen on one address."""


DEFAULT_OPTIONS = ServerOptions()


class RpcServer:
    """A server of the use cases. Must be made inside the event loop that will run it, and after any fork."""

    def __init__(
        self,
        use_cases: UseCases,
        audience: str,
        options: ServerOptions = DEFAULT_OPTIONS,
        outer_interceptors: Sequence[aio.ServerInterceptor] = (),
        new_incident_id: Callable[[], str] = lambda: str(uuid4()),
        later: Later | None = None,
    ) -> None:
        """`audience` is what Invocations must name; `outer_interceptors` (telemetry) see every answer as it is sent.

        `later` calls back when a stream is old; the event loop does unless it is given.
        """
        bounds = Bounds(options.deadline_cap, options.deadline_margin)
        incidents = Incidents(new_incident_id)
        self._streams = OpenStreams(
            life=options.stream_life,
            most=options.streams,
            most_per_principal=options.streams_per_principal,
            later=later,
        )
        self._server = aio.server(
            interceptors=(
                *outer_interceptors,
                Answers(incidents),
                Deadlines(bounds),
                Proofs(use_cases.authenticate, audience),
                Opening(use_cases.admit_stream, self._streams, bounds),
            ),
            options=_channel_options(options),
            maximum_concurrent_rpcs=options.concurrent_rpcs,
        )
        self._health = Health(("", *SERVICES), (REDIS,))
        self._add_services(use_cases, CommitStreams(bounds, incidents))
        if options.reflection:
            reflection.enable_server_reflection((*SERVICES, health.SERVICE_NAME), self._server, ReflectedPool())

    def bind(self, address: str, credentials: grpc.ServerCredentials | None = None) -> int:
        """Listens on the address from the next `start` on, and answers with the port (address ending in :0 draws one).

        Raises PlaintextRefused for an address that others can reach without TLS, RuntimeError when it cannot be bound.
        """
        if credentials is not None:
            return self._server.add_secure_port(address, credentials)
        if not is_local(address):
            raise PlaintextRefused(address)
        return self._server.add_insecure_port(address)

    async def start(self) -> None:
        """Accepts calls. Health says NOT_SERVING until told otherwise."""
        await self._server.start()

    def set_serving(self, *, serving: bool) -> None:
        """Tells health watchers whether calls can be served; after `stop` it tells nothing new."""
        self._health.set_serving(serving=serving)

    def set_dependency(self, name: str, *, serving: bool) -> None:
        """Tells health watchers whether something is there on which calls rest; after `stop` it tells nothing new."""
        self._health.set_dependency(name, serving=serving)

    async def stop(self, grace: float) -> None:
        """Says NOT_SERVING, takes no more calls, and lets running ones end within `grace` seconds (case F12).

        Streams are read from no more, and end as soon as what they have read is answered.
        """
        self._health.end()
        self._streams.end()
        await self._server.stop(grace)

    async def wait_stopped(self) -> None:
        """Returns once the server has stopped."""
        await self._server.wait_for_termination()

    def _add_services(self, use_cases: UseCases, commit_streams: CommitStreams) -> None:
        add_CapabilityServiceServicer_to_server(CapabilityServicer(use_cases, commit_streams), self._server)
        add_GrantServiceServicer_to_server(GrantServicer(use_cases), self._server)
        add_ProposalServiceServicer_to_server(ProposalServicer(use_cases), self._server)
        add_PolicyServiceServicer_to_server(PolicyServicer(use_cases), self._server)
        add_MemoryServiceServicer_to_server(MemoryServicer(use_cases), self._server)
        add_EvidenceServiceServicer_to_server(EvidenceServicer(use_cases), self._server)
        add_InteropServiceServicer_to_server(InteropServicer(use_cases), self._server)
        add_AuditServiceServicer_to_server(AuditServicer(use_cases), self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)


def _channel_options(options: ServerOptions) -> list[tuple[str, int]]:
    chosen = [
        ("grpc.max_receive_message_length", _MESSAGE_BYTES),
        # Soft and hard limit alike: between the two gRPC would refuse at random.
        ("grpc.max_metadata_size", _METADATA_BYTES),
        ("grpc.absolute_max_metadata_size", _METADATA_BYTES),
        ("grpc.max_concurrent_streams", options.concurrent_rpcs),
        ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", _KEEPALIVE_TIMEOUT_MS),
        ("grpc.http2.min_ping_interval_without_data_ms", _LEAST_PING_INTERVAL_MS),
        ("grpc.so_reuseport", int(options.reuse_port)),
    ]
    if options.connection_age is not None:
        chosen.append(("grpc.max_connection_age_ms", int(options.connection_age * 1_000)))
    return chosen
