"""The port `Proposals`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from authority.domain.decision import Approval
from authority.domain.proposal import ProposalRevision, ProposalState, StoredProposal
from authority.domain.proposal_states import proposal_state_at, refusal_of
from authority.domain.reasons import Reason
from authority.domain.record import MemoryNamespace
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.inprocess.grants import judge_spend, keep_spend
from authority.inprocess.tables import Head, Tables
from authority.usecases.ports import RequestMark, Sees, Spend


@dataclass(frozen=True, slots=True)
class InProcessProposals:
    """Implements `ports.Proposals`."""

    tables: Tables

    async def namespace(self, tenant: TenantRef, name: str) -> MemoryNamespace | None:
        """The memory namespace, when an operator made it."""
        return self.tables.namespaces.get((tenant, name))

    async def get(self, tenant: TenantRef, proposal_id: str, revision: int) -> StoredProposal | None:
        """The revision, the current one for 0."""
        return self.tables.proposal(tenant, proposal_id, revision)

    async def create(
        self, mark: RequestMark, proposal: StoredProposal, spend: Spend | None = None
    ) -> StoredProposal | Refusal:
        """Keeps the revision when it follows the head's current one, and spends what it costs."""
        if earlier := await self.made_by(mark):
            return earlier
        if refusal := self._judge_place(proposal):
            return refusal
        revision = proposal.revision
        if spend:
            if refusal := judge_spend(self.tables, mark.tenant, spend, revision.create_time):
                return refusal
            keep_spend(self.tables, mark.tenant, spend)
        self.tables.heads[revision.tenant, revision.proposal_id] = Head(
            revision.revision, ProposalState.PROPOSED, supersedes_record_id=revision.supersedes_record_id
        )
        self.tables.revisions[revision.tenant, revision.proposal_id, revision.revision] = proposal
        self.tables.tell(
            mark.event(
                "proposal.create",
                f"{revision.proposal_id}:{revision.revision}",
                ("", ProposalState.PROPOSED.value),
                revision.create_time,
                correlation_id=revision.correlation_id,
                costs=revision.costs,
            )
        )
        self.tables.answer(mark, (revision.proposal_id, revision.revision))
        return proposal

    async def made_by(self, mark: RequestMark) -> StoredProposal | Refusal | None:
        """What this request kept when it came before, else None."""
        made = self.tables.answered(mark, tuple)
        if made is None or isinstance(made, Refusal):
            return made
        kept = self.tables.proposal(mark.tenant, *made)
        assert kept
        return kept

    async def newest_validation(self, tenant: TenantRef, proposal_id: str, revision: int) -> Statement | None:
        """The newest validation receipt of the revision."""
        found = self.tables.newest_validation(tenant, proposal_id, revision)
        return found.statement if found else None

    async def decisions_on(self, tenant: TenantRef, proposal_id: str, revision: int, most: int) -> Sequence[Approval]:
        """What was decided on the revision, the newest `most`."""
        return self.tables.approvals_of(tenant, proposal_id, revision)[-most:]

    async def page(
        self,
        tenant: TenantRef,
        *,
        memory_namespace: str,
        state: ProposalState | None,
        reader: PrincipalRef,
        sees: Sees,
        after: str,
        size: int,
        now: Instant,
    ) -> Sequence[StoredProposal]:
        """Current revisions in the order of their ids, content left out."""
        ids = sorted(proposal_id for of_tenant, proposal_id in self.tables.heads if of_tenant == tenant)
        current = (self.tables.proposal(tenant, proposal_id, 0) for proposal_id in ids if proposal_id > after)
        found = [
            replace(proposal, content=b"")
            for proposal in current
            if proposal
            and proposal.revision.memory_namespace == memory_namespace
            and state in (None, proposal_state_at(proposal, now))
            and self._is_for(tenant, reader, sees, proposal.revision)
        ]
        return found[:size]

    def _is_for(self, tenant: TenantRef, reader: PrincipalRef, sees: Sees, revision: ProposalRevision) -> bool:
        if sees is Sees.EVERY or revision.proposer == reader:
            return True
        return sees is Sees.SHOWN and self.tables.is_shown(revision, self.tables.reader(tenant, reader))

    def _judge_place(self, proposal: StoredProposal) -> Refusal | None:
        revision = proposal.revision
        head = self.tables.heads.get((revision.tenant, revision.proposal_id))
        if (head.revision if head else 0) != revision.revision - 1:
            return Refusal(Reason.CONTENTION)
        if head and head.receipt_id:
            return Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": head.receipt_id})
        return refusal_of(head.state) if head and head.state is ProposalState.WITHDRAWN else None
