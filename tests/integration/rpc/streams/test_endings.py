"""Every way in which a stream ends."""

import asyncio

import grpc
from structlog.testing import capture_logs

from authority.domain import limits
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from tests.integration.rpc.running import (
    reason_of,
    running,
    use_cases,
)
from tests.integration.rpc.streams.committing import (
    WITHIN_S,
    Ageing,
    Committing,
    after_round_trips,
    item,
    refuse_reads,
    tags,
)


async def test_an_old_stream_is_read_from_no_more_and_ends_well_once_all_is_answered() -> None:
    # Given a stream with an item that takes its time
    committing, ageing = Committing(held={"k1"}), Ageing()
    cases = use_cases(commit_item=committing, get_record=refuse_reads)
    async with running(cases, later=ageing) as service:
        stream = service.stream()
        await stream.send(item(1))
        await committing.begun(1)
        # When it gets old, and another item is sent
        ageing.pass_()
        await stream.send(item(2))
        await after_round_trips(service)
        await committing.let()
        # Then the one is answered, the other was not read, and the stream ends well though its caller did not close it
        assert tags(await stream.outcomes()) == [1]
        assert await stream.call.code() is grpc.StatusCode.OK

    assert committing.asked == ["k1"]
    assert ageing.lives == [300.0]


async def test_i11_a_caller_who_is_revoked_meanwhile_is_told_so_once_all_is_answered() -> None:
    # Given an item that takes its time, and one for which the caller is found revoked
    committing = Committing(held={"k1"}, answers={"k2": Refusal(Reason.CALLER_UNAUTHENTICATED)})
    async with running(use_cases(commit_item=committing, get_record=refuse_reads)) as service:
        stream = service.stream()
        await stream.send(item(1), item(2))
        refused = await stream.outcome()
        await stream.send(item(3))
        await after_round_trips(service)
        await committing.let()
        answered = await stream.outcome()
        failure = await stream.fails()

    # Then both are answered, nothing was read after them, and the stream ends for the same reason
    assert refused
    assert answered
    assert (refused.tag, reason_of(refused.outcome)) == (2, ("CALLER_UNAUTHENTICATED", {}))
    assert answered.tag == 1
    assert (failure.code.name, failure.reason) == ("UNAUTHENTICATED", "CALLER_UNAUTHENTICATED")
    assert committing.asked == ["k1", "k2"]


async def test_f03_a_caller_that_goes_away_gives_up_what_waits_and_is_no_incident() -> None:
    committing = Committing(held={"*"})
    with capture_logs() as logs:
        async with running(use_cases(commit_item=committing)) as service:
            stream = service.stream()
            await stream.send(*map(item, range(3)))
            await committing.begun(3)
            stream.call.cancel()
            async with asyncio.timeout(WITHIN_S):
                while len(committing.left) < 3:
                    await asyncio.get_running_loop().run_in_executor(None, lambda: None)

    assert [entry for entry in logs if "incident_id" in entry] == []


async def test_f12_streams_end_with_the_server_once_all_that_they_read_is_answered() -> None:
    # Given a stream with an item that takes its time, and one that does nothing
    committing = Committing(held={"k1"})
    async with running(use_cases(commit_item=committing)) as service:
        stream, idle = service.stream(), service.stream()
        await idle.send(item(0))
        assert await idle.outcome()
        await stream.send(item(1))
        await committing.begun(2)
        # When the server is stopped
        stopping = asyncio.create_task(service.server.stop(WITHIN_S))
        # Then the idle one ends at once, and the other once its item is answered; what it sends meanwhile is not read
        assert await idle.outcomes() == []
        await stream.send(item(2))
        await committing.let()
        assert tags(await stream.outcomes()) == [1]
        async with asyncio.timeout(WITHIN_S / 2):
            await stopping

    assert committing.asked == ["k0", "k1"]


async def test_f12_a_stuck_stream_does_not_outlive_the_grace() -> None:
    # Given an item that never ends, and a stream whose caller reads nothing
    large = Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": "r" * 8_000})
    committing = Committing(held={"k1"}, answers={"k": large})
    async with running(use_cases(commit_item=committing, get_record=refuse_reads)) as service:
        stuck, deaf = service.stream(), service.stream()
        await stuck.send(item(1))
        sending = asyncio.create_task(deaf.send(*(item(tag, key="k") for tag in range(4_000))))
        await committing.begun(limits.STREAM_WINDOW)
        # When the server stops with a small grace, then it stops, and whoever is left may try elsewhere
        async with asyncio.timeout(10):
            await service.server.stop(0.05)
        assert (await stuck.fails()).code.name == "UNAVAILABLE"
        async with asyncio.timeout(WITHIN_S):
            while "k1" not in committing.left:
                await asyncio.get_running_loop().run_in_executor(None, lambda: None)
        deaf.call.cancel()
        await asyncio.wait([sending])
