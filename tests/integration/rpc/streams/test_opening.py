"""How a stream of commits is opened, and who opens none."""

import asyncio

import pytest

from authority.domain.identity import Caller
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.rpc.methods import METHODS
from tests.integration.rpc.running import (
    CALLER,
    STREAM,
    running,
    use_cases,
)
from tests.integration.rpc.streams.committing import Committing, after_round_trips, item, refuse_reads, tags


async def test_a_stream_is_authenticated_before_anything_is_read_or_written() -> None:
    # Given a caller that nobody knows
    async def authenticate(*_: object, **__: object) -> Refusal:
        return Refusal(Reason.CALLER_UNAUTHENTICATED)

    async with running(use_cases(authenticate=authenticate)) as service:
        stream = service.stream()
        # When it opens a stream, then that has failed before an item was asked for
        failure = await stream.fails()

    assert (failure.code.name, failure.reason) == ("UNAUTHENTICATED", "CALLER_UNAUTHENTICATED")


@pytest.mark.parametrize("reason", [Reason.PROOF_INVALID, Reason.PROOF_REPLAYED], ids=lambda reason: reason.name)
async def test_i04_a_proof_that_opens_no_stream_is_told_before_any_item(reason: Reason) -> None:
    async def admit_nobody(caller: Caller) -> Refusal:
        assert caller == CALLER
        return Refusal(reason)

    async with running(use_cases(admit_stream=admit_nobody)) as service:
        # Of a stream that ends while an item is written, gRPC tells that writing failed, and not why.
        failure = await service.stream().fails()

    assert failure.reason == reason.name


async def test_who_may_not_commit_opens_no_stream() -> None:
    async def open_to_nobody(_: Caller) -> Refusal:
        return Refusal(Reason.NOT_ALLOWED, {"right": "commit"})

    async with running(use_cases(open_commit_stream=open_to_nobody)) as service:
        failure = await service.stream().fails()

    assert (failure.reason, dict(failure.info.metadata)) == ("NOT_ALLOWED", {"right": "commit"})


async def test_a_stream_without_a_kind_is_served_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(METHODS, STREAM)
    async with running(use_cases()) as service:
        assert (await service.stream().fails()).reason == "INTERNAL"


async def test_f04_the_opening_is_bounded_and_an_open_stream_lives_on() -> None:
    # Given a server that gives every call a moment
    async def hang(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    # When authenticating takes too long, then the opening is given up
    async with running(use_cases(authenticate=hang), deadline_cap=0.05) as service:
        assert (await service.stream().fails()).reason == "DEPENDENCY_UNAVAILABLE"

    # When a stream is open, then it is read from for longer than that
    committing = Committing()
    async with running(use_cases(commit_item=committing, get_record=refuse_reads), deadline_cap=2) as service:
        loop, stream = asyncio.get_running_loop(), service.stream()
        await stream.send(item(1))
        assert await stream.outcome()
        begun = loop.time()
        while loop.time() < begun + 2.2:
            await after_round_trips(service, 1)
        await stream.send(item(2))
        assert tags(await stream.close()) == [2]
