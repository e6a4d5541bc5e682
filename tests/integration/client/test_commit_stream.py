"""Many commits over streams by one verb: answered as they are settled, and sent again when a stream ends."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing

import grpc
import pytest

from capability_authority import CapabilityAuthority, RetryPolicy
from capability_authority.client import (
    AuthorityError,
    BindingMismatch,
    CallerUnauthenticated,
    CommitItem,
    Committed,
    ConnectionClosed,
    DeadlineExceeded,
    Expired,
    InProgress,
    Overloaded,
    ReceiptRejected,
    StreamedCommit,
    TransportError,
    Unavailable,
)
from capability_authority.offline import JsonError, KeySetRefused, sha256
from tests.integration.client.exchange import CONTENT
from tests.integration.client.small_authority import SmallAuthority
from tests.integration.client.state import StreamEnd
from tests.integration.client.test_attempts import UNAVAILABLE
from tests.integration.client.test_commit_batch import BUSY, EXPIRED, commits_of, issued_under
from tests.integration.client.witness import Hang, Refusal, Refuse, Serve

RPC = "StreamCommitValidated"
GONE = Refusal(grpc.StatusCode.UNAVAILABLE, sentence="connection reset")
STRANGER = Refusal(grpc.StatusCode.UNAUTHENTICATED, "CALLER_UNAUTHENTICATED")
WITHIN_S = 20.0


async def items_under(client: CapabilityAuthority, *keys: str) -> list[CommitItem]:
    """A good commit under each key."""
    return commits_of(await issued_under(client, *keys))


def keys_of(outcomes: list[StreamedCommit]) -> list[str]:
    """Whose each outcome is; those of commits are proved by their receipts."""
    for one in outcomes:
        if isinstance(one.outcome, Committed):
            assert one.outcome.receipt.says
            assert one.outcome.receipt.says.capability.commit_idempotency_key == one.commit_idempotency_key
    return [one.commit_idempotency_key for one in outcomes]


def replayed(outcomes: list[StreamedCommit]) -> list[bool]:
    """Of each, all of which were committed."""
    return [one.result().replayed for one in outcomes]


async def all_into(seen: list[StreamedCommit], streaming: AsyncIterator[StreamedCommit]) -> None:
    """Every outcome, also when something is raised after it."""
    async for one in streaming:
        seen.append(one)  # noqa: PERF401  # a comprehension would lose them


async def all_of(streaming: AsyncIterator[StreamedCommit]) -> list[StreamedCommit]:
    """Every outcome, once the streaming is over."""
    return [one async for one in streaming]


class Patience:
    """Time that passes when the test says so, and pauses that end at once unless they are longer than a minute."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sleepers = 0
        self._passed = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        if seconds < 60:
            self.now += seconds
            await asyncio.sleep(0)
            return
        wakes = self.now + seconds
        self.sleepers += 1
        while self.now < wakes:
            await self._passed.wait()

    def pass_(self, seconds: float) -> None:
        self.now += seconds
        passed, self._passed = self._passed, asyncio.Event()
        passed.set()

    @property
    def policy(self) -> RetryPolicy:
        """Of a client that lives in this time."""
        return RetryPolicy(sleep=self.sleep, clock=lambda: self.now)


async def until(condition: Callable[[], bool]) -> None:
    """Returns once the condition holds."""
    async with asyncio.timeout(WITHIN_S):
        while not condition():  # noqa: ASYNC110  # what is waited for tells nobody
            await asyncio.sleep(0.001)


