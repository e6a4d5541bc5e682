"""The port `Leases` on Redis."""

import time
from collections.abc import Callable

from authority.domain.plan import Claim, StoredReceipt
from authority.redis.entries import pack_lease, pack_receipt, running_fingerprint, unpack_receipt
from authority.redis.link import RedisAwayError, RedisLink
from authority.redis.names import KeyNames
from authority.redis.spare_memory import SpareMemory
from authority.telemetry import metrics
from authority.telemetry.names import LEASES
from authority.usecases.ports import Sighting

_NOT_SEEN = Sighting(running_fingerprint=None, settled=None)

# The lease is given back first: at maxmemory a script may still delete, while a SET is refused, unless something was
# written before it (case B08). pcall: a value of another type is not our lease, and no reason to fail.
_SETTLE = """
if redis.pcall('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
if ARGV[2] ~= '' then redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3]) end
return 1
"""
_NOTHING = b""


class RedisLeases:
    """Leases and the replay cache of commits.

    Nothing here raises but cancellation: whatever Redis cannot say is "not seen". `lease_ms` and `replay_ms` are how
    long a lease and a cached receipt live, by Redis' own clock (case B15). A cached receipt is returned as it was
    found: its signature and fingerprint are checked by the use case before anybody sees it. `now` shows seconds of a
    clock that never jumps.
    """

    def __init__(
        self,
        link: RedisLink,
        names: KeyNames,
        *,
        lease_ms: int,
        replay_ms: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._link = link
        self._names = names
        self._memory = SpareMemory(link, now=now)
        self._lease_ms = lease_ms
        self._replay_ms = replay_ms

    async def sight(self, claim: Claim) -> Sighting:
        """What Redis knows of the claim's key, in one command."""
        keys = self._names.claim(claim)
        try:
            reply = await self._link.ask("MGET", keys.lease, keys.replay)
        except RedisAwayError:
            return _NOT_SEEN
        match reply:
            case [lease, replay]:
                return Sighting(
                    running_fingerprint=running_fingerprint(lease) if isinstance(lease, bytes) else None,
                    settled=unpack_receipt(replay) if isinstance(replay, bytes) else None,
                )
            case _:
                return _NOT_SEEN

    def take(self, claim: Claim, token: str) -> None:
        """Takes the lease in one command with its expiry (case B13).

        The reply is not needed: a lost or a nil one may stand for a lease that is ours (case B02), and whose it is
        `settle` finds out by comparing, not by remembering.
        """
        metrics.count(LEASES, "taken")
        lease = pack_lease(token, claim.fingerprint)
        self._link.tell("SET", self._names.claim(claim).lease, lease, "NX", "PX", self._lease_ms)

    def settle(self, claim: Claim, token: str, receipt: StoredReceipt | None) -> None:
        """Gives the lease back if it is the token's, and caches the receipt while there is memory to spare: one script.

        The script goes as text, 200 bytes, so no flush of scripts or restart can make it unknown (case B11).
        """
        metrics.count(LEASES, "settled")
        keys = self._names.claim(claim)
        lease = pack_lease(token, claim.fingerprint)
        entry = pack_receipt(receipt) if receipt and self._memory.is_left() else _NOTHING
        self._link.tell("EVAL", _SETTLE, 2, keys.lease, keys.replay, lease, entry, self._replay_ms)

    async def heard(self) -> None:
        """Waits for the round trip of what was told last; a caller who is cancelled here leaves it to go on."""
        await self._link.heard()
