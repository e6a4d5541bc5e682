"""Opens a stream: there is room for it, its proof opens no other, and it has a life (semantics §2)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from authority.domain.identity import Caller
from authority.domain.refusal import Refusal
from authority.rpc.bounds import Bounds
from authority.rpc.current_call import Context, current_caller, put_off_time_limit, set_stream
from authority.rpc.interceptors.wrapping import Handler, Interceptor, behaviour_of, stream_handler
from authority.rpc.open_streams import OpenStreams
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
        """A handler for open streams. Refusals: OVERLOADED (before the proof is used up), and those of `admit`."""
        behaviour = behaviour_of(handler)

        async def open_first(items: object, context: Context) -> None:
            caller = current_caller()
            stream = self.streams.open(caller, context)
            if refusal := await self.admit(caller):
                raise Refused(refusal)
            # Tells the caller that it is open: a write that meets a refusal would hide it from gRPC's own clients.
            await context.send_initial_metadata(())
            # What was read at the last moment still has its time.
            put_off_time_limit(self.streams.life + self.bounds.cap)
            set_stream(stream)
            await behaviour(items, context)

        return stream_handler(open_first)
