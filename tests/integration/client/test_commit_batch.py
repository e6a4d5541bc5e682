"""Many commits by one verb: divided, asked again item by item, and answered in order."""

from itertools import chain

import grpc
import pytest

from capability_authority import CapabilityAuthority
from capability_authority.client import (
    AuthorityError,
    BindingMismatch,
    CallerUnauthenticated,
    CommitItem,
    Committed,
    Expired,
    IssuedCapability,
    LimitExceeded,
    ReceiptRejected,
    TransportError,
)
from capability_authority.offline import JsonError, KeySetRefused, PayloadTypeMismatch, PrivateKey, sha256, to_wire
from capability_authority.v1.capability_service_pb2 import BatchCommitValidatedRequest
from capability_authority.v1.statements_pb2 import SignedStatement
from capability_authority.v1.types_pb2 import KEY_PURPOSE_RECEIPT, KEY_STATE_RETIRING
from tests.integration.client.exchange import CONTENT, CONTENT_BYTES, issued
from tests.integration.client.small_authority import SmallAuthority
from tests.integration.client.test_attempts import UNAVAILABLE
from tests.integration.client.witness import Hang, LoseAnswer, Refusal, Refuse

RPC = "BatchCommitValidated"
BUSY = Refusal(grpc.StatusCode.ABORTED, "IN_PROGRESS", retry_delay=0.001)
EXPIRED = Refusal(grpc.StatusCode.FAILED_PRECONDITION, "EXPIRED")


async def issued_under(client: CapabilityAuthority, *keys: str) -> list[IssuedCapability]:
    """A capability under each commit key."""
    return [await issued(client, commit_idempotency_key=key) for key in keys]


def commits_of(capabilities: list[IssuedCapability]) -> list[CommitItem]:
    """A good commit with each."""
    return [CommitItem(capability, content=CONTENT) for capability in capabilities]


def keys_of(answers: list[Committed | AuthorityError]) -> list[str]:
    """Whose result each answer is, by its verified receipt; '' for one that is none."""
    return [
        one.receipt.says.capability.commit_idempotency_key if isinstance(one, Committed) and one.receipt.says else ""
        for one in answers
    ]


def sent(small_authority: SmallAuthority) -> list[list[str]]:
    """The commit keys of each call, as they arrived."""
    requests = [BatchCommitValidatedRequest.FromString(one.request_bytes) for one in small_authority.attempts(RPC)]
    return [[item.presentation.commit_idempotency_key for item in request.requests] for request in requests]


