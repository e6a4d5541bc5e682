"""What a stream leaves unread while its outcomes are not taken."""

import asyncio

from authority.domain import limits
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from tests.integration.rpc.running import (
    running,
    use_cases,
)
from tests.integration.rpc.streams.committing import Committing, after_round_trips, item, refuse_reads, tags


async def test_no_more_than_the_window_is_read_before_it_is_answered() -> None:
    # Given more items than the window takes, none of which is settled
    committing = Committing(held={"*"})
    async with running(use_cases(commit_item=committing, get_record=refuse_reads)) as service:
        stream = service.stream()
        await stream.send(*map(item, range(limits.STREAM_WINDOW + 40)))
        await committing.begun(limits.STREAM_WINDOW)
        await after_round_trips(service)
        assert len(committing.asked) == limits.STREAM_WINDOW
        # When they are settled, then the others follow, and all are answered
        await committing.let()
        assert sorted(tags(await stream.close())) == list(range(limits.STREAM_WINDOW + 40))


async def test_no_more_bytes_are_read_than_may_wait() -> None:
    # Given items of a mebibyte
    committing, many = Committing(held={"*"}), 12
    async with running(use_cases(commit_item=committing, get_record=refuse_reads)) as service:
        stream = service.stream()
        sending = asyncio.create_task(stream.send(*(item(tag, content=b"x" * 1024 * 1024) for tag in range(many))))
        await committing.begun(3)
        await after_round_trips(service)
        # Then those are read that reach the limit, and no other
        assert len(committing.asked) == 3
        await committing.let()
        await sending
        assert sorted(tags(await stream.close())) == list(range(many))


async def test_f13_a_caller_that_reads_nothing_holds_up_nobody_and_is_not_read_from_without_end() -> None:
    # Given many items whose outcomes are large, by a caller that reads none of them
    many, large = 4_000, Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": "r" * 8_000})
    committing = Committing(answers={"k": large})
    async with running(use_cases(commit_item=committing, get_record=refuse_reads)) as service:
        stream = service.stream()
        sending = asyncio.create_task(stream.send(*(item(tag, key="k") for tag in range(many))))
        await committing.begun(limits.STREAM_WINDOW)
        # When it is left alone for as long as anything moves, while others are served
        count = -1
        while count != len(committing.asked):
            count = len(committing.asked)
            await after_round_trips(service)
        # Then there is an end to what is read from it
        assert count < many
        # And when it reads, it gets all
        reading = [await stream.outcome() for _ in range(many)]
        await sending
        assert sorted(one.tag for one in reading if one) == list(range(many))
        assert await stream.close() == []
