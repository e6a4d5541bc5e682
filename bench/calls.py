"""Calls that are ready to be sent: bytes and proof are made before the clock runs, answers are read after it stops."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from grpc_health.v1 import health_pb2  # type: ignore[import-untyped]

from capability_authority.client.proofs import Prover
from capability_authority.client.rpcs import RPCS
from capability_authority.offline import PROOF_METADATA_KEY
from capability_authority.v1 import capability_service_pb2 as pb

_HEALTH: Final = "/grpc.health.v1.Health/Check"
_COMMIT: Final = RPCS["CommitValidated"].path
_BATCH: Final = RPCS["BatchCommitValidated"].path

Metadata: TypeAlias = tuple[tuple[str, str | bytes], ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it goes out."""

    path: str
    data: bytes
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class EmptyCalls:
    """Calls that ask nothing: grpc.health.v1's Check, which passes through the server's interceptors like any other."""

    count: int

    def prepare(self, _requests: Iterator[bytes], _prover: Prover) -> Iterator[Call]:
        """Each is the same."""
        return iter([Call(_HEALTH, b"", ())] * self.count)

    def judge(self, answer: bytes) -> int:
        """One operation. Raises AssertionError when the service does not serve."""
        assert health_pb2.HealthCheckResponse.FromString(answer).status == health_pb2.HealthCheckResponse.SERVING
        return 1


@dataclass(frozen=True, slots=True)
class UnaryCommits:
    """So many commits, each in a call of its own."""

    count: int

    def prepare(self, requests: Iterator[bytes], prover: Prover) -> Iterator[Call]:
        """Takes the next requests."""
        for data in islice(requests, self.count):
            yield _proven(_COMMIT, data, prover)

    def judge(self, answer: bytes) -> int:
        """One operation. Raises AssertionError when it was not this call that committed."""
        assert not pb.CommitValidatedResponse.FromString(answer).replayed
        return 1


@dataclass(frozen=True, slots=True)
class BatchCommits:
    """So many batches of so many commits."""

    count: int
    size: int

    def prepare(self, requests: Iterator[bytes], prover: Prover) -> Iterator[Call]:
        """Takes the next requests."""
        for _ in range(self.count):
            items = map(pb.CommitValidatedRequest.FromString, islice(requests, self.size))
            yield _proven(_BATCH, pb.BatchCommitValidatedRequest(requests=items).SerializeToString(), prover)

    def judge(self, answer: bytes) -> int:
        """One operation for each item. Raises AssertionError when one was refused or replayed."""
        outcomes = pb.BatchCommitValidatedResponse.FromString(answer).outcomes
        refused = [outcome.status for outcome in outcomes if not outcome.HasField("result")]
        assert not refused, refused[0]
        assert not any(outcome.result.replayed for outcome in outcomes)
        return len(outcomes)


Work: TypeAlias = EmptyCalls | UnaryCommits | BatchCommits


def _proven(path: str, data: bytes, prover: Prover) -> Call:
    return Call(path, data, ((PROOF_METADATA_KEY, prover.prove(path, data)),))
