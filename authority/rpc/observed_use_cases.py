"""Use cases that tell of themselves: a span for each call, and counts of what became of commits and capabilities."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Any, Final, TypeAlias

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.rpc.use_cases import UseCases
from authority.telemetry import metrics, spans
from authority.telemetry.names import (
    CAPABILITY,
    COMMITS,
    ISSUES,
    ITEMS,
    REASON,
    RECEIPT,
    RECORD,
    REFUSALS,
    REFUSED_ITEMS,
    REPLAYED,
    USE_CASE,
    Metric,
)
from authority.telemetry.spans import OpenSpan
from authority.usecases.commit import CommitAnswer
from authority.usecases.ports import IssuedCapability

_Verb: TypeAlias = Callable[..., Any]

_STREAM: Final = "open_commit_stream"
_STREAMED: Final = "commit_stream"

_COUNTED: Final = {
    "commit": COMMITS,
    "commit_batch": COMMITS,
    _STREAMED: COMMITS,
    "issue": ISSUES,
    "issue_batch": ISSUES,
}
_ITEMS_OF: Final = {
    "commit_batch": "BatchCommitValidated",
    _STREAMED: "StreamCommitValidated",
    "issue_batch": "BatchIssueCapabilities",
}
"""The RPCs whose answer is OK whatever becomes of their items: refusals of those are counted here."""


def observed(use_cases: UseCases) -> UseCases:
    """The same use cases, told of."""
    verbs = {field.name: getattr(use_cases, field.name) for field in fields(use_cases)}
    told = {name: _told(name, verb) for name, verb in verbs.items()}
    return UseCases(**{**told, _STREAM: _opening(told[_STREAM])})


def _opening(open_stream: _Verb) -> _Verb:
    async def opening(*arguments: object) -> object:
        opened = await open_stream(*arguments)
        return opened if isinstance(opened, Refusal) else _told(_STREAMED, opened)

    return opening


def _told(name: str, verb: _Verb) -> _Verb:
    span = USE_CASE.of(name.replace("_", " "))

    async def within(work: Awaitable[object]) -> object:
        with spans.below(span) as opened:
            try:
                answer = await work
            except Exception:
                _count_failed(name)
                raise
            _describe(opened, answer)
        _count(name, answer)
        return answer

    def told(*arguments: object, **named: object) -> object:
        work = verb(*arguments, **named)
        return within(work) if inspect.isawaitable(work) else work

    return told


def _describe(span: OpenSpan, answer: object) -> None:
    match answer:
        case Refusal():
            span.set(REASON, answer.reason.name)
        case CommitAnswer():
            span.set(RECEIPT, answer.receipt.receipt_id)
            span.set(RECORD, answer.receipt.record_id)
            span.set(REPLAYED, answer.replayed)
        case IssuedCapability():
            span.set(CAPABILITY, answer.capability.terms.capability_id)
            span.set(REPLAYED, answer.replayed)
        case list():
            span.set(ITEMS, len(answer))
            span.set(REFUSED_ITEMS, sum(isinstance(one, Refusal) for one in answer))


def _count(name: str, answer: object) -> None:
    if counted := _COUNTED.get(name):
        for one in answer if isinstance(answer, list) else [answer]:
            _count_one(counted, one)
            # What refuses a batch as a whole, or ends a stream, refuses the call, and is counted as that.
            of_an_item = isinstance(answer, list) or name == _STREAMED
            if isinstance(one, Refusal) and of_an_item and one.reason is not Reason.CALLER_UNAUTHENTICATED:
                metrics.count(REFUSALS, _ITEMS_OF[name], one.reason.name)


def _count_failed(name: str) -> None:
    if counted := _COUNTED.get(name):
        metrics.count(counted, "failed", "")


def _count_one(counted: Metric, answer: object) -> None:
    match answer:
        case Refusal(reason=Reason.IDEMPOTENCY_CONFLICT):
            metrics.count(counted, "conflict", answer.reason.name)
        case Refusal():
            metrics.count(counted, "refused", answer.reason.name)
        case CommitAnswer(replayed=True) | IssuedCapability(replayed=True):
            metrics.count(counted, "replayed", "")
        case CommitAnswer():
            metrics.count(counted, "committed", "")
        case IssuedCapability():
            metrics.count(counted, "issued", "")
