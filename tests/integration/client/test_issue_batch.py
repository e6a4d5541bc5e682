"""Many capabilities by one verb: divided, asked again item by item, and answered in order."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import grpc
import pytest

from capability_authority import CapabilityAuthority
from capability_authority.client import (
    AuthorityError,
    CallerUnauthenticated,
    IssuedCapability,
    IssueItem,
    NotValidated,
    Reference,
    TransportError,
)
from capability_authority.offline import sha256
from capability_authority.v1.capability_service_pb2 import BatchIssueCapabilitiesRequest, IssueCapabilityRequest
from tests.integration.client.exchange import CONTENT
from tests.integration.client.small_authority import SmallAuthority
from tests.integration.client.test_attempts import UNAVAILABLE
from tests.integration.client.witness import Hang, LoseAnswer, Refusal, Refuse

RPC = "BatchIssueCapabilities"
BUSY = Refusal(grpc.StatusCode.ABORTED, "IN_PROGRESS", retry_delay=0.001)
STALE = Refusal(grpc.StatusCode.FAILED_PRECONDITION, "NOT_VALIDATED")


@pytest.fixture
async def item(client: CapabilityAuthority) -> IssueItem:
    """A request for a capability, its keys not given."""
    proposal = await client.propose(memory_namespace="engineering/reviews", memory_type="critique", content=CONTENT)
    validation, decision = await client.validate(proposal), await client.evaluate_policy(proposal)
    return IssueItem(proposal, validation_receipt=validation.receipt, decision_receipt=decision.receipt)


def under(item: IssueItem, *keys: str) -> list[IssueItem]:
    """The item under each commit key."""
    return [replace(item, commit_idempotency_key=key) for key in keys]


def keys_of(answers: list[IssuedCapability | AuthorityError]) -> list[str]:
    """The commit keys of what was issued; '' for what was not."""
    return [one.commit_idempotency_key if isinstance(one, IssuedCapability) else "" for one in answers]


def sent(small_authority: SmallAuthority) -> list[list[IssueCapabilityRequest]]:
    """The requests of each call, as they arrived."""
    return [
        list(BatchIssueCapabilitiesRequest.FromString(one.request_bytes).requests)
        for one in small_authority.attempts(RPC)
    ]


async def test_each_has_its_capability_or_its_refusal_in_order(
    client: CapabilityAuthority, small_authority: SmallAuthority, item: IssueItem
) -> None:
    # Given requests of which one will be refused
    small_authority.state.refused_items["stale"].append(STALE)

    # When they are asked for together
    answers = await client.issue_batch(under(item, "first", "stale", "last"))

    # Then each has what `issue` would have returned or raised
    assert keys_of(answers) == ["first", "", "last"]
    assert isinstance(answers[0], IssuedCapability)
    assert (await client.verify(answers[0], content=CONTENT)).granted
    assert isinstance(answers[1], NotValidated)
    ((_, stale, _),) = sent(small_authority)
    assert (answers[1].key, answers[1].outcome_unknown) == (stale.request_id, False)


async def test_each_says_what_issue_would_say(
    client: CapabilityAuthority, small_authority: SmallAuthority, item: IssueItem
) -> None:
    # Given a request that leaves everything out, and one that gives everything
    holder = Reference("services", "other")
    full = replace(
        item,
        holder=holder,
        holder_key_id=client.credentials.key_id,
        audience="elsewhere",
        commit_idempotency_key="key",
        lifetime=timedelta(seconds=90),
        request_id="request",
    )
    await client.issue_batch([item, full])

    # When the same is asked for one by one
    given: dict[str, Any] = {
        "validation_receipt": item.validation_receipt,
        "decision_receipt": item.decision_receipt,
    }
    await client.issue(item.proposal, **given)
    await client.issue(
        item.proposal,
        **given,
        holder=holder,
        holder_key_id=client.credentials.key_id,
        audience="elsewhere",
        commit_idempotency_key="key",
        lifetime=timedelta(seconds=90),
        request_id="request",
    )

    # Then the requests are the same, but for the keys that are made up
    ((bare, given_all),) = sent(small_authority)
    alone = [
        IssueCapabilityRequest.FromString(one.request_bytes) for one in small_authority.attempts("IssueCapability")
    ]
    assert given_all == alone[1]
    made_up = {bare.request_id, bare.commit_idempotency_key, alone[0].request_id, alone[0].commit_idempotency_key}
    assert len(made_up) == 4
    for request in (bare, alone[0]):
        request.request_id = request.commit_idempotency_key = ""
    assert bare == alone[0]


async def test_one_proof_covers_the_bytes_of_the_whole(
    client: CapabilityAuthority, small_authority: SmallAuthority, item: IssueItem
) -> None:
    await client.issue_batch(under(item, "a", "b"))

    (attempt,) = small_authority.attempts(RPC)
    assert attempt.invocation is not None
    assert attempt.invocation.request_digest == sha256(attempt.request_bytes)


async def test_more_than_a_batch_may_hold_goes_in_several_in_order(
    client: CapabilityAuthority, small_authority: SmallAuthority, item: IssueItem
) -> None:
    keys = [f"k{number}" for number in range(513)]

    answers = await client.issue_batch(under(item, *keys), timeout=60.0)

    assert [len(requests) for requests in sent(small_authority)] == [512, 1]
    assert keys_of(answers) == keys


async def test_a_lost_answer_is_asked_for_again_with_the_same_bytes(
    client: CapabilityAuthority, small_authority: SmallAuthority, item: IssueItem
) -> None:
    small_authority.upset(RPC, LoseAnswer(), UNAVAILABLE)

    answers = await client.issue_batch([item, item])

    assert all(isinstance(one, IssuedCapability) for one in answers)
    attempts = small_authority.attempts(RPC)
    assert len(attempts) == 3
    assert len({attempt.request_bytes for attempt in attempts}) == 1


async def test_only_what_is_refused_for_now_is_asked_for_again_under_its_request_id(
    client: CapabilityAuthority, small_authority: SmallAuthority, item: IssueItem
) -> None:
    small_authority.state.refused_items["busy"].extend([BUSY, BUSY])
    small_authority.state.refused_items["stale"].append(STALE)

    answers = await client.issue_batch(under(item, "good", "busy", "stale"))

    assert keys_of(answers) == ["good", "busy", ""]
    calls = sent(small_authority)
    assert [[one.commit_idempotency_key for one in call] for call in calls] == [
        ["good", "busy", "stale"],
        ["busy"],
        ["busy"],
    ]
    assert len({one.request_id for call in calls for one in call if one.commit_idempotency_key == "busy"}) == 1


async def test_a_refused_call_is_the_refusal_of_each(
    client: CapabilityAuthority, small_authority: SmallAuthority, item: IssueItem
) -> None:
    small_authority.upset(RPC, Refuse(Refusal(grpc.StatusCode.UNAUTHENTICATED, "CALLER_UNAUTHENTICATED")))

    answers = await client.issue_batch([replace(item, request_id="a"), replace(item, request_id="b")])

    assert [(type(one), one.key) for one in answers if isinstance(one, AuthorityError)] == [
        (CallerUnauthenticated, "a"),
        (CallerUnauthenticated, "b"),
    ]


async def test_f03_time_is_for_all_calls_together(
    client: CapabilityAuthority, small_authority: SmallAuthority, item: IssueItem
) -> None:
    # Given an authority whose first call never ends
    small_authority.upset(RPC, *[Hang() for _ in range(9)])

    # When there are two calls to make
    answers = await client.issue_batch([item] * 513, timeout=0.5)

    # Then the first may have issued, and the second was not even sent
    assert [one.outcome_unknown for one in answers if isinstance(one, TimeoutError)] == [True] * 512 + [False]
    assert {len(requests) for requests in sent(small_authority)} == {512}


async def test_nothing_is_sent_for_nothing(client: CapabilityAuthority, small_authority: SmallAuthority) -> None:
    assert await client.issue_batch([]) == []
    assert small_authority.attempts(RPC) == []


async def test_a_capability_that_cannot_be_read_is_a_failure_of_its_own(
    client: CapabilityAuthority, small_authority: SmallAuthority, item: IssueItem
) -> None:
    small_authority.state.unreadable_items.add("spoilt")

    answers = await client.issue_batch(under(item, "spoilt", "good"))

    assert isinstance(answers[0], TransportError)
    assert answers[0].outcome_unknown
    assert isinstance(answers[1], IssuedCapability)
