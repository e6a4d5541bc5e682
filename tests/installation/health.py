"""What the health of an address says, each time on a connection of its own."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

SERVING: Final[int] = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING: Final[int] = health_pb2.HealthCheckResponse.NOT_SERVING
_OF_ITS_OWN: Final[Sequence[tuple[str, Any]]] = (("grpc.use_local_subchannel_pool", 1),)


async def health_at(address: str, name: str = "", *, within_s: float) -> int:
    """What it says of the whole server, or of what is named. Raises `aio.AioRpcError` when nobody answers."""
    async with aio.insecure_channel(address, _OF_ITS_OWN) as channel:
        request = health_pb2.HealthCheckRequest(service=name)
        answer = await health_pb2_grpc.HealthStub(channel).Check(request, timeout=within_s)
    return int(answer.status)


async def watch_health(address: str, tell: Callable[[int], None]) -> None:
    """Passes on what a watcher of the whole server is told, until it is told no more."""
    async with aio.insecure_channel(address, _OF_ITS_OWN) as channel:
        try:
            async for answer in health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest()):
                tell(answer.status)
        except aio.AioRpcError:
            return
