"""Records many decisions of a person in one request (semantics §7)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from authority.domain.identity import Caller, Right, require
from authority.domain.refusal import Refusal
from authority.usecases.decide_proposal import ApprovalRequest, DecideProposal
from authority.usecases.ports import Clock, RecordedApproval, RequestMark


@dataclass(frozen=True, slots=True)
class DecideProposals:
    """Each decision is taken as if it were asked for after the one before it, in a transaction of its own.

    The request id stands for all of them from the first on. Whatever the process does not live to take, or its caller
    goes away before, is taken when the same request comes again; what was taken is then answered as it was.
    """

    decide: DecideProposal
    clock: Clock

    async def __call__(
        self, caller: Caller, mark: RequestMark, requests: Sequence[ApprovalRequest | Refusal]
    ) -> list[RecordedApproval | Refusal] | Refusal:
        """One answer each, in order. A request that is a refusal already was refused for its shape and stays so.

        What is wrong with one refuses that one. NOT_ALLOWED and IDEMPOTENCY_CONFLICT may refuse them all.
        """
        refusal = await self.decide.admit(caller) or require(caller, Right.DECIDE)
        # Where nothing can be taken, no request id is used up.
        if not refusal and not all(isinstance(one, Refusal) for one in requests):
            refusal = await self.decide.approvals.claim(mark, self.clock.now())
        if refusal:
            return refusal
        answers: list[RecordedApproval | Refusal] = []
        for place, one in enumerate(requests):
            if isinstance(one, Refusal):
                answers.append(one)
            else:
                answers.append(await self.decide.decide(caller, replace(one, mark=_mark_of(mark, place))))
        return answers


def _mark_of(mark: RequestMark, place: int) -> RequestMark:
    """The mark of one decision among many. No caller can ask for its id, which holds what ids from outside may not."""
    of_all = hashlib.sha256(mark.request_id.encode()).hexdigest()[:40]
    return replace(mark, request_id=f"{of_all}#{place}")
