"""Every call is bounded (cases F03, F04)."""

import asyncio

import pytest

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.rpc.current_call import current_deadline
from tests.integration.rpc.running import running, use_cases


@pytest.mark.parametrize("days", [None, 3])
async def test_f04_a_use_case_gets_the_servers_cap_as_deadline(days: int | None) -> None:
    # Given a use case that notes its deadline.
    left: list[float] = []

    async def note(*_: object, **__: object) -> Refusal:
        left.append(current_deadline() - asyncio.get_running_loop().time())
        return Refusal(Reason.NOT_FOUND)

    # When it is called without a deadline, or with one of days.
    async with running(use_cases(get_record=note)) as service:
        await service.fail(timeout=days and days * 24 * 3600)

    # Then it has the cap of 30 seconds less the margin.
    assert 29.0 < left[0] <= 29.9


async def test_f04_a_callers_shorter_deadline_counts() -> None:
    left: list[float] = []

    async def note(*_: object, **__: object) -> Refusal:
        left.append(current_deadline() - asyncio.get_running_loop().time())
        return Refusal(Reason.NOT_FOUND)

    async with running(use_cases(get_record=note)) as service:
        await service.fail(timeout=10)

    # gRPC rounds the deadline that it sends up by as much as a hundredth.
    assert 5.0 < left[0] <= 10.0


async def test_f04_a_call_that_never_ends_is_given_up_at_the_cap() -> None:
    # Given a use case that hangs, and a server with a small cap.
    async def hang(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    async with running(use_cases(get_record=hang), deadline_cap=0.05, deadline_margin=0.01) as service:
        failure = await asyncio.wait_for(service.fail(), 20)

    # Then its outcome is unknown, and the same call may be made again.
    assert (failure.code.name, failure.reason) == ("UNAVAILABLE", "DEPENDENCY_UNAVAILABLE")
    assert failure.retry is not None


async def test_f04_authentication_is_bounded_too() -> None:
    async def hang(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    async with running(use_cases(authenticate=hang), deadline_cap=0.05) as service:
        failure = await asyncio.wait_for(service.fail(), 20)

    assert failure.reason == "DEPENDENCY_UNAVAILABLE"


async def test_f03_what_was_sent_goes_on_after_the_callers_deadline() -> None:
    # Given a use case that shields its work, as the committer does.
    entered, may_end, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> Refusal:
        entered.set()
        await may_end.wait()
        ended.set()
        return Refusal(Reason.NOT_FOUND)

    tasks: list[asyncio.Task[Refusal]] = []

    async def shielded(*_: object, **__: object) -> Refusal:
        tasks.append(asyncio.ensure_future(work()))
        return await asyncio.shield(tasks[0])

    # When the caller's deadline passes first.
    async with running(use_cases(get_record=shielded)) as service:
        await service.channel.channel_ready()
        failure = await service.fail(timeout=1.5)
        assert entered.is_set()
        assert failure.code.name == "DEADLINE_EXCEEDED"
        may_end.set()

        # Then the work still ends.
        await asyncio.wait_for(ended.wait(), 20)
