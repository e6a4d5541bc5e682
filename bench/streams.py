"""Work of streams: items as fast as the service reads them, outcomes as they are settled."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Final

from grpc import aio

from bench.calls import committed
from bench.work import Materials, Prepared, Sent, WentWrong, Work
from capability_authority.client.rpcs import RPCS
from capability_authority.offline import PROOF_METADATA_KEY
from capability_authority.v1 import capability_service_pb2 as pb

_STREAM: Final = RPCS["StreamCommitValidated"].path


@dataclass(frozen=True, slots=True)
class StreamCommits(Work):
    """Commits over streams, whose number is how much is under way at once: each keeps a window of its own full."""

    count: int

    def prepare(self, materials: Materials) -> Prepared:
        """Of the next requests; a proof opens one stream and no other, so there is one for each."""
        items = [
            pb.StreamCommitValidatedRequest(tag=tag, commit=pb.CommitValidatedRequest.FromString(data))
            for tag, data in enumerate(materials.requests.take(self.count))
        ]
        return _PreparedStreams([item.SerializeToString() for item in items], materials)


@dataclass(frozen=True, slots=True)
class _PreparedStreams(Prepared):
    items: Sequence[bytes]
    materials: Materials

    async def send(self, channels: Sequence[aio.Channel], concurrent: int) -> Sent:
        """Each stream gets an equal share, and is closed when its share is answered."""
        shares = [self.items[share::concurrent] for share in range(concurrent)]
        sent = await asyncio.gather(*map(self._stream, islice(cycle(channels), concurrent), shares))
        return Sent([one for part in sent for one in part.answers], [one for part in sent for one in part.latencies])

    async def _stream(self, channel: aio.Channel, items: Sequence[bytes]) -> Sent:
        metadata = ((PROOF_METADATA_KEY, self.materials.prove(_STREAM, b"")),)
        method: aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(_STREAM)
        call = method(metadata=metadata)
        sent_at: list[float] = []
        answers: list[bytes] = []
        answered_at: list[float] = []

        async def write() -> None:
            for item in items:
                sent_at.append(time.monotonic())
                await call.write(item)
            await call.done_writing()

        async def read() -> None:
            async for answer in call:
                answered_at.append(time.monotonic())
                answers.append(answer)

        await asyncio.gather(write(), read())
        # Outcomes come in any order; for the distribution it is enough to take them as if they came in the items'.
        return Sent(answers, [after - before for before, after in zip(sent_at, answered_at, strict=True)])

    def judge(self, answers: Sequence[bytes]) -> int:
        """One operation each. Raises WentWrong for an item without an outcome, too."""
        outcomes = [pb.StreamCommitValidatedResponse.FromString(answer) for answer in answers]
        if {outcome.tag for outcome in outcomes} != set(range(len(self.items))):
            raise WentWrong("a stream ended before all its items had outcomes")
        if not all(committed(outcome.outcome) for outcome in outcomes):
            raise WentWrong("a commit was replayed")
        return len(outcomes)
