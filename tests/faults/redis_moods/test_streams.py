"""Streams of commits without Redis: what opened one is remembered in PostgreSQL (case I04)."""

import grpc
import pytest

from capability_authority.v1.capability_service_pb2 import StreamCommitValidatedRequest
from tests.faults.conftest import Site
from tests.faults.redis_moods.scene import MOODS, operator
from tests.installation.requests import commit_of
from tests.installation.team import Team
from tests.installation.wire import Wire


@pytest.mark.parametrize("mood", [*MOODS, "b04_flushed"])
async def test_i04_a_captured_proof_opens_no_second_stream_whatever_becomes_of_redis(
    patient: Team, wire: Wire, site: Site, mended: None, mood: str
) -> None:
    # Given a proof that opened a stream
    ready, proof = await patient.ready(), wire.proof("StreamCommitValidated", b"")
    assert await wire.stream(proofs=[proof]).close() == []
    # When Redis is of no use, or has forgotten everything
    if mood in MOODS:
        spoil, _ = MOODS[mood]
        spoil(site)
    else:
        with operator(site.valkey.url) as redis:
            redis.flushall()
    # Then the proof still opens no other, and a new one opens one, on which commits go on
    failure = await wire.stream_refused(proofs=[proof])
    assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PROOF_REPLAYED")
    stream = wire.stream()
    await stream.send(StreamCommitValidatedRequest(tag=1, commit=commit_of(ready)))
    (committed,) = await stream.close()
    assert not committed.outcome.result.replayed
    assert (await patient.commit(ready)).receipt.statement == committed.outcome.result.receipt
