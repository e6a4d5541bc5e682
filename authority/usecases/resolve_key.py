"""Tells another verifier whose key an envelope was signed with."""

from dataclasses import dataclass

from authority.domain.identity import Caller, require_service
from authority.domain.key_alias import NamedKey
from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.usecases.admit import Admit
from authority.usecases.ports import Clock, KeyNames


@dataclass(frozen=True, slots=True)
class ResolvedKey:
    """A key that was active then, and may be revoked at any moment after."""

    key: NamedKey
    as_of_time: Instant


@dataclass(frozen=True, slots=True)
class ResolveKey:
    """Reads one key of the caller's tenant, and changes nothing."""

    admit: Admit
    names: KeyNames
    clock: Clock

    async def __call__(self, caller: Caller, name: str) -> ResolvedKey | Refusal:
        """The key. Refusals: NOT_ALLOWED unless a service asks; NOT_FOUND.

        Whatever is no key to verify by now sounds alike: unknown, revoked, another tenant's, or one that signs nothing
        (case G02). Whoever was told the public key of a revoked one might verify by it.
        """
        if refusal := await self.admit(caller) or require_service(caller):
            return refusal
        # Before the look: a key that is revoked in between was active then.
        as_of_time = self.clock.now()
        key = await self.names.key_called(caller.tenant, name)
        return ResolvedKey(key, as_of_time) if key else Refusal(Reason.NOT_FOUND, {"field": "key_id"})
