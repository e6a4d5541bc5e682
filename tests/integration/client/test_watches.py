"""Watches of the client: what is cut is gone on with, and what does not follow is refused."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import grpc
import pytest
from grpc import aio

from capability_authority.client import CallerUnauthenticated, CapabilityAuthority, RetryPolicy
from capability_authority.client.proofs import Prover
from capability_authority.client.rpcs import rpc_named
from capability_authority.client.statuses import KeyedCall
from capability_authority.client.watches import watched
from capability_authority.offline import (
    PROOF_METADATA_KEY,
    FeedBroken,
    KeyUnknown,
    PrivateKey,
    SignatureInvalid,
    sign,
    timestamp,
)
from capability_authority.v1 import types_pb2 as types
from capability_authority.v1.capability_service_pb2 import WatchRevocationsRequest, WatchRevocationsResponse
from capability_authority.v1.statements_pb2 import (
    REVOKED_KIND_CAPABILITY,
    Revocation,
    RevocationHeartbeat,
    SignedStatement,
)
from tests.integration.client.small_authority import SmallAuthority
from tests.integration.client.state import NOW_MS, TENANT
from tests.integration.client.witness import Hang, LoseAnswer, Refusal, Refuse

RPC = "WatchRevocations"


class Pauses:
    """How long was waited between streams, without waiting."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        """Waits not."""
        self.seconds.append(seconds)


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
async def client(small_authority: SmallAuthority, pauses: Pauses) -> AsyncIterator[CapabilityAuthority]:
    retries = RetryPolicy(sleep=pauses, random=lambda: 1.0)
    connection = CapabilityAuthority.connect(credentials=small_authority.register(), retries=retries)
    async with connection as authority:
        yield authority


def item(authority: SmallAuthority, sequence: int, previous: int) -> SignedStatement:
    says = Revocation(
        issuer=authority.state.issuer,
        tenant=TENANT,
        sequence=sequence,
        previous_sequence=previous,
        kind=REVOKED_KIND_CAPABILITY,
        subject=f"c-{sequence}",
        revoke_time=timestamp(NOW_MS),
    )
    return sign(says, authority.state.signing[types.KEY_PURPOSE_REVOCATION])


def told(authority: SmallAuthority, *items: tuple[int, int], heartbeat: int | None = None) -> WatchRevocationsResponse:
    """A message with items (sequence, previous), and perhaps a heartbeat at a sequence."""
    message = WatchRevocationsResponse(revocations=[item(authority, *one) for one in items])
    if heartbeat is not None:
        says = RevocationHeartbeat(
            issuer=authority.state.issuer, tenant=TENANT, sequence=heartbeat, as_of_time=timestamp(NOW_MS)
        )
        message.heartbeat.CopyFrom(sign(says, authority.state.signing[types.KEY_PURPOSE_REVOCATION]))
    return message


async def subjects(client: CapabilityAuthority, count: int) -> list[str]:
    """Of the first so many items."""
    found: list[str] = []
    async with aclosing(client.watch_revocations()) as watch:
        while len(found) < count:
            found += [one.subject for one in (await anext(watch)).revoked]
    return found


def cursors(authority: SmallAuthority) -> list[int]:
    """That watches were opened with."""
    return [WatchRevocationsRequest.FromString(one.request_bytes).cursor for one in authority.attempts(RPC)]


async def test_a_watch_goes_on_after_what_was_told_when_a_stream_ends_or_is_cut(
    small_authority: SmallAuthority, client: CapabilityAuthority, pauses: Pauses
) -> None:
    # Given a stream that ends, one that is cut, and one that cannot be opened
    state = small_authority.state
    state.feed = [told(small_authority, (3, 0), (5, 3), heartbeat=5)]
    unavailable = Refuse(Refusal(grpc.StatusCode.UNAVAILABLE, "DEPENDENCY_UNAVAILABLE"))
    small_authority.upset(RPC, LoseAnswer(), unavailable)
    found: list[str] = []
    async with aclosing(client.watch_revocations()) as watch:
        found += [one.subject for one in (await anext(watch)).revoked]
        state.feed.append(told(small_authority, (9, 5), heartbeat=9))
        # When it is gone on with
        found += [one.subject for one in (await anext(watch)).revoked]
    # Then it is by the cursor of what was told, by a proof of its own each time, after pauses that grow
    assert found == ["c-3", "c-5", "c-9"]
    assert cursors(small_authority) == [0, 5, 5]
    proofs = {one.invocation.nonce for one in small_authority.attempts(RPC) if one.invocation}
    assert len(proofs) == 3
    assert pauses.seconds == sorted(pauses.seconds)
    assert len(pauses.seconds) == 2


async def test_a_stream_that_falls_silent_is_taken_for_cut(small_authority: SmallAuthority, pauses: Pauses) -> None:
    # Given a stream on which nothing comes, and one on which something does
    hanging = Hang()
    small_authority.upset(RPC, hanging)
    small_authority.state.feed = [told(small_authority, (3, 0))]
    prover, rpc = Prover(small_authority.register()), rpc_named(RPC)
    async with aio.insecure_channel(small_authority.target) as channel:

        def connect(data: bytes) -> "aio.UnaryStreamCall[bytes, bytes]":
            method: aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(rpc.path)
            return method(data, metadata=[(PROOF_METADATA_KEY, prover.prove(rpc.path, data))])

        # When a watch has waited for long enough, then it gives the one up and opens another
        messages = watched(
            KeyedCall(rpc),
            WatchRevocationsRequest(),
            WatchRevocationsResponse,
            connect,
            lambda _: None,
            RetryPolicy(sleep=pauses),
            silence_s=2.0,
        )
        async with aclosing(messages):
            assert len((await anext(messages)).revocations) == 1
    assert hanging.begun.is_set()
    assert len(small_authority.attempts(RPC)) >= 2


async def test_a_refusal_that_is_final_ends_a_watch(
    small_authority: SmallAuthority, client: CapabilityAuthority
) -> None:
    small_authority.upset(RPC, Refuse(Refusal(grpc.StatusCode.UNAUTHENTICATED, "CALLER_UNAUTHENTICATED")))
    with pytest.raises(CallerUnauthenticated):
        await subjects(client, 1)
    assert len(small_authority.attempts(RPC)) == 1


@pytest.mark.parametrize(
    "messages",
    [[((3, 0), (9, 5))], [((3, 0),), ((9, 5),)], [((5, 3),)], [((3, 0), (3, 0))], [((5, 0), (3, 0))]],
    ids=["left out", "left out between messages", "the first left out", "told twice", "out of order"],
)
async def test_what_does_not_follow_is_refused(
    small_authority: SmallAuthority, client: CapabilityAuthority, messages: Sequence[Sequence[tuple[int, int]]]
) -> None:
    small_authority.state.feed = [told(small_authority, *items) for items in messages]
    with pytest.raises(FeedBroken):
        await subjects(client, 3)


async def test_an_item_that_is_withheld_is_noticed_by_the_next_heartbeat(
    small_authority: SmallAuthority, client: CapabilityAuthority
) -> None:
    small_authority.state.feed = [told(small_authority, (3, 0), heartbeat=5)]
    with pytest.raises(FeedBroken, match="the feed goes to 5"):
        await subjects(client, 2)


async def test_a_forged_item_and_one_of_a_stranger_are_refused(
    small_authority: SmallAuthority, client: CapabilityAuthority
) -> None:
    forged = told(small_authority, (3, 0))
    says = Revocation.FromString(forged.revocations[0].payload)
    says.subject = "c-4"
    forged.revocations[0].payload = says.SerializeToString(deterministic=True)
    small_authority.state.feed = [forged]
    with pytest.raises(SignatureInvalid):
        await subjects(client, 1)
    strange = WatchRevocationsResponse(revocations=[sign(says, PrivateKey.generate())])
    small_authority.state.feed = [strange]
    with pytest.raises(KeyUnknown):
        await subjects(client, 1)


async def test_a_key_that_is_new_is_looked_for_once(
    small_authority: SmallAuthority, client: CapabilityAuthority
) -> None:
    # Given a client that knows the keys of before, and a key that was rotated since
    await client.key_set()
    small_authority.state.signing[types.KEY_PURPOSE_REVOCATION] = PrivateKey.generate()
    small_authority.state.feed = [told(small_authority, (3, 0), (5, 3), heartbeat=5)]
    # Then the keys are fetched again, once for all items
    assert await subjects(client, 2) == ["c-3", "c-5"]
    assert len(small_authority.attempts("GetKeySet")) == 2
