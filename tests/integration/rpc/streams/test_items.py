"""The items of a stream, one by one: each has an outcome of its own, whatever becomes of the others."""

import asyncio
from typing import Any

import grpc
import pytest
from structlog.testing import capture_logs

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal, malformed
from authority.usecases.commit import CommitRequest
from authority.usecases.ports import Contention, DependencyUnavailable
from tests.integration.rpc.running import (
    INCIDENT,
    PROOF,
    reason_of,
    running,
    use_cases,
)
from tests.integration.rpc.streams.committing import (
    SETTLED,
    UNKNOWN,
    Committing,
    after_round_trips,
    item,
    refuse_reads,
    tags,
)


async def test_outcomes_come_as_they_are_settled_with_the_tags_of_their_items() -> None:
    # Given three items, of which the first takes its time; tags may be anything, and repeat
    committing = Committing(held={"slow"}, answers={"bad": Refusal(Reason.EXPIRED)})
    last = 2**64 - 1
    async with running(use_cases(commit_item=committing)) as service:
        stream = service.stream()
        await stream.send(item(last, key="slow"), item(0, key="bad"), item(last, key="good"))
        first, second = [await stream.outcome() for _ in range(2)]
        assert first
        assert second
        await committing.let("slow")
        third = await stream.outcome()
        assert third

    # Then it holds up neither, and each outcome is its item's
    assert committing.asked == ["slow", "bad", "good"]
    assert [(one.tag, reason_of(one.outcome)) for one in (first, second, third)] == [
        (0, ("EXPIRED", {})),
        (last, ("ALREADY_COMMITTED", {"receipt_id": "r-1"})),
        (last, ("ALREADY_COMMITTED", {"receipt_id": "r-1"})),
    ]


async def test_what_the_caller_has_sent_before_it_closes_is_answered() -> None:
    committing = Committing(held={"k1", "k3"})
    async with running(use_cases(commit_item=committing)) as service:
        stream = service.stream()
        await stream.send(*map(item, range(5)))
        await stream.call.done_writing()
        await committing.begun(5)
        await committing.let()
        assert sorted(tags(await stream.outcomes())) == [0, 1, 2, 3, 4]
        assert await stream.call.code() is grpc.StatusCode.OK


async def test_an_empty_stream_ends_well() -> None:
    async with running(use_cases()) as service:
        assert await service.stream().close() == []


KEY, CONTENT = "presentation.commit_idempotency_key", "presentation.content"
HOSTILE: dict[str, tuple[bytes, tuple[str, str]]] = {
    "unknown field of the item": (item(7).SerializeToString() + UNKNOWN, ("MALFORMED", "1023")),
    "unknown field of the commit": (b"\x08\x07\x12\x04" + UNKNOWN, ("MALFORMED", "1023")),
    "unknown field further down": (b"\x08\x07\x12\x06\x12\x04" + UNKNOWN, ("MALFORMED", "presentation.1023")),
    "no commit": (b"\x08\x07", ("MALFORMED", "commit")),
    "an empty commit": (b"\x08\x07\x12\x00", ("MALFORMED", "capability")),
    "a bad key": (item(7, key="a b").SerializeToString(), ("MALFORMED", KEY)),
    "a long key": (item(7, key="k" * 129).SerializeToString(), ("LIMIT_EXCEEDED", KEY)),
    "much content": (item(7, content=bytes(1024 * 1024 + 1)).SerializeToString(), ("LIMIT_EXCEEDED", CONTENT)),
}


@pytest.mark.parametrize("spoilt", HOSTILE)
async def test_d13_d16_a_bad_item_is_refused_by_its_tag_and_the_stream_goes_on(spoilt: str) -> None:
    # Given a use case that hands a refused shape back
    raw, (reason, path) = HOSTILE[spoilt]
    committing = Committing()
    async with running(use_cases(commit_item=committing)) as service:
        stream = service.stream()
        await stream.send(item(1), raw, item(2))
        outcomes = {one.tag: reason_of(one.outcome) for one in await stream.close()}

    # Then the item is refused for what it is, and the others are not touched
    told, facts = outcomes[7]
    assert (told, facts["field"]) == (reason, path)
    assert outcomes[1] == outcomes[2] == ("ALREADY_COMMITTED", {"receipt_id": "r-1"})


async def test_the_shape_of_an_item_is_told_only_to_a_caller_who_is_known() -> None:
    # A use case that finds the caller revoked says so of an item of any shape.
    committing = Committing(answers={"": Refusal(Reason.CALLER_UNAUTHENTICATED)})
    async with running(use_cases(commit_item=committing)) as service:
        stream = service.stream()
        await stream.send(b"\x08\x07")
        refused = await stream.outcome()
        assert refused
        assert reason_of(refused.outcome) == ("CALLER_UNAUTHENTICATED", {})
    assert committing.requests == [malformed("commit", "required")]


