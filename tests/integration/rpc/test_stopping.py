"""Stopping in order (case F12), and where the server listens."""

import asyncio
from pathlib import Path

import grpc
import pytest
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc  # type: ignore[import-untyped]

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.rpc.listening import PlaintextRefused
from authority.rpc.server import SERVICES, RpcServer
from tests.integration.rpc.certificates import self_signed
from tests.integration.rpc.running import AUDIENCE, Running, running, use_cases

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def _health(service: Running, name: str) -> int:
    stub = health_pb2_grpc.HealthStub(service.channel)
    answer = await stub.Check(health_pb2.HealthCheckRequest(service=name))
    return int(answer.status)


async def test_f12_running_calls_end_before_the_server_stops() -> None:
    # Given a call that is running, and a watcher of health.
    entered, may_end = asyncio.Event(), asyncio.Event()

    async def wait(*_: object, **__: object) -> Refusal:
        entered.set()
        await may_end.wait()
        return Refusal(Reason.NOT_FOUND)

    async with running(use_cases(get_record=wait)) as service:
        watch = health_pb2_grpc.HealthStub(service.channel).Watch(health_pb2.HealthCheckRequest())
        states = [(await watch.read()).status]
        call = asyncio.ensure_future(service.fail())
        await entered.wait()

        # When the server is stopped.
        stopping = asyncio.ensure_future(service.server.stop(20))

        # Then health says so first, the running call ends as if nothing were, and no new one is taken.
        states.append((await watch.read()).status)
        assert not call.done()
        may_end.set()
        assert (await call).reason == "NOT_FOUND"
        # The watch has ended by itself, else it would be waited for as long as the grace allows.
        assert await watch.read() is aio.EOF
        await asyncio.wait_for(stopping, 10)
        late = await service.fail_elsewhere()

    assert states == [SERVING, NOT_SERVING]
    assert late.code.name == "UNAVAILABLE"


async def test_f12_a_stuck_call_does_not_outlive_the_grace() -> None:
    # Given one call that never ends and one that aborts.
    entered, left = asyncio.Event(), asyncio.Event()

    async def hang(*_: object, **__: object) -> None:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.set()

    async with running(use_cases(get_record=hang)) as service:
        call = asyncio.ensure_future(service.fail())
        await entered.wait()

        # When the server stops with a small grace.
        await asyncio.wait_for(service.server.stop(0.05), 10)

        # Then the stuck call was cancelled, and its caller may try elsewhere.
        await asyncio.wait_for(left.wait(), 10)
        assert (await call).code.name == "UNAVAILABLE"


async def test_stopping_twice_is_stopping_once() -> None:
    async with running(use_cases()) as service:
        await service.server.stop(0)
        await service.server.stop(0)
        await asyncio.wait_for(service.server.wait_stopped(), 10)


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "localhost:0"])
async def test_plaintext_is_refused_where_others_can_reach_it(address: str) -> None:
    server = RpcServer(use_cases(), AUDIENCE)

    with pytest.raises(PlaintextRefused, match="AUTHORITY_TLS_CERTIFICATE"):
        server.bind(address)


async def test_with_credentials_the_server_speaks_tls() -> None:
    # Given a certificate for 127.0.0.1.
    async def refuse(*_: object, **__: object) -> Refusal:
        return Refusal(Reason.NOT_FOUND)

    certificate, private_key = self_signed("127.0.0.1")
    server = RpcServer(use_cases(get_record=refuse), AUDIENCE)
    port = server.bind("127.0.0.1:0", grpc.ssl_server_credentials([(private_key, certificate)]))
    await server.start()

    # When it is trusted, then calls are served; in plaintext none is.
    trusted = grpc.ssl_channel_credentials(certificate)
    async with aio.secure_channel(f"127.0.0.1:{port}", trusted) as channel:
        over_tls = await Running(server, port, channel).fail()
    async with aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        in_plaintext = await Running(server, port, channel).fail()
    await server.stop(0)

    assert over_tls.reason == "NOT_FOUND"
    assert (in_plaintext.code.name, in_plaintext.status) == ("UNAVAILABLE", None)


async def test_a_unix_socket_needs_no_tls(tmp_path: Path) -> None:
    async def refuse(*_: object, **__: object) -> Refusal:
        return Refusal(Reason.NOT_FOUND)

    server = RpcServer(use_cases(get_record=refuse), AUDIENCE)
    server.bind(f"unix:{tmp_path}/authority.sock")
    await server.start()
    async with aio.insecure_channel(f"unix:{tmp_path}/authority.sock") as channel:
        failure = await Running(server, 0, channel).fail()
    await server.stop(0)

    assert failure.code.name == "NOT_FOUND"


@pytest.mark.parametrize("enabled", [True, False])
async def test_reflection_is_served_only_when_asked_for(enabled: bool) -> None:  # noqa: FBT001 - a parameter
    async with running(use_cases(), reflection=enabled) as service:
        stub = reflection_pb2_grpc.ServerReflectionStub(service.channel)
        call = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
        try:
            answer = await call.read()
        except aio.AioRpcError as error:
            served: set[str] | str = error.code().name
        else:
            served = {found.name for found in answer.list_services_response.service}

    assert served == ({*SERVICES, "grpc.health.v1.Health"} if enabled else "UNIMPLEMENTED")
