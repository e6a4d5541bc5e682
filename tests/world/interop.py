"""What other verifiers of signed envelopes leave behind."""

from authority.domain.references import MINUTE, after
from authority.domain.replay import Reservation
from tests.world.world import World


async def named_and_reserved(world: World) -> None:
    """A name for the service's key, a revoked one, and a reservation by the service."""
    store, now = world.authority.store, world.now()
    for name in ("k1", "k0"):
        await store.key_aliases.add(world.tenant, name, world.service.key_id, now)
    await store.key_aliases.revoke(world.tenant, "k0", now)
    reservation = Reservation(
        tenant=world.tenant,
        replay_key=b"k" * 32,
        envelope_digest=b"e" * 32,
        reserved_by=world.service.ref,
        request_id="reserve",
        request_digest=b"d" * 32,
        reserve_time=now,
        expire_time=after(now, 5 * MINUTE),
    )
    await store.replays.reserve(reservation, now)
