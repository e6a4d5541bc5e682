"""Work of unary calls: bytes and proofs are ready before the first is sent."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Final, TypeAlias

from grpc import aio
from grpc_health.v1 import health_pb2  # type: ignore[import-untyped]

from bench.work import Materials, Prepared, Sent, WentWrong, Work
from capability_authority.client.rpcs import RPCS
from capability_authority.offline import PROOF_METADATA_KEY
from capability_authority.v1 import capability_service_pb2 as pb

_HEALTH: Final = "/grpc.health.v1.Health/Check"
_COMMIT: Final = RPCS["CommitValidated"].path
_BATCH: Final = RPCS["BatchCommitValidated"].path
_BATCH_ISSUE: Final = RPCS["BatchIssueCapabilities"].path
_TIMEOUT_S: Final = 30.0

Judge: TypeAlias = Callable[[bytes], int]
"""How many operations an answer tells of. Raises WentWrong."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it goes out."""

    path: str
    data: bytes
    metadata: tuple[tuple[str, str | bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class PreparedCalls(Prepared):
    """Calls on bare channels of grpc.aio: without the client's retries, and its look at each answer."""

    calls: Sequence[Call]
    judge_one: Judge

    async def send(self, channels: Sequence[aio.Channel], concurrent: int) -> Sent:
        """Each of so many senders takes the next call when its last one is answered."""
        answers: list[bytes] = []
        latencies: list[float] = []
        waiting = iter(self.calls)

        async def send_each(channel: aio.Channel) -> None:
            for call in waiting:
                method: aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(call.path)
                sent = time.monotonic()
                answers.append(await method(call.data, timeout=_TIMEOUT_S, metadata=call.metadata))
                latencies.append(time.monotonic() - sent)

        await asyncio.gather(*map(send_each, islice(cycle(channels), concurrent)))
        return Sent(answers, latencies)

    def judge(self, answers: Sequence[bytes]) -> int:
        """The operations of all calls."""
        return sum(map(self.judge_one, answers))


@dataclass(frozen=True, slots=True)
class EmptyCalls(Work):
    """Calls that ask nothing: grpc.health.v1's Check, which passes through the server's interceptors like any other."""

    count: int

    def prepare(self, materials: Materials) -> Prepared:  # noqa: ARG002 - empty
        """Each is the same."""
        return PreparedCalls([Call(_HEALTH, b"")] * self.count, _judge_health)


@dataclass(frozen=True, slots=True)
class UnaryCommits(Work):
    """Commits, each in a call of its own."""

    count: int

    def prepare(self, materials: Materials) -> Prepared:
        """Of the next requests."""
        calls = [_proven(_COMMIT, data, materials) for data in materials.requests.take(self.count)]
        return PreparedCalls(calls, lambda answer: _judge_commit(answer, replayed=False))


@dataclass(frozen=True, slots=True)
class Replays(Work):
    """Retries of the commits that were sent last."""

    count: int

    def prepare(self, materials: Materials) -> Prepared:
        """With new proofs."""
        calls = [_proven(_COMMIT, data, materials) for data in materials.requests.again(self.count)]
        return PreparedCalls(calls, lambda answer: _judge_commit(answer, replayed=True))


@dataclass(frozen=True, slots=True)
class BatchCommits(Work):
    """Batches of commits."""

    batches: int
    size: int

    def prepare(self, materials: Materials) -> Prepared:
        """Of the next requests."""
        return PreparedCalls(list(self._calls(materials)), _judge_batch)

    def _calls(self, materials: Materials) -> Iterator[Call]:
        for _ in range(self.batches):
            items = map(pb.CommitValidatedRequest.FromString, materials.requests.take(self.size))
            yield _proven(_BATCH, pb.BatchCommitValidatedRequest(requests=items).SerializeToString(), materials)


@dataclass(frozen=True, slots=True)
class BatchIssues(Work):
    """Batches of capabilities to issue."""

    batches: int
    size: int

    def prepare(self, materials: Materials) -> Prepared:
        """Of the next requests."""
        return PreparedCalls(list(self._calls(materials)), _judge_issues)

    def _calls(self, materials: Materials) -> Iterator[Call]:
        for _ in range(self.batches):
            items = map(pb.IssueCapabilityRequest.FromString, materials.requests.take(self.size))
            data = pb.BatchIssueCapabilitiesRequest(requests=items).SerializeToString()
            yield _proven(_BATCH_ISSUE, data, materials)


def committed(outcome: pb.CommitOutcome) -> bool:
    """Whether it was this very item that committed. Raises WentWrong when it was refused."""
    if not outcome.HasField("result"):
        raise WentWrong(f"a commit was refused: {outcome.status}")
    return not outcome.result.replayed


def _proven(path: str, data: bytes, materials: Materials) -> Call:
    return Call(path, data, ((PROOF_METADATA_KEY, materials.prove(path, data)),))


def _judge_health(answer: bytes) -> int:
    if health_pb2.HealthCheckResponse.FromString(answer).status != health_pb2.HealthCheckResponse.SERVING:
        raise WentWrong("the service does not serve")
    return 1


def _judge_commit(answer: bytes, *, replayed: bool) -> int:
    if pb.CommitValidatedResponse.FromString(answer).replayed is not replayed:
        raise WentWrong(f"a commit was {'not ' if replayed else ''}replayed")
    return 1


def _judge_batch(answer: bytes) -> int:
    outcomes = pb.BatchCommitValidatedResponse.FromString(answer).outcomes
    if not all(map(committed, outcomes)):
        raise WentWrong("a commit was replayed")
    return len(outcomes)


def _judge_issues(answer: bytes) -> int:
    outcomes = pb.BatchIssueCapabilitiesResponse.FromString(answer).outcomes
    refused = [outcome.status for outcome in outcomes if not outcome.HasField("result")]
    if refused:
        raise WentWrong(f"a capability was refused: {refused[0]}")
    if any(outcome.result.replayed for outcome in outcomes):
        raise WentWrong("a capability had been issued before")
    return len(outcomes)
