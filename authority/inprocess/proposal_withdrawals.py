"""The port `ProposalWithdrawals`."""

from dataclasses import dataclass, replace

from authority.domain.proposal import ProposalState
from authority.domain.proposal_states import Act, judge_act
from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.inprocess.tables import Head, Tables
from authority.usecases.ports import RequestMark, WithdrawnProposal


@dataclass(frozen=True, slots=True)
class InProcessProposalWithdrawals:
    """Implements `ports.ProposalWithdrawals`."""

    tables: Tables

    async def withdraw(self, mark: RequestMark, proposal_id: str, now: Instant) -> WithdrawnProposal | Refusal:
        """When it was withdrawn first."""
        answered = self.tables.answered(mark, str)
        if isinstance(answered, Refusal):
            return answered
        head = self.tables.heads.get((mark.tenant, proposal_id))
        if head is None:
            return Refusal(Reason.NOT_FOUND)
        if head.withdraw_time is None:
            judged = judge_act(head.state, Act.WITHDRAW, receipt_id=head.receipt_id or "")
            if isinstance(judged, Refusal):
                return judged
            withdrawn = replace(head, state=ProposalState.WITHDRAWN, withdraw_time=now)
            self.tables.heads[mark.tenant, proposal_id] = withdrawn
            self._tell(mark, proposal_id, head, now)
        self.tables.answer(mark, proposal_id)
        first = now if head.withdraw_time is None else head.withdraw_time
        return WithdrawnProposal(first, replayed=head.withdraw_time is not None)

    def _tell(self, mark: RequestMark, proposal_id: str, before: Head, now: Instant) -> None:
        revision = self.tables.revisions[mark.tenant, proposal_id, before.revision].revision
        self.tables.tell(
            mark.event(
                "proposal.withdraw",
                proposal_id,
                (before.state.value, ProposalState.WITHDRAWN.value),
                now,
                correlation_id=revision.correlation_id,
            )
        )
