"""Commits that tests let go on or hold, and items of a stream that are easily written."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.commit import CommitRequest
from capability_authority.v1.capability_service_pb2 import (
    CommitValidatedRequest,
    Presentation,
    StreamCommitValidatedRequest,
    StreamCommitValidatedResponse,
)
from capability_authority.v1.statements_pb2 import Signature, SignedStatement
from tests.integration.rpc.running import (
    Running,
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


async def refuse_reads(*_: object, **__: object) -> Refusal:
    return Refusal(Reason.NOT_FOUND)
