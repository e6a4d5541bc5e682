"""How many requests are divided into calls, and which of them are asked for again."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from capability_authority.client.batches import BATCH_BYTES, BATCH_ITEMS, BatchItem, divided, settle
from capability_authority.client.errors import (
    AuthorityError,
    CallerUnauthenticated,
    DeadlineExceeded,
    Expired,
    Overloaded,
    TransportError,
    Unavailable,
)
from capability_authority.client.retries import RetryPolicy
from capability_authority.client.rpcs import RPCS
from capability_authority.client.statuses import KeyedCall
from capability_authority.v1.capability_service_pb2 import (
    BatchCommitValidatedRequest,
    CommitOutcome,
    CommitValidatedRequest,
    CommitValidatedResponse,
    Presentation,
)

RPC = RPCS["BatchCommitValidated"]
CALL = KeyedCall(RPC, "requests")
LOST = TransportError(CALL.failure(grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE: reset"))
AWAY = Unavailable(CALL.failure(grpc.StatusCode.UNAVAILABLE, "away", reason="DEPENDENCY_UNAVAILABLE", retry_delay=0.5))
NOBODY = CallerUnauthenticated(CALL.failure(grpc.StatusCode.UNAUTHENTICATED, "who?", reason="CALLER_UNAUTHENTICATED"))
DONE = CommitOutcome(result=CommitValidatedResponse(receipt_id="receipt"))


def item(name: str = "", size: int = 0) -> BatchItem:
    """A commit under a key of this name; of about this size."""
    request = CommitValidatedRequest(presentation=Presentation(content=bytes(size), commit_idempotency_key=name))
    return BatchItem(KeyedCall(RPC, "commit_idempotency_key", name), request)


def refused(reason: str, code: grpc.StatusCode, delay_ms: int | None = None) -> CommitOutcome:
    """The outcome of an item that is refused."""
    status = Status(code=code.value[0], message="a fixed sentence")
    status.details.add().Pack(ErrorInfo(reason=reason, domain="capability-authority"))
    if delay_ms is not None:
        retry = RetryInfo()
        retry.retry_delay.FromMilliseconds(delay_ms)
        status.details.add().Pack(retry)
    return CommitOutcome(status=status)


OVERLOADED = refused("OVERLOADED", grpc.StatusCode.RESOURCE_EXHAUSTED, 1_000)
BUSY = refused("IN_PROGRESS", grpc.StatusCode.ABORTED, 200)
EXPIRED = refused("EXPIRED", grpc.StatusCode.FAILED_PRECONDITION)


@dataclass
class Scene:
    """An authority that answers call after call as told, and time that passes only when somebody waits."""

    answers: Sequence[AuthorityError | Sequence[CommitOutcome]]
    now: float = 100.0
    waits: list[float] = field(default_factory=list)
    calls: list[list[str]] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    async def ask(self, items: Sequence[BatchItem], seconds: float) -> Sequence[Message]:
        assert 0 < seconds <= 10
        self.calls.append([one.call.key for one in items])
        answer = self.answers[len(self.calls) - 1]
        if isinstance(answer, AuthorityError):
            raise answer
        return answer

    async def settle(self, items: Sequence[BatchItem], seconds: float = 10.0) -> None:
        policy = RetryPolicy(random=lambda: 0.0, sleep=self.sleep, clock=lambda: self.now)
        await settle(items, self.ask, seconds=seconds, policy=policy)


@given(sizes=st.lists(st.integers(0, 200), max_size=30))
def test_an_item_counts_as_many_bytes_as_it_adds(sizes: list[int]) -> None:
    items = [item(size=size) for size in sizes]

    batch = BatchCommitValidatedRequest(requests=[one.request for one in items])  # type: ignore[misc]  # commits all

    assert sum(one.bytes_in_batch for one in items) == batch.ByteSize()


@given(sizes=st.lists(st.sampled_from([0, 100, 1_000, 500_000, BATCH_BYTES // 2, BATCH_BYTES]), max_size=40))
def test_parts_keep_the_order_and_fit_and_could_not_be_fewer(sizes: list[int]) -> None:
    items = [item(str(index), size) for index, size in enumerate(sizes)]

    parts = list(divided(items))

    assert [one for part in parts for one in part] == items
    weights = [sum(one.bytes_in_batch for one in part) for part in parts]
    for part, weight in zip(parts, weights, strict=True):
        assert len(part) == 1 or weight <= BATCH_BYTES
    for weight, following in zip(weights, parts[1:], strict=False):
        assert weight + following[0].bytes_in_batch > BATCH_BYTES, "the next would have fitted"


@pytest.mark.parametrize(("count", "parts"), [(0, []), (1, [1]), (512, [512]), (513, [512, 1]), (1025, [512, 512, 1])])
def test_a_part_has_as_many_as_a_batch_may_have(count: int, parts: list[int]) -> None:
    assert BATCH_ITEMS == 512
    assert [len(part) for part in divided([item()] * count)] == parts


def test_exactly_three_mebibytes_are_one_part() -> None:
    # An item of 1 MiB less what surrounds its content: two lengths of three bytes and one of four, a tag each, no key.
    third = item(size=BATCH_BYTES // 3 - 4 - 4 - 4)
    assert third.bytes_in_batch == BATCH_BYTES // 3

    assert len(list(divided([third] * 3))) == 1
    assert len(list(divided([third, third, item(size=BATCH_BYTES // 3 - 11)]))) == 2


async def test_only_what_is_refused_for_now_is_asked_for_again() -> None:
    scene = Scene([[DONE, OVERLOADED, EXPIRED, BUSY], [BUSY, DONE], [DONE]])
    items = [item(name) for name in "abcd"]

    await scene.settle(items)

    assert scene.calls == [["a", "b", "c", "d"], ["b", "d"], ["b"]]
    # The wait is the longest that was asked for.
    assert scene.waits == [1.0, 0.2]
    assert [one.answer == DONE.result for one in items] == [True, True, False, True]
    assert isinstance(items[2].answer, Expired)
    assert [one.attempts for one in items] == [1, 3, 1, 2]


async def test_a_call_that_fails_is_tried_again_as_one() -> None:
    scene = Scene([LOST, AWAY, [DONE, DONE]])
    items = [item("a"), item("b")]

    await scene.settle(items)

    assert scene.calls == [["a", "b"]] * 3
    assert scene.waits == [0.0, 0.5]
    assert all(one.answer == DONE.result for one in items)


async def test_a_call_that_is_refused_is_told_to_each_item_by_its_key() -> None:
    scene = Scene([NOBODY])
    items = [item("a"), item("b")]

    await scene.settle(items)

    for one, key in zip(items, "ab", strict=True):
        assert isinstance(one.answer, CallerUnauthenticated)
        assert (one.answer.key, one.answer.failure.key_field) == (key, "commit_idempotency_key")
        assert not one.answer.outcome_unknown


@pytest.mark.parametrize(
    ("last", "kind", "unknown"),
    [
        ([OVERLOADED], Overloaded, True),
        ([EXPIRED], Expired, False),
        (NOBODY, CallerUnauthenticated, True),
    ],
)
async def test_after_a_lost_answer_only_a_verdict_ends_the_doubt(
    last: AuthorityError | Sequence[CommitOutcome], kind: type[AuthorityError], *, unknown: bool
) -> None:
    scene = Scene([LOST, *[last] * 4])
    (one,) = items = [item("a")]

    await scene.settle(items)

    assert isinstance(one.answer, kind)
    assert one.answer.outcome_unknown is unknown
    assert f"attempts={one.attempts}" in repr(one.answer.failure)


async def test_patience_ends_and_each_item_has_its_own_last_refusal() -> None:
    scene = Scene([[DONE, BUSY], [OVERLOADED], [BUSY], [BUSY], [OVERLOADED], [DONE]])
    items = [item("a"), item("b")]

    await scene.settle(items)

    assert len(scene.calls) == 5
    assert items[0].answer == DONE.result
    assert isinstance(items[1].answer, Overloaded)
    assert (items[1].answer.attempts, items[1].answer.key, items[1].answer.retryable) == (5, "b", True)
    # Twice it was in progress: it may be committed yet.
    assert items[1].answer.outcome_unknown


async def test_waiting_that_would_outlast_the_time_is_not_begun() -> None:
    scene = Scene([[OVERLOADED]])
    (one,) = items = [item("a")]

    await scene.settle(items, seconds=0.9)

    assert (scene.waits, len(scene.calls)) == ([], 1)
    assert isinstance(one.answer, Overloaded)


async def test_what_was_not_sent_for_want_of_time_says_so_and_leaves_no_doubt() -> None:
    scene = Scene([])
    (one,) = items = [item("a")]

    await scene.settle(items, seconds=0.0)

    assert isinstance(one.answer, DeadlineExceeded)
    assert (one.answer.outcome_unknown, one.answer.retryable, one.answer.key) == (False, True, "a")
    assert "not sent" in str(one.answer)


@pytest.mark.parametrize(
    "outcome", [CommitOutcome(), CommitOutcome(status=Status())], ids=["nothing", "an empty status"]
)
async def test_an_outcome_that_says_nothing_leaves_the_doubt(outcome: CommitOutcome) -> None:
    scene = Scene([[outcome]])
    (one,) = items = [item("a")]

    await scene.settle(items)

    assert isinstance(one.answer, TransportError)
    assert (one.answer.outcome_unknown, one.answer.retryable) == (True, False)


def test_a_failure_that_is_printed_names_the_key_of_its_item() -> None:
    one = item("nightly-1")

    one.fail(AWAY)

    assert str(one.answer) == (
        "BatchCommitValidated: away (DEPENDENCY_UNAVAILABLE); the commit may have happened: call again with the same"
        " commit_idempotency_key nightly-1, which gives its result and repeats nothing"
    )


def test_a_failure_of_the_whole_names_the_requests() -> None:
    failed = AWAY.after(1, in_doubt=False)

    assert "call again with the same requests, which gives its result" in str(failed)
