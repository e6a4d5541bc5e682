"""The verb that withdraws a proposal."""

from authority.domain.proposal import StoredProposal
from authority.domain.refusal import Refusal
from authority.usecases.ports import WithdrawnProposal
from authority.usecases.withdraw_proposal import ProposalWithdrawal
from tests.world.world import Person, World


async def withdraw(
    world: World, proposal: StoredProposal | str, *, by: Person | None = None, request_id: str | None = None
) -> WithdrawnProposal | Refusal:
    """WithdrawProposal, by the user, who proposes unless told otherwise."""
    by = by or world.user
    proposal_id = proposal if isinstance(proposal, str) else proposal.revision.proposal_id
    asked = ProposalWithdrawal(world.mark(by, request_id, "withdraw", proposal_id), proposal_id)
    return await world.authority.do.withdraw_proposal(by.calls(), asked)
