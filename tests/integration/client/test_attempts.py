"""What is sent, how often, and what is kept: proofs, keys, retries, deadlines, cancellation."""

import asyncio
import time
from dataclasses import replace

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.embedded.ports import free_port
from capability_authority import CapabilityAuthority, RetryPolicy
from capability_authority.client import (
    ConnectionClosed,
    DeadlineExceeded,
    Expired,
    InProgress,
    Overloaded,
    ProofReplayed,
    TransportError,
    Unavailable,
)
from capability_authority.offline import sha256
from capability_authority.v1.capability_service_pb2 import CommitValidatedRequest, StreamCommitValidatedRequest
from capability_authority.v1.proposal_service_pb2 import CreateProposalRequest
from tests.integration.client.exchange import CONTENT, IMPATIENT, issued
from tests.integration.client.small_authority import SmallAuthority
from tests.integration.client.witness import Hang, LoseAnswer, Refusal, Refuse

UNAVAILABLE = Refuse(Refusal(grpc.StatusCode.UNAVAILABLE, "DEPENDENCY_UNAVAILABLE", retry_delay=0.001))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(text=TEXT, namespace=TEXT, refs=st.lists(TEXT, max_size=5))
async def test_what_is_signed_is_what_is_sent(text: str, namespace: str, refs: list[str]) -> None:
    # Given an authority that judges each proof against the bytes as they arrive
    async with (
        SmallAuthority().serving() as small_authority,
        CapabilityAuthority.connect(credentials=small_authority.register()) as client,
    ):
        # When any proposal is sent
        await client.propose(memory_namespace=namespace, memory_type="critique", content=text, source_refs=refs)

        # Then the proof is over exactly these bytes, and they say exactly this
        (attempt,) = small_authority.attempts("CreateProposal")
        assert attempt.invocation is not None
        assert attempt.invocation.request_digest == sha256(attempt.request_bytes)
        sent = CreateProposalRequest.FromString(attempt.request_bytes)
        assert (sent.content.decode(), sent.memory_namespace, list(sent.source_refs)) == (text, namespace, refs)