@pytest.mark.parametrize("raw", [b"\xff", b"\x08", b"\x12\x05ab", item(1).SerializeToString()[:-1]])
async def test_f07_bytes_that_are_no_item_end_the_stream_once_the_others_are_answered(raw: bytes) -> None:
    # Given an item that takes its time, then bytes, then another item
    committing = Committing(held={"k1"})
    async with running(use_cases(commit_item=committing, get_record=refuse_reads)) as service:
        stream = service.stream()
        await stream.send(item(1), raw)
        await committing.begun(1)
        await stream.send(item(2))
        await after_round_trips(service)
        await committing.let()
        answered = await stream.outcome()
        failure = await stream.fails()

    # Then the first is answered, and the last was not read
    assert answered
    assert answered.tag == 1
    assert committing.asked == ["k1"]
    assert (failure.code.name, failure.reason) == ("INVALID_ARGUMENT", "MALFORMED")


async def test_f05_a_message_that_grpc_does_not_take_ends_the_stream_in_grpcs_own_way() -> None:
    committing = Committing()
    async with running(use_cases(commit_item=committing)) as service:
        stream = service.stream()
        await stream.send(item(1))
        assert await stream.outcome()
        await stream.send(item(2, content=b"x" * 4 * 1024 * 1024))
        failure = await stream.fails()
        # and the connection goes on
        again = service.stream()
        await again.send(item(3))
        assert tags(await again.close()) == [3]

    assert (failure.code.name, failure.status) == ("RESOURCE_EXHAUSTED", None)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (DependencyUnavailable("away"), Reason.DEPENDENCY_UNAVAILABLE),
        (Contention("collided"), Reason.CONTENTION),
        (ValueError("SECRET"), Reason.INTERNAL),
        (asyncio.CancelledError(), Reason.DEPENDENCY_UNAVAILABLE),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_f01_f02_what_goes_wrong_with_an_item_is_its_own_outcome(fault: BaseException, reason: Reason) -> None:
    committing = Committing(answers={"k1": fault})
    with capture_logs() as logs:
        async with running(use_cases(commit_item=committing)) as service:
            stream = service.stream()
            await stream.send(item(1), item(2))
            outcomes = {one.tag: reason_of(one.outcome) for one in await stream.close()}

    assert outcomes == {
        1: (reason.name, {"incident_id": INCIDENT}),
        2: ("ALREADY_COMMITTED", {"receipt_id": "r-1"}),
    }
    assert [entry["rpc_method"] for entry in logs if "incident_id" in entry] == ["StreamCommitValidated"]
    assert "SECRET" not in str(logs)


async def test_f01_an_answer_that_cannot_be_told_ends_the_stream_and_not_in_silence() -> None:
    # Given a use case with a defect: what it answers with is no answer
    async def commit(request: CommitRequest | Refusal) -> Any:
        return object() if isinstance(request, Refusal) else SETTLED

    with capture_logs() as logs:
        async with running(use_cases(commit_item=commit)) as service:
            stream = service.stream()
            await stream.send(item(1))
            answered = await stream.outcome()
            await stream.send(b"\x08\x07")
            failure = await stream.fails()

    # Then its caller learns that there was one, under which id the log has it
    assert answered
    assert (failure.reason, dict(failure.info.metadata)) == ("INTERNAL", {"incident_id": INCIDENT})
    assert [entry["incident_id"] for entry in logs if "incident_id" in entry] == [INCIDENT]


async def test_f04_an_item_has_the_servers_cap_or_what_is_left_of_the_call() -> None:
    committing = Committing()
    async with running(use_cases(commit_item=committing)) as service:
        for timeout in (None, 3_600, 10):
            stream = service.stream(timeout=timeout)
            await stream.send(item(1))
            await stream.outcome()
            await stream.close()
        now = asyncio.get_running_loop().time()

    left = [one.deadline - now for one in committing.requests if isinstance(one, CommitRequest)]
    assert len(left) == 3
    assert all(20.0 < seconds <= 29.9 for seconds in left[:2])
    assert 5.0 < left[2] <= 10.0


async def test_items_carry_the_trace_of_their_stream() -> None:
    trace = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
    committing = Committing()
    async with running(use_cases(commit_item=committing)) as service:
        stream = service.stream(metadata=(*PROOF, ("traceparent", trace)))
        await stream.send(item(1))
        await stream.close()

    assert [one.traceparent for one in committing.requests if isinstance(one, CommitRequest)] == [trace]