async def test_each_has_its_result_or_its_refusal_in_order(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given good commits, one that was committed before, one with other content and one that has expired
    capabilities = await issued_under(client, "new", "settled", "changed", "expired", "last")
    before = await client.commit(capabilities[1], content=CONTENT)
    small_authority.state.refused_items["expired"].append(EXPIRED)
    items = commits_of(capabilities)
    items[2] = CommitItem(capabilities[2], content="something else", media_type="text/plain")

    # When they are committed together
    answers = await client.commit_batch(items)

    # Then each has what `commit` would have returned or raised
    assert keys_of(answers) == ["new", "settled", "", "", "last"]
    assert [one.replayed for one in answers if isinstance(one, Committed)] == [False, True, False]
    assert isinstance(answers[1], Committed)
    assert answers[1].receipt == before.receipt
    assert isinstance(answers[2], BindingMismatch)
    assert (answers[2].term, answers[2].expected) == ("content_digest", to_wire(sha256(CONTENT_BYTES)))
    assert answers[2].presented == to_wire(sha256(b"something else"))
    assert isinstance(answers[3], Expired)
    assert (answers[3].key, answers[3].outcome_unknown) == ("expired", False)
    assert sent(small_authority) == [["new", "settled", "changed", "expired", "last"]]


async def test_one_proof_covers_the_bytes_of_the_whole(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    await client.commit_batch(commits_of(await issued_under(client, "a", "b")))

    (attempt,) = small_authority.attempts(RPC)
    assert attempt.invocation is not None
    assert attempt.invocation.request_digest == sha256(attempt.request_bytes)


async def test_more_than_a_batch_may_hold_goes_in_several_in_order(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given the same two commits over and over
    capabilities = await issued_under(client, "a", "b")

    # When there are more than two batches of them
    answers = await client.commit_batch(commits_of(capabilities * 513))

    # Then there are three calls, and the answers stand in the order of what was asked
    assert [len(keys) for keys in sent(small_authority)] == [512, 512, 2]
    assert list(chain.from_iterable(sent(small_authority))) == keys_of(answers) == ["a", "b"] * 513


async def test_large_commits_go_in_several_calls(client: CapabilityAuthority, small_authority: SmallAuthority) -> None:
    contents = [bytes([number]) * 1024 * 1024 for number in b"abcde"]
    capabilities = [await issued(client, content.decode()) for content in contents]

    answers = await client.commit_batch(
        CommitItem(capability, content=content) for capability, content in zip(capabilities, contents, strict=True)
    )

    assert keys_of(answers) == [one.commit_idempotency_key for one in capabilities]
    # What surrounds the content keeps three of a mebibyte out of one call.
    assert [len(keys) for keys in sent(small_authority)] == [2, 2, 1]


async def test_a_lost_answer_is_asked_for_again_with_the_same_bytes_and_keys(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    small_authority.upset(RPC, LoseAnswer(), UNAVAILABLE)

    answers = await client.commit_batch(commits_of(await issued_under(client, "a", "b")))

    assert [one.replayed for one in answers if isinstance(one, Committed)] == [True, True]
    attempts = small_authority.attempts(RPC)
    assert len(attempts) == 3
    assert len({attempt.request_bytes for attempt in attempts}) == 1
    assert len({attempt.invocation.nonce for attempt in attempts if attempt.invocation is not None}) == 3
    assert len(small_authority.state.records) == 2


async def test_only_what_is_refused_for_now_is_asked_for_again(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    small_authority.state.refused_items["busy"].extend([BUSY, BUSY])
    small_authority.state.refused_items["over"].append(EXPIRED)
    items = commits_of(await issued_under(client, "good", "busy", "over"))

    answers = await client.commit_batch(items)

    assert keys_of(answers) == ["good", "busy", ""]
    assert sent(small_authority) == [["good", "busy", "over"], ["busy"], ["busy"]]


async def test_a_refused_call_is_each_commits_refusal_and_the_others_go_on(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given a batch so large that it is two calls, of which the authority will not know the first caller
    capability = await issued(client, commit_idempotency_key="a")
    unknown = Refusal(grpc.StatusCode.UNAUTHENTICATED, "CALLER_UNAUTHENTICATED")
    small_authority.upset(RPC, Refuse(unknown))

    answers = await client.commit_batch(commits_of([capability] * 513))

    refused, last = answers[:512], answers[512]
    assert all(isinstance(one, CallerUnauthenticated) and one.key == "a" for one in refused)
    assert isinstance(last, Committed)


async def test_f03_time_is_for_all_calls_together(client: CapabilityAuthority, small_authority: SmallAuthority) -> None:
    # Given an authority whose first call never ends
    capability = await issued(client)
    await client.key_set()
    small_authority.upset(RPC, *[Hang() for _ in range(9)])

    # When there are two calls to make
    answers = await client.commit_batch(commits_of([capability] * 513), timeout=1.0)

    # Then the first may have committed, and the second was not even sent
    assert [one.outcome_unknown for one in answers if isinstance(one, TimeoutError)] == [True] * 512 + [False]
    assert "not sent" in str(answers[512])
    assert {len(keys) for keys in sent(small_authority)} == {512}


async def test_nothing_is_sent_for_nothing(client: CapabilityAuthority, small_authority: SmallAuthority) -> None:
    assert await client.commit_batch([]) == []
    assert small_authority.attempts(RPC) == small_authority.attempts("GetKeySet") == []


async def test_what_cannot_be_sent_is_told_before_anything_is(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    good = await issued(client)

    with pytest.raises(JsonError) as caught:
        await client.commit_batch([CommitItem(good, content=CONTENT), CommitItem(good, content={"n": 2**53})])
    assert caught.value.__notes__ == ["item 1 of the batch, of which nothing was sent"]
    with pytest.raises(PayloadTypeMismatch):
        await client.commit_batch([CommitItem(SignedStatement(payload_type="other"), content=CONTENT)])

    small_authority.state.issuer = "somebody.else"
    with pytest.raises(KeySetRefused):
        await client.commit_batch([CommitItem(good, content=CONTENT)])
    assert small_authority.attempts(RPC) == []


async def test_one_that_grpc_would_not_take_fails_alone(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    good = await issued(client)
    large = b"x" * 4 * 1024 * 1024

    answers = await client.commit_batch([CommitItem(good, content=large), CommitItem(good, content=CONTENT)])

    assert isinstance(answers[0], TransportError)
    assert (answers[0].outcome_unknown, answers[0].retryable) == (False, False)
    assert isinstance(answers[1], Committed)
    assert len(small_authority.attempts(RPC)) == 1


async def test_one_that_no_batch_may_hold_is_refused_alone(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given one over the limit of a batch, which an authority refuses with the whole call
    good = await issued(client)
    over = Refusal(grpc.StatusCode.INVALID_ARGUMENT, "LIMIT_EXCEEDED", {"field": "requests"})
    small_authority.upset(RPC, Refuse(over))
    large = b"x" * (3 * 1024 * 1024 + 1)

    answers = await client.commit_batch([CommitItem(good, content=large), CommitItem(good, content=CONTENT)])

    assert isinstance(answers[0], LimitExceeded)
    assert isinstance(answers[1], Committed)


async def test_a_receipt_that_proves_nothing_is_rejected_alone(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    capabilities = await issued_under(client, "good", "forged")
    await client.commit_batch(commits_of(capabilities))
    small_authority.state.receipts["forged"].receipt.signature.signature = bytes(64)

    answers = await client.commit_batch(commits_of(capabilities))
    unverified = await client.commit_batch(commits_of(capabilities), verify=False)

    assert keys_of(answers) == ["good", ""]
    assert isinstance(answers[1], ReceiptRejected)
    assert answers[1].key == "forged"
    assert [one.receipt.says for one in unverified if isinstance(one, Committed)] == [None, None]


async def test_keys_that_nobody_knows_are_looked_for_once(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given a client that has seen the key set, and an authority that signs with keys outside of it
    capabilities = await issued_under(client, "a", "b", "c")
    await client.key_set()
    small_authority.rotate_receipt_key(KEY_STATE_RETIRING)
    await client.commit_batch(commits_of(capabilities), verify=False)
    small_authority.state.signing[KEY_PURPOSE_RECEIPT] = PrivateKey.generate()

    answers = await client.commit_batch(commits_of(capabilities))

    assert all(isinstance(one, ReceiptRejected) for one in answers)
    assert len(small_authority.attempts("GetKeySet")) == 2


async def test_an_answer_for_another_number_of_requests_is_believed_in_nothing(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    capabilities = await issued_under(client, "a", "b")
    small_authority.state.dropped_outcomes = 1

    answers = await client.commit_batch(commits_of(capabilities))

    for answer in answers:
        assert isinstance(answer, TransportError)
        assert "1 outcomes for 2 requests" in str(answer)
        assert answer.outcome_unknown


async def test_the_rpc_can_be_called_by_its_name(client: CapabilityAuthority, small_authority: SmallAuthority) -> None:
    small_authority.upset(RPC, *[UNAVAILABLE] * 9)

    with pytest.raises(AuthorityError, match="call again with the same requests") as caught:
        await client.call(RPC, BatchCommitValidatedRequest())

    assert caught.value.outcome_unknown