async def test_a_retry_sends_the_same_bytes_and_key_with_a_new_proof(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given a commit that is refused for now, twice
    capability = await issued(client)
    small_authority.upset("CommitValidated", UNAVAILABLE, UNAVAILABLE)

    # When it is made
    committed = await client.commit(capability, content=CONTENT)

    # Then the third attempt succeeded, and all three were one request in three proofs
    attempts = small_authority.attempts("CommitValidated")
    assert not committed.replayed
    assert len(attempts) == 3
    assert len({attempt.request_bytes for attempt in attempts}) == 1
    sent = CommitValidatedRequest.FromString(attempts[0].request_bytes)
    assert sent.presentation.commit_idempotency_key == capability.commit_idempotency_key
    nonces = {attempt.invocation.nonce for attempt in attempts if attempt.invocation is not None}
    assert len(nonces) == 3


async def test_an_envelope_goes_without_a_proof_and_is_the_same_in_every_attempt(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given a commit by an envelope that is refused for now
    capability = await issued(client)
    small_authority.upset("CommitValidated", UNAVAILABLE)

    # When it is made
    await client.commit(capability, content=CONTENT, upstream_envelope=b'{"keyId":"\xc3\xa9"}')

    # Then both attempts brought the envelope as it was given, and no Invocation
    attempts = small_authority.attempts("CommitValidated")
    sent = {CommitValidatedRequest.FromString(one.request_bytes).upstream_envelope_json for one in attempts}
    assert (len(attempts), sent) == (2, {'{"keyId":"\u00e9"}'})
    assert [one.invocation for one in attempts] == [None, None]
    with pytest.raises(UnicodeDecodeError):
        await client.commit(capability, content=CONTENT, upstream_envelope=b"\xff")


async def test_a_stream_is_no_call(client: CapabilityAuthority) -> None:
    with pytest.raises(ValueError, match="StreamCommitValidated is a stream"):
        await client.call("StreamCommitValidated", StreamCommitValidatedRequest())


async def test_a_made_up_request_id_is_kept_across_attempts(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    small_authority.upset("CreateProposal", LoseAnswer(), LoseAnswer())

    await client.propose(memory_namespace="m", memory_type="critique", content="text")
    await client.propose(memory_namespace="m", memory_type="critique", content="text")

    sent = [
        CreateProposalRequest.FromString(attempt.request_bytes).request_id
        for attempt in small_authority.attempts("CreateProposal")
    ]
    assert len(sent) == 4
    assert len(set(sent[:3])) == 1
    assert sent[3] not in sent[:3]


async def test_a_lost_answer_to_a_commit_is_found_by_the_same_key(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given an authority whose first answer never arrives
    small_authority.upset("CommitValidated", LoseAnswer())

    # When a commit is made
    committed = await client.commit(await issued(client), content=CONTENT)

    # Then it happened once, and the caller has the first attempt's receipt
    assert committed.replayed
    assert list(small_authority.state.records) == [committed.record_id]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (grpc.StatusCode.UNAUTHENTICATED, "CALLER_UNAUTHENTICATED"),
        (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED"),
        (grpc.StatusCode.PERMISSION_DENIED, "PROOF_INVALID"),
        (grpc.StatusCode.PERMISSION_DENIED, "BINDING_MISMATCH"),
        (grpc.StatusCode.ALREADY_EXISTS, "IDEMPOTENCY_CONFLICT"),
        (grpc.StatusCode.FAILED_PRECONDITION, "EXPIRED"),
        (grpc.StatusCode.NOT_FOUND, "NOT_FOUND"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, ""),
        (grpc.StatusCode.UNIMPLEMENTED, "NOT_IMPLEMENTED"),
        (grpc.StatusCode.INTERNAL, "INTERNAL"),
    ],
)
async def test_a_refusal_is_final_at_once(
    client: CapabilityAuthority, small_authority: SmallAuthority, code: grpc.StatusCode, reason: str
) -> None:
    capability = await issued(client)
    small_authority.upset("CommitValidated", Refuse(Refusal(code, reason)))

    with pytest.raises(Exception, match=reason or code.name) as caught:
        await client.commit(capability, content=CONTENT)

    assert getattr(caught.value, "retryable", None) is False
    assert len(small_authority.attempts("CommitValidated")) == 1


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal(grpc.StatusCode.UNAVAILABLE),
        Refusal(grpc.StatusCode.UNAVAILABLE, "DEPENDENCY_UNAVAILABLE"),
        Refusal(grpc.StatusCode.ABORTED, "IN_PROGRESS", retry_delay=0.001),
        Refusal(grpc.StatusCode.ABORTED, "CONTENTION"),
        Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED", retry_delay=0.001),
        Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "BUDGET_EXHAUSTED", retry_delay=0.001),
    ],
)
async def test_what_may_pass_is_tried_again(
    client: CapabilityAuthority, small_authority: SmallAuthority, refusal: Refusal
) -> None:
    small_authority.upset("GetProposal", Refuse(refusal))
    proposal = await client.propose(memory_namespace="m", memory_type="critique", content="text")

    assert (await client.get_proposal(proposal.proposal_id)).message == proposal.message

    assert len(small_authority.attempts("GetProposal")) == 2


