"""Events on Redis Streams."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from authority.domain.event import OutboxEvent
from authority.domain.references import TenantRef
from authority.redis.health import reason_of
from authority.redis.round_trips import Argument, RoundTrips
from authority.usecases.ports import NotTaken, SinkAway, Taken

TENANT: Final = "{tenant}"
"""In the name of the stream it stands for the tenant, so that each has a stream of its own."""

_POSITION: Final = re.compile(rb"\d+-\d+")
_PASSES: Final = frozenset({"CLUSTERDOWN", "LOADING", "MASTERDOWN", "MISCONF", "NOREPLICAS", "TRYAGAIN", "UNBLOCKED"})
"""Error words of a server that takes nothing just now, whatever it is sent, where redis-py has no class for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSettings:
    """Where events go, and how many stay."""

    name: str = "authority:events"
    """One stream for all tenants, or, with `{tenant}` in it, one for each, named by its `namespace|id`."""
    length: int = 100_000
    """About how many entries a stream keeps: the oldest go when more come, read or not."""
    within_s: float = 5.0
    """How long one batch may take: less than the claims of the relay last."""

    def stream_of(self, tenant: TenantRef) -> str:
        """The stream with the tenant's events."""
        return self.name.replace(TENANT, str(tenant))


class RedisStreamSink:
    """Implements `ports.Sink`: each event is an entry with the fields id, type, subject, sequence, tenant, data.

    `data` is the CloudEvent in JSON, the other fields repeat of it what consumers choose by. An entry counts as taken
    when Redis answered with its position (case H04); whether it is kept through a failover of Redis is Redis' matter.
    """

    def __init__(self, client: Redis, settings: StreamSettings = StreamSettings()) -> None:
        self._round_trips = RoundTrips(client)
        self._settings = settings

    async def publish(self, events: Sequence[OutboxEvent]) -> list[Taken | NotTaken]:
        """One round trip for all of them. Raises SinkAway; what had reached Redis by then comes again."""
        try:
            replies = await self._round_trips.send([self._entry(event) for event in events], self._settings.within_s)
        except (RedisError, OSError, TimeoutError) as fault:
            # The next batch is to meet the server that the address names by then.
            await self._round_trips.drop_connections()
            raise SinkAway(reason_of(fault)) from fault
        return [_answer(reply) for reply in replies]

    async def aclose(self) -> None:
        """Closes the client."""
        await self._round_trips.aclose()

    def _entry(self, event: OutboxEvent) -> tuple[Argument, ...]:
        key = self._settings.stream_of(event.tenant)
        fields: tuple[Argument, ...] = (
            *("id", event.event_id),
            *("type", event.type),
            *("subject", event.subject),
            *("sequence", event.sequence),
            *("tenant", str(event.tenant)),
            *("data", event.document()),
        )
        return ("XADD", key, "MAXLEN", "~", self._settings.length, "*", *fields)


def _answer(reply: object) -> Taken | NotTaken:
    """Raises SinkAway for an error that any event would meet: it is held against none of them."""
    if isinstance(reply, str):
        reply = reply.encode()
    if isinstance(reply, bytes) and _POSITION.fullmatch(reply):
        return Taken(reply.decode())
    if type(reply) is ResponseError and reason_of(reply) not in _PASSES:
        return NotTaken(f"Redis refuses the entry: {reason_of(reply)}")
    if isinstance(reply, Exception):
        raise SinkAway(reason_of(reply)) from reply
    return NotTaken("Redis did not say where the entry is")
