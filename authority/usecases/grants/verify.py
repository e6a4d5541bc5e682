"""Judges a grant and changes nothing: looking never counts as a use (case A10)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.grant import OpenedGrant
from authority.domain.grant_use import GrantUse, Needs, judge_grant_time, judge_left, judge_use
from authority.domain.identity import Caller
from authority.domain.references import Instant
from authority.domain.refusal import Refusal, highest
from authority.usecases.admit import Admit
from authority.usecases.grants.presented import PresentedGrant, PresentedGrants
from authority.usecases.ports import Clock


@dataclass(frozen=True, slots=True)
class GrantQuestion:
    """A grant, and the use that is asked about; None asks of the chain and its times alone."""

    presented: PresentedGrant
    use: GrantUse | None


@dataclass(frozen=True, slots=True)
class GrantVerdict:
    """`refusal` is None when the chain holds now, allows the use, and has as much left."""

    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class VerifyGrant:
    """The verdict is data; only a call that cannot be judged is refused.

    What is kept, withdrawn, and spent is told inside the chain's own tenant alone: of another tenant's chain just
    what its statements say is judged, as anybody could.
    """

    admit: Admit
    presented: PresentedGrants
    clock: Clock

    async def __call__(self, caller: Caller, question: GrantQuestion) -> GrantVerdict | Refusal:
        """MALFORMED, LIMIT_EXCEEDED, PROOF_INVALID, PROOF_REPLAYED or DEPENDENCY_UNAVAILABLE when it cannot be judged.

        It reads, and nothing else: a caller that goes away leaves nothing behind.
        """
        blocks = self.presented.read(question.presented)
        if isinstance(blocks, Refusal):
            return blocks
        if refusal := await self.admit(caller):
            return refusal
        now = self.clock.now()
        if blocks[-1].terms.tenant != caller.tenant:
            return GrantVerdict(self.presented.chains.judge(blocks) or _judge(blocks, question.use, now))
        standing = await self.presented.judge(caller.tenant, blocks, now)
        if isinstance(standing, Refusal):
            return GrantVerdict(standing)
        refusal = _judge(standing.chain, question.use, now)
        return GrantVerdict(refusal or await self._judge_left(standing.chain, question.use, now))

    async def _judge_left(self, chain: Sequence[OpenedGrant], use: GrantUse | None, now: Instant) -> Refusal | None:
        """BUDGET_EXHAUSTED for what is used up at this moment: somebody may spend the rest before the asker does.

        Without a use only uses are looked at, and a block that was never used is not called used up.
        """
        spent = await self.presented.grants.spent(chain[-1].terms.tenant, [block.digest for block in chain], now)
        needs = Needs() if use is None else Needs(use.uses, use.tokens, use.usd_micros, use.concurrency)
        asked = (it for it in zip(chain, spent, strict=True) if use is not None or it[1].uses)
        return next((short for block, sums in asked if (short := judge_left(block.terms, sums, needs))), None)


def _judge(chain: Sequence[OpenedGrant], use: GrantUse | None, now: Instant) -> Refusal | None:
    if use is not None:
        return judge_use(chain, use, now)
    return highest(judge_grant_time(block.terms, now) for block in chain)
