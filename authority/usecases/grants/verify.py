"""Judges a grant and changes nothing: looking never counts as a use (case A10)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.grant import OpenedGrant
from authority.domain.grant_use import GrantUse, judge_grant_time, judge_use
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
    """`refusal` is None when the chain holds now and allows the use, as far as can be told before its budgets."""

    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class VerifyGrant:
    """The verdict is data; only a call that cannot be judged is refused.

    What is kept, and what was withdrawn, is told inside the chain's own tenant alone: of another tenant's chain just
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
        return GrantVerdict(_judge(standing.chain, question.use, now))


def _judge(chain: Sequence[OpenedGrant], use: GrantUse | None, now: Instant) -> Refusal | None:
    if use is not None:
        return judge_use(chain, use, now)
    return highest(judge_grant_time(block.terms, now) for block in chain)
