"""Shows grants, and withdraws them for ever (semantics §6)."""

from dataclasses import dataclass
from enum import Enum

from authority.domain.grant import OpenedGrant
from authority.domain.grant_use import Spent
from authority.domain.granting import is_business_of
from authority.domain.identity import Caller
from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.usecases.admit import Admit
from authority.usecases.grants.presented import PresentedGrant, PresentedGrants
from authority.usecases.ports import Clock, Grants, RequestMark, RevokedGrant


@dataclass(frozen=True, slots=True)
class GrantRevocation:
    """Which grant to withdraw: by the digest of a kept one, or as it is presented."""

    mark: RequestMark
    named: bytes | PresentedGrant


class GrantState(Enum):
    """What a grant is good for. One whose ancestor was revoked is revoked."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class FoundGrant:
    """A kept grant with its ancestors, root first and without it, and what became of it."""

    grant: OpenedGrant
    ancestors: tuple[OpenedGrant, ...]
    state: GrantState
    revoke_time: Instant | None
    """When it, or the first of its ancestors that was, was revoked."""
    spent: Spent


@dataclass(frozen=True, slots=True)
class RevokeGrant:
    """Once it has answered, nothing is issued or committed by the grant or its descendants any more."""

    admit: Admit
    presented: PresentedGrants
    clock: Clock

    async def __call__(self, caller: Caller, request: GrantRevocation) -> RevokedGrant | Refusal:
        """When it was revoked first.

        Refusals: NOT_FOUND for what is not kept or none of the caller's business, which sound alike (case G02);
        IDEMPOTENCY_CONFLICT; of a presented one also MALFORMED, LIMIT_EXCEEDED and whatever its chain fails by: what
        is no grant of this authority is not kept.
        """
        named = request.named
        blocks = () if isinstance(named, bytes) else self.presented.read(named)
        if isinstance(blocks, Refusal):
            return blocks
        if refusal := await self.admit(caller):
            return refusal
        # Looked up before the tenant's commits are made to wait: nobody may stop them by asking for what is not theirs.
        # A grant that is kept never vanishes and never changes hands.
        chain = await self._chain(caller, named, blocks)
        if isinstance(chain, Refusal):
            return chain
        return await self.presented.grants.revoke(request.mark, chain, self.clock.now())

    async def _chain(
        self, caller: Caller, named: bytes | PresentedGrant, blocks: tuple[OpenedGrant, ...]
    ) -> tuple[OpenedGrant, ...] | Refusal:
        if isinstance(named, bytes):
            kept = await self.presented.grants.chain_of(caller.tenant, named)
            chain = tuple(it.opened for it in kept)
        else:
            chain = await self.presented.complete(caller.tenant, blocks)
        if not chain or not is_business_of(caller, chain[-1].terms):
            return Refusal(Reason.NOT_FOUND, {"field": "grant_digest" if isinstance(named, bytes) else "grant"})
        # What is kept was judged when it was.
        return chain if isinstance(named, bytes) else self.presented.chains.judge(chain) or chain


@dataclass(frozen=True, slots=True)
class GetGrant:
    """Shows a kept grant to those whose business it is."""

    admit: Admit
    grants: Grants
    clock: Clock

    async def __call__(self, caller: Caller, digest: bytes) -> FoundGrant | Refusal:
        """NOT_FOUND for what is not kept or none of the caller's business, which sound alike (case G02)."""
        if refusal := await self.admit(caller):
            return refusal
        chain = await self.grants.chain_of(caller.tenant, digest)
        if not chain or not is_business_of(caller, chain[-1].opened.terms):
            return Refusal(Reason.NOT_FOUND, {"field": "grant_digest"})
        now = self.clock.now()
        revoke_time = min((it.revoke_time for it in chain if it.revoke_time is not None), default=None)
        *ancestors, grant = (it.opened for it in chain)
        state = GrantState.EXPIRED if grant.terms.expire_time <= now else GrantState.ACTIVE
        return FoundGrant(
            grant,
            tuple(ancestors),
            GrantState.REVOKED if revoke_time is not None else state,
            revoke_time,
            *await self.grants.spent(caller.tenant, [digest], now),
        )
