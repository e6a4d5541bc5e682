"""How events are read from a stream so that each is acted on once: the demo counts by it, and consumers may copy it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from redis.asyncio import Redis

_BEGINNING: Final = "0-0"
_AT_ONCE: Final = 500

_Entries: TypeAlias = list[tuple[bytes, list[tuple[bytes, dict[bytes, bytes]]]]]


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """One entry, as it came."""

    event_id: str
    type: str
    subject: str
    sequence: int
    tenant: str
    data: bytes
    """The CloudEvent in JSON."""


@dataclass(slots=True)
class StreamConsumer:
    """Reads one stream from its beginning. An event that is delivered again, or late, is dropped.

    What it has seen of each record is the whole of its memory: a consumer that is to outlive its process keeps that
    with what it does, in one transaction.
    """

    client: Redis
    stream: str
    dropped: int = 0
    """Entries that were seen before, or came after a later one of their record."""
    _position: str = _BEGINNING
    _last_seen: dict[tuple[str, str], int] = field(default_factory=dict)

    async def read(self, wait_ms: int) -> list[ReceivedEvent]:
        """What is new, after waiting for it for at most so long. Raises RedisError and OSError."""
        command = ("XREAD", "COUNT", _AT_ONCE, "BLOCK", wait_ms, "STREAMS", self.stream, self._position)
        answer: _Entries = await self.client.execute_command(*command)  # type: ignore[no-untyped-call]
        new = []
        for _, entries in answer:
            for position, fields in entries:
                self._position = position.decode()
                event = _received(fields)
                if self._is_new(event):
                    new.append(event)
        return new

    def _is_new(self, event: ReceivedEvent) -> bool:
        record = (event.tenant, event.subject)
        if event.sequence <= self._last_seen.get(record, 0):
            self.dropped += 1
            return False
        self._last_seen[record] = event.sequence
        return True


def _received(fields: Mapping[bytes, bytes]) -> ReceivedEvent:
    return ReceivedEvent(
        event_id=fields[b"id"].decode(),
        type=fields[b"type"].decode(),
        subject=fields[b"subject"].decode(),
        sequence=int(fields[b"sequence"]),
        tenant=fields[b"tenant"].decode(),
        data=fields[b"data"],
    )
