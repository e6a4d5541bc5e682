"""Opens a stream: there is room for it, its proof opens no other, and it has a life (semantics §2)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from authority.domain.identity import Caller
from authority.domain.refusal import Refusal
from authority.rpc.bounds import Bounds
from authority.rpc.current_call import Context, current_caller, put_off_time_limit, set_opener, set_stream
from authority.rpc.interceptors.wrapping import Handler, Interceptor, behaviour_of, stream_handler, watch_handler
from authority.rpc.open_streams import OpenStream, OpenStreams
from authority.rpc.refused import Refused


@dataclass(frozen=True, slots=True)
class Opening(Interceptor):
    """Runs the handler of a stream only once it is open; calls that are no streams pass."""

    admit: Callable[[Caller], Awaitable[Refusal | None]]
    streams: OpenStreams
    bounds: Bounds

    def wrap(self, handler: Handler, method: str) -> Handler:  # noqa: ARG002 - nothing is done
        """The handler itself."""
        return handler

    def wrap_stream(self, handler: Handler, method: str) -> Handler:  # noqa: ARG002 - all streams open alike
        """A handler for open streams. Refusals: OVERLOADED (before the proof is used up), and those of `admit`.

        One with a request opens itself, by `open_stream`, once the shape of that was judged, as the error table orders.
        """
        behaviour = behaviour_of(handler)

        async def open_first(items: object, context: Context) -> None:
            await self._open(context)
            await behaviour(items, context)

        async def let_open(request: object, context: Context) -> None:
            set_opener(lambda: self._open(context))
            await behaviour(request, context)

        if handler.request_streaming:
            return stream_handler(open_first)
        return watch_handler(let_open, handler.request_deserializer)

    async def _open(self, context: Context) -> OpenStream:
        caller = current_caller()
        stream = self.streams.open(caller, context)
        if refusal := await self.admit(caller):
            raise Refused(refusal)
        # Tells the caller that it is open: a write that meets a refusal would hide it from gRPC's own clients.
        await context.send_initial_metadata(())
        # What was read at the last moment still has its time.
        put_off_time_limit(self.streams.life + self.bounds.cap)
        set_stream(stream)
        return stream
