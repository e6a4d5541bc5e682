"""Withdraws a proposal for ever (semantics §5, §7)."""

from dataclasses import dataclass

from authority.domain.identity import Caller, PrincipalKind
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.admit import Admit
from authority.usecases.ports import Clock, Proposals, ProposalWithdrawals, RequestMark, WithdrawnProposal


@dataclass(frozen=True, slots=True)
class ProposalWithdrawal:
    """Which proposal to withdraw, with every revision of it."""

    mark: RequestMark
    proposal_id: str


@dataclass(frozen=True, slots=True)
class WithdrawProposal:
    """Once it has answered, no revision of the proposal is issued for or committed, and none follows."""

    admit: Admit
    proposals: Proposals
    withdrawals: ProposalWithdrawals
    clock: Clock

    async def __call__(self, caller: Caller, request: ProposalWithdrawal) -> WithdrawnProposal | Refusal:
        """When it was withdrawn first, by its proposer or an admin.

        Refusals: NOT_FOUND for what is absent or none of the caller's business, which sound alike (case G02);
        ALREADY_COMMITTED with the receipt's id; IDEMPOTENCY_CONFLICT.
        """
        if refusal := await self.admit(caller):
            return refusal
        # Looked up before the tenant's commits are made to wait: nobody may stop them by asking for what is not theirs.
        # A proposal never vanishes, and its proposer never changes.
        found = await self.proposals.get(caller.tenant, request.proposal_id, 0)
        is_admin = caller.principal.kind is PrincipalKind.ADMIN
        if found is None or not (is_admin or found.revision.proposer == caller.ref):
            return Refusal(Reason.NOT_FOUND)
        return await self.withdrawals.withdraw(request.mark, request.proposal_id, self.clock.now())
