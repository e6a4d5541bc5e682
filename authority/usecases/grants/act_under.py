"""Lets a caller act under a grant: it replaces the check of the caller's own right (semantics §6)."""

from dataclasses import dataclass

from authority.domain.grant import OpenedGrant
from authority.domain.grant_use import GrantUse, judge_use
from authority.domain.granting import judge_presenter
from authority.domain.identity import Caller, Principal
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef
from authority.domain.refusal import Refusal
from authority.usecases.grants.presented import PresentedGrant, PresentedGrants
from authority.usecases.ports import Clock, RequestMark


@dataclass(frozen=True, slots=True)
class Delegation:
    """A chain that holds now, presented by its holder, and the subject whose live rights are used."""

    chain: tuple[OpenedGrant, ...]
    subject: Principal

    @property
    def grant(self) -> OpenedGrant:
        """The one that was presented."""
        return self.chain[-1]

    @property
    def actor_chain(self) -> tuple[PrincipalRef, ...]:
        """Who acts for the subject: the holders of the chain, root first, the caller last."""
        return (*self.grant.terms.actor_chain, self.grant.terms.holder)

    def judge(self, use: GrantUse, now: Instant) -> Refusal | None:
        """GRANT_EXCEEDED with its `dimension`, NOT_YET_VALID or EXPIRED when a block does not allow the use.

        What the subject itself may do is judged by whoever serves the call.
        """
        return judge_use(self.chain, use, now)


@dataclass(frozen=True, slots=True)
class ActUnderGrant:
    """Judges what is presented. What a holder made offline is kept once it has held, so that it can be revoked."""

    presented: PresentedGrants
    clock: Clock

    async def __call__(self, caller: Caller, presented: PresentedGrant, mark: RequestMark) -> Delegation | Refusal:
        """What the caller may act by. Whatever can be told from the statements alone is told before anything is read.

        Refusals: MALFORMED, LIMIT_EXCEEDED, HOLDER_MISMATCH, SIGNATURE_INVALID, ISSUER_UNKNOWN, KEY_REVOKED,
        GRANT_EXCEEDED, NOT_YET_VALID, EXPIRED, REVOKED.

        A caller that goes away while a block is being kept leaves a grant that nobody has used: it does nothing.
        """
        blocks = self.presented.read(presented)
        if isinstance(blocks, Refusal):
            return blocks
        if refusal := judge_presenter(caller, blocks[-1].terms):
            return refusal
        now = self.clock.now()
        standing = await self.presented.judge(caller.tenant, blocks, now)
        if isinstance(standing, Refusal):
            return standing
        if standing.facts.subject is None:
            return Refusal(Reason.REVOKED, {"field": "grant"})
        if standing.facts.unmet:
            await self.presented.grants.keep(mark, standing.chain, now)
        return Delegation(standing.chain, standing.facts.subject)
