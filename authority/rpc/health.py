"""grpc.health.v1: whether each service serves, and whether what they stand on does.

Watches end with the service, so that none holds up an orderly stop.
"""

import asyncio
from collections.abc import Iterable
from typing import Any, TypeAlias

import grpc
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

Context: TypeAlias = "aio.ServicerContext[Any, Any]"

_States = health_pb2.HealthCheckResponse

_MOST_WATCHES = 64
"""A watch needs no proof and has no end, but takes the place of a call that could run meanwhile."""


class Health(health_pb2_grpc.HealthServicer):  # type: ignore[misc]
    """Health of the named services and of what they stand on; NOT_SERVING until told otherwise.

    grpcio's own servicer lets a watch run on after NOT_SERVING, and a server that stops waits for it as long as it may.
    """

    def __init__(self, services: Iterable[str], dependencies: Iterable[str] = ()) -> None:
        self._services = tuple(services)
        self._states: dict[str, int] = dict.fromkeys((*self._services, *dependencies), _States.NOT_SERVING)
        self._ended = False
        self._watches = 0
        self._changed = asyncio.Event()

    def set_serving(self, *, serving: bool) -> None:
        """Tells every watcher of a service; nothing once ended."""
        if not self._ended:
            self._tell(self._services, serving=serving)

    def set_dependency(self, name: str, *, serving: bool) -> None:
        """Tells every watcher of a dependency; nothing once ended."""
        if not self._ended:
            self._tell((name,), serving=serving)

    def end(self) -> None:
        """Tells every watcher NOT_SERVING for the last time, and ends every watch."""
        self._ended = True
        self._tell(self._states, serving=False)

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
            # Taken before the state is told: what changes meanwhile has set it.
            changed, ended = self._changed, self._ended
            state = self._states.get(request.service, _States.SERVICE_UNKNOWN)
            if state != last:
                await context.write(_States(status=state))
                last = state
            if ended:
                return
            await changed.wait()

    def _tell(self, names: Iterable[str], *, serving: bool) -> None:
        """Each change ends the waits that were begun before it."""
        self._states |= dict.fromkeys(names, _States.SERVING if serving else _States.NOT_SERVING)
        self._changed.set()
        self._changed = asyncio.Event()
