"""The port `Leases` in dicts."""

from dataclasses import dataclass

from authority.domain.plan import Claim, StoredReceipt
from authority.domain.references import PrincipalRef, TenantRef
from authority.inprocess.expiring import Expiring
from authority.usecases.ports import Clock, Sighting


@dataclass(frozen=True, slots=True)
class _Lease:
    token: str
    fingerprint: bytes


_ClaimKey = tuple[TenantRef, PrincipalRef, str]


class InProcessLeases:
    """Leases and the replay cache of this process alone. `lease_ms` and `replay_ms` are how long each entry lives."""

    def __init__(self, clock: Clock, *, lease_ms: int, replay_ms: int) -> None:
        self._leases: Expiring[_ClaimKey, _Lease] = Expiring(clock, lease_ms)
        self._settled: Expiring[_ClaimKey, StoredReceipt] = Expiring(clock, replay_ms)

    async def sight(self, claim: Claim) -> Sighting:
        """What is known of the claim's key."""
        key = _key(claim)
        lease = self._leases.get(key)
        return Sighting(running_fingerprint=lease.fingerprint if lease else None, settled=self._settled.get(key))

    def take(self, claim: Claim, token: str) -> None:
        """Takes the lease unless another holds it."""
        key = _key(claim)
        if self._leases.get(key) is None:
            self._leases.put(key, _Lease(token, claim.fingerprint))

    def settle(self, claim: Claim, token: str, receipt: StoredReceipt | None) -> None:
        """Gives the lease back if it is the token's, and remembers the receipt."""
        key = _key(claim)
        if self._leases.get(key) == _Lease(token, claim.fingerprint):
            self._leases.drop(key)
        if receipt is not None:
            self._settled.put(key, receipt)

    async def heard(self) -> None:
        """Whatever is told here is heard at once."""


def _key(claim: Claim) -> _ClaimKey:
    return claim.tenant, claim.holder, claim.idempotency_key
