"""What the tests of the link to Redis share: what is expected, and what an operator does to the server."""

import time

from redis.asyncio import Redis

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.redis.link import LinkSettings
from authority.usecases.ports import Sighting
from tests.redis_room import CLAIM, Room, receipt_of

NOT_SEEN = Sighting(running_fingerprint=None, settled=None)
RUNNING = Sighting(CLAIM.fingerprint, None)
UNAVAILABLE = Refusal(Reason.DEPENDENCY_UNAVAILABLE)
HASTY = LinkSettings(wait_ms=500)
A_SMALL_PART_OF_A_DEADLINE_S = 5.0
"""Two waits of a hasty link, and much that a busy machine adds: a wait without a bound lasts longer."""


async def order(operator: Redis, *command: str | int) -> object:
    """The reply to a command that the client has no method for."""
    return await operator.execute_command(*command)  # type: ignore[no-untyped-call]


async def calls_of(operator: Redis, command: str) -> int:
    """How often the server executed the command, in scripts too."""
    facts = await operator.info("commandstats")
    return int(facts.get(f"cmdstat_{command}", {}).get("calls", 0))


async def expect_everything_not_seen(room: Room) -> None:
    """What a commit and a read meet while Redis is of no use."""
    assert await room.leases.sight(CLAIM) == NOT_SEEN
    await room.leases.take(CLAIM, "token")
    await room.leases.settle(CLAIM, "token", receipt_of(CLAIM))
    assert await room.nonces.use("key", b"nonce") == UNAVAILABLE


def stand_still(seconds: float) -> None:
    """Keeps the loop busy for so long."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass
