"""What `authority health` and `authority doctor` make of what a running service says of itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from grpc import aio
from grpc_health.v1 import health_pb2_grpc  # type: ignore[import-untyped]

from authority.bootstrap.doctor.finding import Finding, State
from authority.bootstrap.doctor.serving import look_at_service
from authority.bootstrap.health import WHOLE, NobodyAnswers, ask_health
from authority.rpc.health import Health
from authority.rpc.server import REDIS, SERVICES
from tests.integration.rpc.certificates import self_signed


@asynccontextmanager
async def saying(health: Health, tls: grpc.ServerCredentials | None = None) -> AsyncIterator[str]:
    """The address of a server that says so."""
    server = aio.server()
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    port = server.add_secure_port("127.0.0.1:0", tls) if tls else server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(0)


async def found_at(address: str, certificate: Path | None = None) -> Finding:
    """The doctor's only finding."""
    (found,) = [one async for one in look_at_service(address, certificate, 20.0)]
    return found


async def test_what_serves_and_what_does_not_is_told() -> None:
    health = Health((WHOLE, *SERVICES), (REDIS,))
    async with saying(health) as address:
        # Given one that serves nothing yet
        assert (await found_at(address)).found == f"{address} says NOT_SERVING"
        assert not any(one.is_serving for one in await ask_health(address, within_s=20.0))
        # When it serves, but Redis is away
        health.set_serving(serving=True)
        found = await found_at(address)
        assert (found.state, found.found) == (State.PROBLEM, f"{address} serves, but not redis")
        # When Redis is back
        health.set_dependency(REDIS, serving=True)
        assert (await found_at(address)).state is State.OK


async def test_a_name_that_is_not_there_is_unknown() -> None:
    async with saying(Health((WHOLE,))) as address:
        (found,) = await ask_health(address, ["elsewhere"], within_s=20.0)
        assert found.state == "UNKNOWN"


async def test_over_tls_it_must_show_the_certificate_that_is_expected(tmp_path: Path) -> None:
    # Given a service with a certificate, and the files of it and of another
    certificate, private_key = self_signed("127.0.0.1")
    (tmp_path / "ours.pem").write_bytes(certificate)
    (tmp_path / "another.pem").write_bytes(self_signed("127.0.0.1")[0])
    (tmp_path / "none.pem").write_text("none")
    health = Health((WHOLE, *SERVICES, REDIS))
    health.set_serving(serving=True)
    async with saying(health, grpc.ssl_server_credentials([(private_key, certificate)])) as address:
        assert (await found_at(address, tmp_path / "ours.pem")).state is State.OK
        with pytest.raises(NobodyAnswers):
            await ask_health(address, within_s=2.0, certificate=tmp_path / "another.pem")
        assert (await found_at(address, tmp_path / "none.pem")).found.startswith("cannot be asked over TLS: ")
        # And in plaintext nobody answers
        with pytest.raises(NobodyAnswers):
            await ask_health(address, within_s=2.0)
