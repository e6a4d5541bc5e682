"""grpc.health.v1: whether each service serves. Watches end with the service, so that none holds up an orderly stop."""

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Any, TypeAlias

import grpc
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

Context: TypeAlias = "aio.ServicerContext[Any, Any]"

_States = health_pb2.HealthCheckResponse

_MOST_WATCHES = 64
"""A watch needs no proof and has no end, but takes the place of a call that could run meanwhile."""


class Health(health_pb2_grpc.HealthServicer):  # type: ignore[misc]
    """Health of the named services; NOT_SERVING until told otherwise.

    grpcio's own servicer lets a watch run on after NOT_SERVING, and a server that stops waits for it as long as it may.
    """

    def __init__(self, services: Iterable[str]) -> None:
        self._states: dict[str, int] = dict.fromkeys(services, _States.NOT_SERVING)
        self._ended = False
        self._watches = 0
        self._changed = asyncio.Condition()

    async def set_serving(self, *, serving: bool) -> None:
        """Tells every watcher; nothing once ended."""
        if not self._ended:
            await self._tell(_States.SERVING if serving else _States.NOT_SERVING)

    async def end(self) -> None:
        """Tells every watcher NOT_SERVING for the last time, and ends every watch."""
        self._ended = True
        await self._tell(_States.NOT_SERVING)

    async def Check(self, request: Any, context: Context) -> Any:  # noqa: N802, ANN401 - generated untyped
        """The state, or NOT_FOUND for a service that is not here."""
        state = self._states.get(request.service)
        if state is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such service")
        return _States(status=state)

    async def Watch(self, request: Any, context: Context) -> None:  # noqa: N802, ANN401 - generated untyped
        """The state now and at each change, until the service ends; RESOURCE_EXHAUSTED beside too many others."""
        if self._watches >= _MOST_WATCHES:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"at most {_MOST_WATCHES} watches")
        self._watches += 1
        try:
            await self._watch(request, context)
        finally:
            self._watches -= 1

    async def _watch(self, request: Any, context: Context) -> None:  # noqa: ANN401 - generated untyped
        last = None
        while True:
            state, ended = self._states.get(request.service, _States.SERVICE_UNKNOWN), self._ended
            if state != last:
                await context.write(_States(status=state))
                last = state
            if ended:
                return
            async with self._changed:
                await self._changed.wait_for(partial(self._has_news, request.service, last))

    def _has_news(self, service: str, last: int | None) -> bool:
        return self._ended or self._states.get(service, last) != last

    async def _tell(self, state: int) -> None:
        async with self._changed:
            self._states = dict.fromkeys(self._states, state)
            self._changed.notify_all()
