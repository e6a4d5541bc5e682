"""How many streams are open at once, and until when each keeps its place."""

import asyncio
from typing import Any

import grpc
import pytest

from authority.domain.identity import Caller
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from tests.integration.rpc.running import (
    CALLER,
    Failure,
    Running,
    running,
    use_cases,
)
from tests.integration.rpc.streams.committing import WITHIN_S, Committing, item, refuse_reads


async def _is_there_room(service: Running) -> bool:
    """Whether a stream can be opened now."""
    stream = service.stream()
    await stream.send(item(1))
    try:
        return await stream.close() != []
    except grpc.aio.AioRpcError as error:
        if Failure(error).reason == "OVERLOADED":
            return False
        raise


async def until_there_is_room(service: Running) -> None:
    """Returns once a stream can be opened."""
    async with asyncio.timeout(WITHIN_S):
        while not await _is_there_room(service):
            pass


@pytest.mark.parametrize("bound", ["streams", "streams_per_principal"])
async def test_f13_so_many_streams_are_open_at_once_and_no_more(bound: str) -> None:
    # Given as many streams as there may be
    committing = Committing()
    two: dict[str, Any] = {bound: 2}
    async with running(use_cases(commit_item=committing), **two) as service:
        first, second = service.stream(), service.stream()
        for stream in (first, second):
            await stream.send(item(1))
            await stream.outcome()
        # When another is opened, then it is refused for now
        failure = await service.stream().fails()
        assert (failure.code.name, failure.reason) == ("RESOURCE_EXHAUSTED", "OVERLOADED")
        assert failure.retry is not None
        # And when one has ended, or its caller has gone, there is room
        await first.close()
        await until_there_is_room(service)
        third = service.stream()
        await third.send(item(1))
        assert await third.outcome()
        second.call.cancel()
        await until_there_is_room(service)


async def test_f13_a_stream_keeps_its_place_until_it_is_over_for_its_caller_too() -> None:
    # Given a stream whose caller reads nothing, until its time is up
    large = Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": "r" * 8_000})
    committing = Committing(answers={"k": large}, held={"last"})
    cases = use_cases(commit_item=committing, get_record=refuse_reads)
    async with running(cases, streams=1, stream_life=1, deadline_cap=1) as service:
        deaf = service.stream()
        await deaf.send(item(0, key="last"))
        sending = asyncio.create_task(deaf.send(*(item(tag, key="k") for tag in range(4_000))))
        async with asyncio.timeout(WITHIN_S):
            while not committing.left:
                await asyncio.get_running_loop().run_in_executor(None, lambda: None)
        # When others want to open one, then there is no room, for gRPC holds on to what it cannot deliver
        assert (await service.stream().fails()).reason == "OVERLOADED"
        # And there is when that caller has gone
        deaf.call.cancel()
        await until_there_is_room(service)
        await asyncio.wait([sending])


async def test_f13_a_refused_opening_uses_no_proof_up() -> None:
    admitted: list[Caller] = []

    async def admit(caller: Caller) -> None:
        admitted.append(caller)

    async with running(use_cases(admit_stream=admit), streams=1) as service:
        first = service.stream()
        await first.call.wait_for_connection()
        while not admitted:
            await asyncio.get_running_loop().run_in_executor(None, lambda: None)
        assert (await service.stream().fails()).reason == "OVERLOADED"

    assert admitted == [CALLER]
