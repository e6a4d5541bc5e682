"""Asks a running service how it is, as a probe does: `grpc.health.v1`, which needs no proof."""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc
from cryptography import x509
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

from authority.rpc.server import REDIS, SERVICES

WHOLE: Final = ""
"""The name under which the whole server is asked for."""
_STATES: Final = health_pb2.HealthCheckResponse
_OPTIONS: Final = (("grpc.use_local_subchannel_pool", 1),)


class NobodyAnswers(Exception):
    """Nothing that speaks this protocol answered in time. The message says no more than the transport does."""


@dataclass(frozen=True, slots=True)
class ClientFiles:
    """A client's certificate and its private key, both PEM."""

    certificate: Path
    private_key: Path


@dataclass(frozen=True, slots=True)
class Health:
    """What one name answered."""

    name: str
    state: str
    """`SERVING`, `NOT_SERVING`, or `UNKNOWN` for a name that is not there."""

    @property
    def is_serving(self) -> bool:
        """Whether it serves."""
        return self.state == "SERVING"


async def ask_health(
    address: str,
    names: Sequence[str] = (WHOLE, *SERVICES, REDIS),
    *,
    within_s: float,
    certificate: Path | None = None,
    client: ClientFiles | None = None,
) -> list[Health]:
    """What each name answers. Raises NobodyAnswers, OSError for a file.

    With `certificate`, a PEM file, the address is asked over TLS and must show that certificate, or one that it vouches
    for; under which name, a probe on the machine itself cannot know. `client` is what is shown where it asks for that.
    """
    async with _channel(address, certificate, client) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        try:
            return [Health(name, await _ask(stub, name, within_s)) for name in names]
        except aio.AioRpcError as error:
            # Before the cause itself gRPC tells every layer that it came through.
            raise NobodyAnswers((error.details() or "").rpartition(": ")[2] or error.code().name) from error


async def _ask(stub: health_pb2_grpc.HealthStub, name: str, within_s: float) -> str:
    try:
        answer = await stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=within_s)
    except aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.NOT_FOUND:
            return "UNKNOWN"
        raise
    return str(_STATES.ServingStatus.Name(answer.status))


def _channel(address: str, certificate: Path | None, client: ClientFiles | None) -> aio.Channel:
    if certificate is None:
        return aio.insecure_channel(address, _OPTIONS)
    pem = certificate.read_bytes()
    named = ("grpc.ssl_target_name_override", _name_in(pem))
    shown = (client.private_key.read_bytes(), client.certificate.read_bytes()) if client else (None, None)
    return aio.secure_channel(address, grpc.ssl_channel_credentials(pem, *shown), (*_OPTIONS, named))


def _name_in(pem: bytes) -> str:
    """A name that the certificate is for."""
    try:
        certificate = x509.load_pem_x509_certificate(pem)
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except ValueError as error:
        raise ssl.SSLError(f"is no PEM certificate: {error}") from None
    except x509.ExtensionNotFound:
        return "localhost"
    hosts = names.get_values_for_type(x509.DNSName)
    return next(iter([*hosts, *map(str, names.get_values_for_type(x509.IPAddress))]), "localhost")
