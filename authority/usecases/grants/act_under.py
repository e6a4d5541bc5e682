"""Lets a caller act under a grant: it replaces the check of the caller's own right (semantics §6)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.grant import GrantAction, OpenedGrant
from authority.domain.grant_use import GrantUse, judge_use
from authority.domain.granting import judge_presenter
from authority.domain.identity import Caller, Principal
from authority.domain.limits import INT64_MAX
from authority.domain.proposal import Cost
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef
from authority.domain.refusal import Refusal
from authority.usecases.grants.presented import PresentedGrant, PresentedGrants
from authority.usecases.ports import Clock, RequestMark, Spend


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

    def cost_of(self, costs: Sequence[Cost]) -> Spend:
        """What a proposal that has cost this much costs the grant, beside one use.

        More than an int64 holds is more than any budget allows but the greatest.
        """
        tokens = sum(cost.input_tokens + cost.output_tokens for cost in costs)
        usd_micros = sum(cost.usd_micros for cost in costs)
        return Spend(self.grant.digest, min(tokens, INT64_MAX), min(usd_micros, INT64_MAX))


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

    async def spend_read(self, delegation: Delegation, action: GrantAction) -> Refusal | None:
        """Spends one use along the chain, in a call of its own, before anything is read that could be told.

        A read has no name: its proof works once, so whoever asks again asks for a new use, and every page that a token
        continues is one. Whoever dies, is cancelled, or loses the answer between spending and telling has spent the use
        and tells nothing: what was told is paid for, and what was paid for may not have been told. Nothing is ever
        refunded, also not when what was asked for is not there: else asking around would be free.

        Refusals: BUDGET_EXHAUSTED with its `dimension`, and KEY_REVOKED, EXPIRED, REVOKED for what was withdrawn since
        the chain was judged.
        """
        spend = Spend(delegation.grant.digest)
        return await self.presented.grants.spend(delegation.grant.terms.tenant, action.value, spend, self.clock.now())
