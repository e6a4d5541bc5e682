"""Asks again, while a stream runs, whether its caller is still who it was (semantics §2)."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from authority.domain.identity import Caller, RegisteredKey, still_valid
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.ports import Clock, Registry


async def known_again(registry: Registry, caller: Caller) -> RegisteredKey | None:
    """What the caller is known by, when it, and the caller, are still active; else None."""
    if caller.has_bound_key:
        return await registry.active_key(caller.tenant, caller.ref, caller.key_id)
    found = await registry.owner(caller.tenant, caller.key_id)
    return found if found and found.principal.ref == caller.ref else None


@dataclass(frozen=True, slots=True)
class Recheck:
    """Reads key and principal of the caller anew, and judges them by the rule that opened the stream."""

    registry: Registry
    clock: Clock
    caller: Caller
    rule: Callable[[Caller], Refusal | None] = lambda _: None

    async def __call__(self) -> Refusal | None:
        """CALLER_UNAUTHENTICATED once key or principal are revoked, or what it showed has expired; else the rule's."""
        caller = self.caller
        if refusal := still_valid(caller, self.clock.now()):
            return refusal
        key = await known_again(self.registry, caller)
        if key is None:
            return Refusal(Reason.CALLER_UNAUTHENTICATED)
        return self.rule(replace(caller, principal=key.principal))
