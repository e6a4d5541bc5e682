"""Use cases whose replays are counted, and what single items of a batch or a stream are refused for (semantics §9)."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from authority.domain.identity import Caller
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.domain.replay import ReplayAnswer, ReplayOutcome
from authority.domain.tally import REPLAYED
from authority.rpc.use_cases import UseCases
from authority.usecases.commit import CommitAnswer, CommitRequest
from authority.usecases.commit_stream import CommitItem
from authority.usecases.ports import IssuedCapability, RevokedCapability, RevokedRecord, WithdrawnProposal
from authority.usecases.revoke_record import RevocationAnswer
from authority.usecases.tally import Tally

Request = TypeVar("Request")
Answer = TypeVar("Answer")


def tallied(use_cases: UseCases, tally: Tally) -> UseCases:
    """The same use cases, counted. Refusals of whole calls are counted by the interceptor `Counting`."""
    return replace(
        use_cases,
        issue=_one(use_cases.issue, tally),
        issue_batch=_many(use_cases.issue_batch, tally),
        commit=_one(use_cases.commit, tally),
        commit_batch=_many(use_cases.commit_batch, tally),
        open_commit_stream=_stream(use_cases.open_commit_stream, tally),
        revoke_capability=_one(use_cases.revoke_capability, tally),
        revoke_record=_one(use_cases.revoke_record, tally),
        withdraw_proposal=_one(use_cases.withdraw_proposal, tally),
        reserve_replay=_one(use_cases.reserve_replay, tally),
    )


def _one(
    verb: Callable[[Caller, Request], Awaitable[Answer]], tally: Tally
) -> Callable[[Caller, Request], Awaitable[Answer]]:
    async def counted(caller: Caller, request: Request) -> Answer:
        answer = await verb(caller, request)
        _count_replay(tally, caller, answer)
        return answer

    return counted


def _many(
    verb: Callable[[Caller, Request, float], Awaitable[list[Answer] | Refusal]], tally: Tally
) -> Callable[[Caller, Request, float], Awaitable[list[Answer] | Refusal]]:
    async def counted(caller: Caller, requests: Request, deadline: float) -> list[Answer] | Refusal:
        answers = await verb(caller, requests, deadline)
        if not isinstance(answers, Refusal):
            for answer in answers:
                _count_item(tally, caller, answer)
        return answers

    return counted


def _stream(
    verb: Callable[[Caller], Awaitable[CommitItem | Refusal]], tally: Tally
) -> Callable[[Caller], Awaitable[CommitItem | Refusal]]:
    async def opened(caller: Caller) -> CommitItem | Refusal:
        commit = await verb(caller)
        if isinstance(commit, Refusal):
            return commit

        async def counted(request: CommitRequest | Refusal) -> CommitAnswer | Refusal:
            answer = await commit(request)
            _count_item(tally, caller, answer)
            return answer

        return counted

    return opened


def _count_replay(tally: Tally, caller: Caller, answer: object) -> None:
    match answer:
        case (
            CommitAnswer(replayed=True)
            | IssuedCapability(replayed=True)
            | RevokedCapability(replayed=True)
            | WithdrawnProposal(replayed=True)
            | RevocationAnswer(revoked=RevokedRecord(replayed=True))
        ):
            tally.count(caller, REPLAYED)
        # Answers, not refusals: an envelope that came again, or under another's key, is worth knowing of all the same.
        case ReplayAnswer(outcome=ReplayOutcome.RESERVED, replayed=True):
            tally.count(caller, REPLAYED)
        case ReplayAnswer(outcome=ReplayOutcome.REPLAY):
            tally.count(caller, Reason.PROOF_REPLAYED.name)
        case ReplayAnswer(outcome=ReplayOutcome.CONFLICT):
            tally.count(caller, Reason.IDEMPOTENCY_CONFLICT.name)


def _count_item(tally: Tally, caller: Caller, answer: object) -> None:
    # A caller who is revoked in mid-stream ends it, which is counted as the refusal of the stream.
    if isinstance(answer, Refusal) and answer.reason is not Reason.CALLER_UNAUTHENTICATED:
        tally.count(caller, answer.reason.name)
    _count_replay(tally, caller, answer)
