"""What an authority tells as it happens: one stream after the other, without loss between them."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Final, TypeVar

from google.protobuf.message import DecodeError, Message
from grpc import aio

from capability_authority.client.errors import AuthorityError, TransportError
from capability_authority.client.retries import RetryPolicy
from capability_authority.client.statuses import KeyedCall, failure_of

__all__ = ["SILENCE_S", "watched"]

M = TypeVar("M", bound=Message)

SILENCE_S: Final = 30.0
"""An authority speaks every ten seconds: a stream that is silent for so long is taken for cut."""


async def watched(
    call: KeyedCall,
    request: Message,
    response_class: type[M],
    connect: Callable[[bytes], "aio.UnaryStreamCall[bytes, bytes]"],
    take_in: Callable[[M], None],
    policy: RetryPolicy,
    silence_s: float = SILENCE_S,
) -> AsyncGenerator[M, None]:
    """The messages of a watch, for as long as they are asked for.

    `take_in` puts the cursor of a message into the request, once the next message is asked for: what was handed over is
    not told again, and what was lost on the way is. A stream that ends, is cut or falls silent is followed by another,
    after pauses that grow while nothing comes, without end. Raises the `AuthorityError` that says that another would
    fare no better.
    """
    fruitless = 0
    while True:
        stream = connect(request.SerializeToString())
        failed: AuthorityError | None = None
        try:
            while (message := await _next_of(call, stream, response_class, silence_s)) is not None:
                fruitless = 0
                yield message
                take_in(message)
        except AuthorityError as error:
            failed = error
        finally:
            stream.cancel()
        if failed is not None and not failed.retryable:
            raise failed
        if failed is not None or fruitless:
            await policy.sleep(policy.delay_after(fruitless + 1, failed.failure.retry_delay if failed else None))
        fruitless += 1


async def _next_of(
    call: KeyedCall, stream: "aio.UnaryStreamCall[bytes, bytes]", response_class: type[M], silence_s: float
) -> M | None:
    """The next message; None when the stream has ended well, as an old one does."""
    try:
        async with asyncio.timeout(silence_s):
            data = await stream.read()
        return response_class.FromString(data) if isinstance(data, bytes) else None
    except TimeoutError:
        raise TransportError(call.failure(None, f"nothing came for {silence_s:g} s", retry_delay=0.0)) from None
    except aio.AioRpcError as error:
        raise failure_of(call, error) from None
    except DecodeError:
        raise TransportError(call.failure(None, "what came is not a message of this RPC")) from None
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling() > 0:
            raise
        # gRPC says so when the channel was closed below the watch.
        raise TransportError(call.failure(None, "the connection was closed during the watch")) from None
