"""A stream of commits: its opening, its items one by one, what it leaves unread, and every way in which it ends."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from grpc import aio
from structlog.testing import capture_logs

from authority.domain import limits
from authority.domain.identity import Caller
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal, malformed
from authority.rpc.methods import METHODS
from authority.usecases.commit import CommitRequest
from authority.usecases.ports import Contention, DependencyUnavailable
from capability_authority.v1.capability_service_pb2 import (
    CommitValidatedRequest,
    Presentation,
    StreamCommitValidatedRequest,
    StreamCommitValidatedResponse,
)
from capability_authority.v1.statements_pb2 import Signature, SignedStatement
from tests.integration.rpc.running import (
    CALLER,
    INCIDENT,
    PROOF,
    STREAM,
    Failure,
    Running,
    reason_of,
    running,
    use_cases,
)

SETTLED = Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": "r-1"})
"""An outcome like any other, and easily written."""
WITHIN_S = 20.0
UNKNOWN = b"\xfa\x3f\x01x"
"""Field 1023, which no message of the contract has."""


def commit_of(key: str = "k1", content: bytes = b"text") -> CommitValidatedRequest:
    """A commit of a good shape."""
    signature = Signature(key_id="sha256:" + "0" * 64, signature=b"s" * 64)
    return CommitValidatedRequest(
        capability=SignedStatement(payload_type="capability", payload=b"payload", signature=signature),
        presentation=Presentation(content=content, media_type="text/plain", commit_idempotency_key=key),
    )


def item(tag: int, **said: Any) -> StreamCommitValidatedRequest:
    """An item of a good shape."""
    return StreamCommitValidatedRequest(tag=tag, commit=commit_of(**{"key": f"k{tag}"} | said))


def tags(outcomes: list[StreamCommitValidatedResponse]) -> list[int]:
    return [outcome.tag for outcome in outcomes]


@dataclass
class Committing:
    """Commits what it is let; everything else waits. `answers` are what a key is answered with, SETTLED unless said."""

    answers: dict[str, Refusal | BaseException] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    requests: list[CommitRequest | Refusal] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """Keys of those that were given up."""
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def __call__(self, request: CommitRequest | Refusal) -> Refusal:
        """Waits while the item is held."""
        key = "" if isinstance(request, Refusal) else request.presentation.commit_idempotency_key
        await self._note(key, request)
        try:
            async with self._changed:
                await self._changed.wait_for(lambda: key not in self.held and "*" not in self.held)
        except asyncio.CancelledError:
            self.left.append(key)
            raise
        answer = self.answers.get(key, request if isinstance(request, Refusal) else SETTLED)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def _note(self, key: str, request: CommitRequest | Refusal) -> None:
        async with self._changed:
            self.asked.append(key)
            self.requests.append(request)
            self._changed.notify_all()

    async def begun(self, count: int) -> None:
        """Returns once so many items have come."""
        async with asyncio.timeout(WITHIN_S), self._changed:
            await self._changed.wait_for(lambda: len(self.asked) >= count)

    async def let(self, *keys: str) -> None:
        """Lets these go on, and all when none is named."""
        async with self._changed:
            self.held -= set(keys) or set(self.held)
            self._changed.notify_all()


class Ageing:
    """Stands in for the event loop's clock: a stream is old when the test says so."""

    def __init__(self) -> None:
        self.lives: list[float] = []
        self._calls: list[Callable[[], None]] = []

    def __call__(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        self.lives.append(seconds)
        self._calls.append(call)
        return asyncio.get_running_loop().call_later(3_600, call)

    def pass_(self) -> None:
        """Every stream that was opened is old."""
        for call in self._calls:
            call()


async def after_round_trips(service: Running, count: int = 20) -> None:
    """Lets the server do whatever it is about to: it answers others meanwhile."""
    for _ in range(count):
        assert (await service.fail_elsewhere()).reason == "NOT_FOUND"


async def refuse_reads(*_: object) -> Refusal:
    return Refusal(Reason.NOT_FOUND)


# --- its opening ------------------------------------------------------------------------------------------------------


async def test_a_stream_is_authenticated_before_anything_is_read_or_written() -> None:
    # Given a caller that nobody knows
    async def authenticate(*_: object) -> Refusal:
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
        stream = service.stream()
        with contextlib.suppress(aio.AioRpcError):  # The refusal may be there before the item is written.
            await stream.send(item(1))
        failure = await stream.fails()

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
    async def hang(*_: object) -> None:
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


# --- its items --------------------------------------------------------------------------------------------------------


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


# --- what it leaves unread --------------------------------------------------------------------------------------------


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


# --- how many there are -----------------------------------------------------------------------------------------------


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


# --- how it ends ------------------------------------------------------------------------------------------------------


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
