"""grpc.health.v1: what is told of the server, of each service, and of what they stand on."""

import asyncio
from typing import Any

from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

from authority.rpc.server import REDIS, SERVICES
from tests.integration.rpc.running import Running, running, use_cases

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def _health(service: Running, name: str) -> int:
    stub = health_pb2_grpc.HealthStub(service.channel)
    answer = await stub.Check(health_pb2.HealthCheckRequest(service=name))
    return int(answer.status)


async def test_health_is_told_for_the_server_and_each_service() -> None:
    async with running(use_cases()) as service:
        served = {name: await _health(service, name) for name in ("", *SERVICES)}
        service.server.set_serving(serving=False)
        paused = {name: await _health(service, name) for name in ("", *SERVICES)}

    assert len(served) == 1 + len(SERVICES) > 1
    assert set(served.values()) == {SERVING}
    assert set(paused.values()) == {NOT_SERVING}


async def test_a_started_server_serves_nothing_until_told() -> None:
    async with running(use_cases(), start=False) as service:
        await service.server.start()

        assert await _health(service, "") == NOT_SERVING


async def test_health_of_an_unknown_service_is_not_found() -> None:
    async with running(use_cases()) as service:
        failure = await service.fail(
            "/grpc.health.v1.Health/Check", health_pb2.HealthCheckRequest(service="x").SerializeToString()
        )

    assert failure.code.name == "NOT_FOUND"


async def test_a_dependency_has_a_health_of_its_own() -> None:
    async with running(use_cases()) as service:
        # Given a server that serves, and has not been told of Redis
        assert [await _health(service, name) for name in ("", REDIS)] == [SERVING, NOT_SERVING]

        # When it is told, then that is told of Redis and of nothing else
        service.server.set_dependency(REDIS, serving=True)
        assert [await _health(service, name) for name in ("", REDIS)] == [SERVING, SERVING]
        service.server.set_dependency(REDIS, serving=False)
        assert [await _health(service, name) for name in ("", *SERVICES)] == [SERVING] * (1 + len(SERVICES))
        assert await _health(service, REDIS) == NOT_SERVING

        # And the other way about
        service.server.set_dependency(REDIS, serving=True)
        service.server.set_serving(serving=False)
        assert [await _health(service, name) for name in ("", REDIS)] == [NOT_SERVING, SERVING]


async def test_a_watcher_hears_every_change_of_what_it_watches_and_no_other() -> None:
    async with running(use_cases()) as service:
        watch = health_pb2_grpc.HealthStub(service.channel).Watch(health_pb2.HealthCheckRequest(service=REDIS))
        heard = [await _next(watch)]

        # When Redis comes, the services go, and Redis goes
        service.server.set_dependency(REDIS, serving=True)
        heard.append(await _next(watch))
        service.server.set_serving(serving=False)
        service.server.set_dependency(REDIS, serving=False)
        heard.append(await _next(watch))
        service.server.set_dependency(REDIS, serving=True)
        heard.append(await _next(watch))

        # And when the server stops, then the last word is that nothing is served
        await service.server.stop(1)
        heard.append(await _next(watch))

    assert heard == [NOT_SERVING, SERVING, NOT_SERVING, SERVING, NOT_SERVING]


async def _next(watch: Any) -> int:
    answer = await asyncio.wait_for(anext(aiter(watch)), timeout=20)
    return int(answer.status)
