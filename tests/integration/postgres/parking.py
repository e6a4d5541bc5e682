"""Gives events up, as the relay does with those that no sink takes."""

from uuid import uuid4

from authority.usecases.ports import Refused
from tests.world.world import World


async def park_oldest_event(world: World) -> None:
    """The oldest event of the database that is pending, whoever's it is."""
    outbox, token = world.authority.store.outbox, str(uuid4())
    events = await outbox.claim(token, 1, 60_000)
    assert await outbox.park(token, [Refused(event, "no", 0) for event in events])