async def test_attempts_are_counted_and_the_last_refusal_is_raised(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    capability = await issued(client)
    small_authority.upset("CommitValidated", *[UNAVAILABLE] * 9)

    with pytest.raises(Unavailable) as caught:
        await client.commit(capability, content=CONTENT)

    error = caught.value
    assert (error.attempts, error.retryable, error.outcome_unknown) == (5, True, True)
    assert error.key == capability.commit_idempotency_key
    assert f"call again with the same commit_idempotency_key {error.key}" in str(error)
    assert len(small_authority.attempts("CommitValidated")) == 5


async def test_a_verdict_after_a_lost_answer_settles_the_doubt_and_an_overload_does_not(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    capability = await issued(client)
    lost = Refuse(Refusal(grpc.StatusCode.UNAVAILABLE))

    small_authority.upset("CommitValidated", lost, Refuse(Refusal(grpc.StatusCode.FAILED_PRECONDITION, "EXPIRED")))
    with pytest.raises(Expired) as settled:
        await client.commit(capability, content=CONTENT)

    small_authority.upset("CommitValidated", lost, Refuse(Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")))
    with pytest.raises(Overloaded) as open_still:
        await client.commit(capability, content=CONTENT)

    small_authority.upset("CommitValidated", Refuse(Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")))
    with pytest.raises(Overloaded) as never_open:
        await client.commit(capability, content=CONTENT)

    unknown = [caught.value.outcome_unknown for caught in (settled, open_still, never_open)]
    assert unknown == [False, True, False]


async def test_f03_an_attempt_that_runs_out_of_time_is_asked_again(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given a first attempt that never ends
    capability = await issued(client)
    hang = Hang()
    small_authority.upset("CommitValidated", hang)

    # When the commit may take two seconds, each attempt half of it
    committed = await client.commit(capability, content=CONTENT, timeout=2.0)

    # Then the first was given up, on the server too, and the second succeeded
    await hang.given_up.wait()
    assert not committed.replayed
    assert len(small_authority.attempts("CommitValidated")) == 2


async def test_f03_the_deadline_bounds_all_attempts_together(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    small_authority.upset("CreateProposal", *[Hang() for _ in range(9)])
    begun = time.monotonic()

    with pytest.raises(DeadlineExceeded) as caught:
        await client.propose(memory_namespace="m", memory_type="critique", content="text", timeout=2.0)

    assert time.monotonic() - begun < 10
    assert isinstance(caught.value, TimeoutError)
    assert (caught.value.code, caught.value.outcome_unknown) == (grpc.StatusCode.DEADLINE_EXCEEDED, True)
    assert caught.value.attempts == 2


async def test_waiting_that_would_outlast_the_deadline_is_not_begun(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    later = Refuse(Refusal(grpc.StatusCode.ABORTED, "IN_PROGRESS", retry_delay=60))
    small_authority.upset("CreateProposal", later)
    begun = time.monotonic()

    with pytest.raises(InProgress):
        await client.propose(memory_namespace="m", memory_type="critique", content="text")

    assert time.monotonic() - begun < 5
    assert len(small_authority.attempts("CreateProposal")) == 1


async def test_cancelling_a_call_cancels_the_rpc(client: CapabilityAuthority, small_authority: SmallAuthority) -> None:
    # Given a commit that is running on the server
    capability = await issued(client)
    hang = Hang()
    small_authority.upset("CommitValidated", hang)
    running = asyncio.create_task(client.commit(capability, content=CONTENT))
    await hang.begun.wait()

    # When its caller gives up
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    # Then the server learns of it, nothing is tried again, and the same key still commits
    await hang.given_up.wait()
    assert len(small_authority.attempts("CommitValidated")) == 1
    assert not (await client.commit(capability, content=CONTENT)).replayed


async def test_closing_the_client_ends_its_calls_with_an_error(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    hang = Hang()
    small_authority.upset("CreateProposal", hang)
    running = asyncio.create_task(client.propose(memory_namespace="m", memory_type="critique", content="text"))
    await hang.begun.wait()

    await client.close()

    with pytest.raises(TransportError, match="closed") as caught:
        await running
    assert caught.value.outcome_unknown
    with pytest.raises(ConnectionClosed, match="async with"):
        await client.get_proposal("any")


async def test_a_client_is_used_inside_async_with(small_authority: SmallAuthority) -> None:
    client = CapabilityAuthority.connect(credentials=small_authority.register())

    with pytest.raises(ConnectionClosed, match="async with"):
        await client.get_proposal("any")
    async with client:
        with pytest.raises(RuntimeError, match="entered already"):
            await client.__aenter__()


async def test_nobody_listening_is_a_transport_error_that_says_so() -> None:
    # Given credentials of an authority that has stopped
    async with SmallAuthority().serving() as stopped:
        credentials = stopped.register()

    async with CapabilityAuthority.connect(credentials=credentials, retries=IMPATIENT) as client:
        with pytest.raises(TransportError, match="UNAVAILABLE") as written:
            await client.propose(memory_namespace="m", memory_type="critique", content="text", request_id="r-1")
        with pytest.raises(TransportError, match="UNAVAILABLE") as read:
            await client.get_proposal("any")

    # A mutation may have happened as far as anyone can tell; a read changes nothing.
    assert (written.value.outcome_unknown, written.value.key) == (True, "r-1")
    assert (read.value.outcome_unknown, read.value.key) == (False, "")
    assert read.value.attempts == 5


async def test_f10_a_server_that_comes_back_is_found_within_the_deadline() -> None:
    # Given a client whose server is gone, and comes back at the same address once the client has waited
    # The port is none that the kernel gives to connections: a client that tries it again and again might get it itself.
    async with SmallAuthority().serving(f"127.0.0.1:{free_port()}") as first:
        credentials = first.register()
    second = SmallAuthority()
    second.accept(credentials)
    waited = asyncio.Event()

    async def wait(seconds: float) -> None:
        waited.set()
        await asyncio.sleep(seconds)

    patient = RetryPolicy(attempts=1000, longest_delay=0.05, sleep=wait)
    async with CapabilityAuthority.connect(credentials=credentials, retries=patient) as client:
        # When a call is made
        running = asyncio.create_task(client.propose(memory_namespace="m", memory_type="critique", content="text"))
        await waited.wait()
        async with second.serving(credentials.target):
            proposal = await running

    # Then it is answered by the one that came back
    assert list(second.state.proposals) == [proposal.proposal_id]


async def test_a_request_that_grpc_would_not_take_is_not_sent(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    with pytest.raises(TransportError, match="not sent") as caught:
        await client.propose(memory_namespace="m", memory_type="critique", content="x" * 4 * 1024 * 1024)

    assert (caught.value.outcome_unknown, caught.value.retryable) == (False, False)
    assert small_authority.attempts("CreateProposal") == []


async def test_a_replayed_read_proof_is_told_as_such(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given a client whose nonces repeat, as a broken random source would have it
    prover = client._prover  # noqa: SLF001  # the one seam through which time and chance come in
    client._prover = replace(prover, new_nonce=lambda: bytes(16))  # noqa: SLF001
    proposal = await client.propose(memory_namespace="m", memory_type="critique", content="text")

    with pytest.raises(ProofReplayed):
        await client.get_proposal(proposal.proposal_id)


async def test_trace_context_goes_along(client: CapabilityAuthority, small_authority: SmallAuthority) -> None:
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    await client.propose(memory_namespace="m", memory_type="critique", content="text", traceparent=parent)
    await client.propose(memory_namespace="m", memory_type="critique", content="text")

    told, untold = small_authority.attempts("CreateProposal")
    assert told.metadata["traceparent"] == parent
    assert "traceparent" not in untold.metadata


async def test_many_calls_share_one_client(client: CapabilityAuthority, small_authority: SmallAuthority) -> None:
    capability = await issued(client)

    committed = await asyncio.gather(*[client.commit(capability, content=CONTENT) for _ in range(50)])

    assert len({one.receipt_id for one in committed}) == 1
    assert len(small_authority.attempts("GetKeySet")) == 1


def test_a_policy_that_cannot_send_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one attempt"):
        RetryPolicy(attempts=0)