async def test_each_comes_out_with_its_result_or_its_refusal(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given good commits, one that was committed before, one with other content and one that has expired
    items = await items_under(client, "new", "settled", "changed", "expired", "last")
    before = await client.commit(items[1].capability, content=CONTENT)
    items[2] = CommitItem(items[2].capability, content="something else", media_type="text/plain")
    small_authority.state.refused_items["expired"].append(EXPIRED)

    # When they are streamed
    outcomes = {one.commit_idempotency_key: one async for one in client.commit_stream(items)}

    # Then each has what `commit` would have returned or raised, and says whose it is
    assert {key: one.item for key, one in outcomes.items()} == dict(
        zip(["new", "settled", "changed", "expired", "last"], items, strict=True)
    )
    assert replayed([outcomes["new"], outcomes["settled"], outcomes["last"]]) == [False, True, False]
    assert outcomes["settled"].result().receipt == before.receipt
    with pytest.raises(BindingMismatch, match="content_digest: expected sha256:"):
        outcomes["changed"].result()
    expired = outcomes["expired"].outcome
    assert isinstance(expired, Expired)
    assert (expired.key, expired.outcome_unknown, expired.failure.rpc) == ("expired", False, RPC)


async def test_what_comes_later_is_sent_when_it_comes(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given a source of which each item is made from the outcome of the one before
    items = await items_under(client, "a", "b", "c")
    may_go_on = [asyncio.Event() for _ in items]
    may_go_on[0].set()

    async def source() -> AsyncIterator[CommitItem]:
        for item, event in zip(items, may_go_on, strict=True):
            await event.wait()
            yield item

    seen = []
    async for one in client.commit_stream(source()):
        seen.append(one.commit_idempotency_key)
        if len(seen) < len(items):
            may_go_on[len(seen)].set()

    # Then all of it went over one stream
    assert seen == ["a", "b", "c"]
    assert small_authority.state.streamed == [["a", "b", "c"]]


async def test_nothing_to_commit_opens_no_stream(client: CapabilityAuthority, small_authority: SmallAuthority) -> None:
    assert await all_of(client.commit_stream([])) == []
    assert small_authority.attempts(RPC) == []


async def test_a_stream_is_opened_by_a_proof_of_its_own_over_no_bytes(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    small_authority.state.stream_ends.extend([StreamEnd(1), StreamEnd(1)])

    trace = f"00-{'a' * 32}-{'b' * 16}-01"
    await all_of(client.commit_stream(await items_under(client, "a", "b", "c"), traceparent=trace))

    opened = [one.invocation for one in small_authority.attempts(RPC)]
    assert len({invocation.nonce for invocation in opened if invocation}) == 3
    assert {invocation.request_digest for invocation in opened if invocation} == {sha256(b"")}
    assert {one.metadata["traceparent"] for one in small_authority.attempts(RPC)} == {trace}


async def test_what_an_old_stream_did_not_answer_is_sent_on_another(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given streams that end well after one, none and two outcomes
    small_authority.state.stream_ends.extend([StreamEnd(1), StreamEnd(0), StreamEnd(2)])

    outcomes = await all_of(client.commit_stream(await items_under(client, *"abcdef")))

    # Then all are committed, each once, in the order in which they were taken
    assert keys_of(outcomes) == list("abcdef")
    assert replayed(outcomes) == [False] * 6
    assert small_authority.state.streamed == [["a"], [], ["b", "c"], ["d", "e", "f"]]


async def test_lost_outcomes_are_found_by_the_same_keys(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given a stream that is cut after two commits happened of which nobody heard
    small_authority.state.stream_ends.append(StreamEnd(1, lost=2, refusal=GONE))

    outcomes = await all_of(client.commit_stream(await items_under(client, *"abcd")))

    # Then they are asked for again, and each happened once
    assert keys_of(outcomes) == list("abcd")
    assert replayed(outcomes) == [False, True, True, False]
    assert small_authority.state.streamed == [["a", "b", "c"], ["b", "c", "d"]]
    assert len(small_authority.state.records) == 4


async def test_what_is_refused_for_now_is_sent_again_on_the_same_stream(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    small_authority.state.refused_items["busy"].extend([BUSY, BUSY])

    outcomes = await all_of(client.commit_stream(await items_under(client, "busy", "good")))

    assert sorted(keys_of(outcomes)) == ["busy", "good"]
    assert replayed(outcomes) == [False, False]
    (sent,) = small_authority.state.streamed
    assert (sent.count("busy"), sent.count("good")) == (3, 1)


async def test_what_is_refused_for_now_too_often_is_told(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    small_authority.state.refused_items["busy"].extend([BUSY] * 5)

    (outcome,) = await all_of(client.commit_stream(await items_under(client, "busy")))

    assert isinstance(outcome.outcome, InProgress)
    assert (outcome.outcome.attempts, outcome.outcome.outcome_unknown) == (5, True)


async def test_a_stream_that_cannot_be_opened_now_is_opened_later(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    full = Refuse(Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED", retry_delay=0.001))
    small_authority.upset(RPC, UNAVAILABLE, full)

    outcomes = await all_of(client.commit_stream(await items_under(client, "a", "b")))

    assert replayed(outcomes) == [False, False]
    assert len(small_authority.attempts(RPC)) == 3


async def test_an_authority_that_stays_away_is_each_commits_failure(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    items = await items_under(client, "a", "b")
    small_authority.upset(RPC, *[UNAVAILABLE] * 5)

    outcomes = [one.outcome for one in await all_of(client.commit_stream(items))]

    # Then each is told by its own key, and the same keys find out
    assert all(isinstance(outcome, Unavailable) for outcome in outcomes)
    assert [(outcome.key, outcome.attempts) for outcome in outcomes if isinstance(outcome, AuthorityError)] == [
        ("a", 5),
        ("b", 5),
    ]
    assert "call again with the same commit_idempotency_key a" in str(outcomes[0])
    assert replayed(await all_of(client.commit_stream(items))) == [False, False]


async def test_a_refused_stream_is_told_to_each_and_then_raised(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given a caller that is revoked after one commit
    items = await items_under(client, "a", "b", "c")
    small_authority.state.stream_ends.append(StreamEnd(1, refusal=STRANGER))
    small_authority.upset(RPC, Serve(), *[Refuse(STRANGER)] * 5)
    seen: list[StreamedCommit] = []

    # When it streams, then each that was taken comes out before the refusal is raised
    with pytest.raises(CallerUnauthenticated, match="authority principals list"):
        await all_into(seen, client.commit_stream(items))

    assert keys_of(seen) == ["a", "b", "c"]
    assert not seen[0].result().replayed
    for one in seen[1:]:
        assert isinstance(one.outcome, CallerUnauthenticated)
        assert one.outcome.key == one.commit_idempotency_key
    # gRPC may hide the status of a stream that is written to, of the next one too on a busy machine; after one that
    # brought nothing the client waits for it before it writes.
    assert len(small_authority.attempts(RPC)) <= 4
    assert len(small_authority.state.records) == 1


async def test_overload_of_one_commit_is_its_own_and_the_others_go_on(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Without RetryInfo nothing asks to be tried again.
    small_authority.state.refused_items["full"].append(Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED"))

    outcomes = await all_of(client.commit_stream(await items_under(client, "full", "good")))

    assert isinstance(outcomes[0].outcome, Overloaded)
    assert not outcomes[1].result().replayed


# --- what is taken ----------------------------------------------------------------------------------------------------


async def test_no_more_is_taken_than_the_window_while_nobody_reads(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given many commits, and somebody who reads one outcome and stops
    items, taken = await items_under(client, *(f"k{number}" for number in range(12))), 0

    def source() -> Iterator[CommitItem]:
        nonlocal taken
        for item in items:
            taken += 1
            yield item

    async with aclosing(client.commit_stream(source(), window=4)) as streaming:
        await anext(streaming)
        await until(lambda: len(small_authority.state.records) >= 4)
        assert taken <= 5
        # When the others are read, then the others are taken
        rest = await all_of(streaming)

    assert len(rest) == 11
    assert taken == 12


async def test_what_the_source_raises_is_raised_once_the_others_have_come_out(client: CapabilityAuthority) -> None:
    items = await items_under(client, "a", "b")

    async def source() -> AsyncIterator[CommitItem]:
        for item in items:
            yield item
        raise ZeroDivisionError

    seen: list[StreamedCommit] = []
    with pytest.raises(ZeroDivisionError):
        await all_into(seen, client.commit_stream(source()))
    assert keys_of(seen) == ["a", "b"]


async def test_a_commit_that_cannot_be_sent_is_told_of_once_the_others_have_come_out(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    good, bad = await items_under(client, "a", "b")
    bad = CommitItem(bad.capability, content={"not": float("nan")})

    seen: list[StreamedCommit] = []
    with pytest.raises(JsonError):
        await all_into(seen, client.commit_stream([good, bad]))
    assert keys_of(seen) == ["a"]
    assert small_authority.state.streamed == [["a"]]


async def test_a_commit_that_grpc_would_not_take_is_refused_alone(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    small, giant = await items_under(client, "small", "giant")
    giant = CommitItem(giant.capability, content=bytes(4 * 1024 * 1024))

    outcomes = {one.commit_idempotency_key: one.outcome async for one in client.commit_stream([giant, small])}

    assert isinstance(outcomes["giant"], TransportError)
    assert "not sent" in str(outcomes["giant"])
    assert isinstance(outcomes["small"], Committed)
    assert small_authority.state.streamed == [["small"]]


@pytest.mark.parametrize("given", [{"window": 0}, {"timeout": 0.0}])
async def test_a_stream_that_could_send_nothing_is_refused(
    client: CapabilityAuthority, given: dict[str, float]
) -> None:
    with pytest.raises(ValueError, match="a stream needs a window"):
        await all_of(client.commit_stream([], **given))  # type: ignore[arg-type]  # what is wrong is the point


# --- what is believed -------------------------------------------------------------------------------------------------


async def test_a_receipt_for_something_else_is_that_commits_failure(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    items = await items_under(client, "a", "b")
    await client.commit(items[0].capability, content=CONTENT)
    small_authority.state.receipts["b"] = small_authority.state.receipts["a"]

    outcomes = await all_of(client.commit_stream(items))

    assert outcomes[0].result().replayed
    assert isinstance(outcomes[1].outcome, ReceiptRejected)


async def test_another_issuer_is_refused_before_anything_is_sent(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    items = await items_under(client, "a")
    small_authority.state.issuer = "somebody.else"

    with pytest.raises(KeySetRefused):
        await all_of(client.commit_stream(items))
    assert small_authority.attempts(RPC) == []


async def test_without_verification_receipts_are_handed_over_as_they_came(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    (outcome,) = await all_of(client.commit_stream(await items_under(client, "a"), verify=False))

    assert outcome.result().receipt.says is None
    assert small_authority.attempts("GetKeySet") == []


# --- time -------------------------------------------------------------------------------------------------------------


async def test_a_commit_without_an_outcome_in_its_time_is_let_go_and_the_others_go_on(
    small_authority: SmallAuthority,
) -> None:
    # Given an authority that never answers one of them
    time = Patience()
    small_authority.state.silent_items.add("silent")
    credentials = small_authority.register()
    async with CapabilityAuthority.connect(credentials=credentials, retries=time.policy, timeout=3_600) as client:
        items = await items_under(client, "silent", "good", "late")
        sent_last = asyncio.Event()

        async def source() -> AsyncIterator[CommitItem]:
            yield items[0]
            yield items[1]
            await sent_last.wait()
            yield items[2]

        seen: list[StreamedCommit] = []
        async for one in client.commit_stream(source()):
            seen.append(one)
            if one.commit_idempotency_key == "good":
                # When its time has passed
                await until(lambda: time.sleepers > 0)
                time.pass_(3_600)
            else:
                sent_last.set()

    # Then it may have happened, as it has, and its key finds out; the stream went on
    assert keys_of(seen) == ["good", "silent", "late"]
    silent = seen[1].outcome
    assert isinstance(silent, DeadlineExceeded)
    assert (silent.key, silent.outcome_unknown) == ("silent", True)
    assert small_authority.state.streamed == [["silent", "good", "late"]]


async def test_a_commit_whose_time_is_up_in_a_pause_is_told_what_the_pause_was_for(
    small_authority: SmallAuthority,
) -> None:
    # Given an authority that is away, and a long pause before it is asked again
    time = Patience()
    credentials = small_authority.register()
    async with CapabilityAuthority.connect(credentials=credentials, retries=time.policy, timeout=3_600) as client:
        items = await items_under(client, "a")
        small_authority.upset(RPC, UNAVAILABLE)
        pausing = time.policy.sleep

        async def sleep(seconds: float) -> None:
            # The pause before the second stream never ends.
            await (pausing(seconds) if seconds >= 60 else asyncio.Event().wait())

        client._retries = RetryPolicy(sleep=sleep, clock=lambda: time.now)  # noqa: SLF001  # in the middle of it
        streaming = asyncio.create_task(all_of(client.commit_stream(items)))
        await until(lambda: len(small_authority.attempts(RPC)) == 1 and time.sleepers > 0)
        time.pass_(3_600)
        (outcome,) = await streaming

    # Then what is told is why it was not sent
    assert isinstance(outcome.outcome, Unavailable | TransportError)
    assert outcome.outcome.attempts == 1


async def test_a_commit_that_was_never_sent_in_its_time_has_not_happened(small_authority: SmallAuthority) -> None:
    # Given an authority that opens no stream, and does not say so
    time, hang = Patience(), Hang()
    small_authority.upset(RPC, hang)
    credentials = small_authority.register()
    async with CapabilityAuthority.connect(credentials=credentials, retries=time.policy, timeout=3_600) as client:
        items = await items_under(client, "a")
        streaming = asyncio.create_task(all_of(client.commit_stream(items)))
        await hang.begun.wait()
        await until(lambda: time.sleepers > 0)
        time.pass_(3_600)
        (outcome,) = await streaming

    # Then it is known that nothing happened
    assert isinstance(outcome.outcome, DeadlineExceeded)
    assert "not sent" in str(outcome.outcome)
    assert not outcome.outcome.outcome_unknown
    assert small_authority.state.streamed == []


# --- how it ends early ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["left", "cancelled"])
async def test_leaving_early_gives_the_stream_up_and_leaves_nothing_running(
    client: CapabilityAuthority, small_authority: SmallAuthority, way: str
) -> None:
    # Given a stream on which something was committed and something waits
    items = await items_under(client, "good", "silent")
    small_authority.state.silent_items.add("silent")
    got_one = asyncio.Event()

    async def stream() -> None:
        async with aclosing(client.commit_stream(items)) as streaming:
            async for _ in streaming:
                got_one.set()
                if way == "left":
                    return

    # When its reader leaves, or is cancelled
    reading = asyncio.create_task(stream())
    await got_one.wait()
    if way == "cancelled":
        reading.cancel()
    await asyncio.wait([reading])

    # Then nothing is left of it, and the connection goes on
    assert [task for task in asyncio.all_tasks() if "StreamedItems" in repr(task.get_coro())] == []
    assert not (await client.commit((await items_under(client, "next"))[0].capability, content=CONTENT)).replayed


async def test_closing_the_client_ends_its_streams(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    items = await items_under(client, "good", "silent")
    small_authority.state.silent_items.add("silent")
    seen: list[StreamedCommit] = []

    async def close_after_the_first() -> None:
        async for one in client.commit_stream(items):
            seen.append(one)
            await client.close()

    with pytest.raises((TransportError, ConnectionClosed)):
        await close_after_the_first()
    assert keys_of(seen)[0] == "good"
