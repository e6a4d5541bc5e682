"""Reads proposals: every one for deciders, for readers those whose record they would see, and the caller's own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from authority.domain import limits
from authority.domain.decision import Approval
from authority.domain.identity import Caller, Right
from authority.domain.membership import SCOPED, Scope
from authority.domain.proposal import ProposalRevision, ProposalState, StoredProposal, Visibility
from authority.domain.proposal_states import proposal_state_at
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.usecases.admit import Admit
from authority.usecases.known_namespaces import KnownNamespaces
from authority.usecases.paging import Page, PageRequest, Pages
from authority.usecases.ports import Clock, Memberships, Proposals, Sees
from authority.usecases.weights import weight_of_proposal


@dataclass(frozen=True, slots=True)
class FoundProposal:
    """A revision, its newest validation receipt when there is one, and what was decided on it, the newest 200."""

    proposal: StoredProposal
    validation_receipt: Statement | None
    decisions: tuple[Approval, ...] = ()


@dataclass(frozen=True, slots=True)
class GetProposal:
    """NOT_FOUND for what is absent and for what the caller may not see, alike."""

    admit: Admit
    proposals: Proposals
    memberships: Memberships
    clock: Clock

    async def __call__(self, caller: Caller, proposal_id: str, revision: int) -> FoundProposal | Refusal:
        """The revision, the newest for 0."""
        if refusal := await self.admit(caller):
            return refusal
        found = await self.proposals.get(caller.tenant, proposal_id, revision)
        if found is None or not await self._is_for(caller, found.revision):
            return Refusal(Reason.NOT_FOUND)
        receipt = await self.proposals.newest_validation(caller.tenant, proposal_id, found.revision.revision)
        key = (caller.tenant, proposal_id, found.revision.revision)
        decisions = await self.proposals.decisions_on(*key, limits.EXPORT_ITEMS)
        return FoundProposal(
            replace(found, state=proposal_state_at(found, self.clock.now())), receipt, tuple(decisions)
        )

    async def _is_for(self, caller: Caller, revision: ProposalRevision) -> bool:
        if caller.principal.may(Right.DECIDE) or revision.proposer == caller.ref:
            return True
        if not caller.principal.may(Right.READ):
            return False
        if revision.visibility not in SCOPED:
            return revision.visibility is Visibility.WORKSPACE
        scope = Scope(revision.visibility, revision.visibility_scope)
        return await self.memberships.is_member(caller.tenant, caller.ref, scope)


@dataclass(frozen=True, slots=True)
class ListProposals:
    """Newest revisions page by page, as far as the caller sees them. What waits for persons is `ListReviews`'."""

    admit: Admit
    proposals: Proposals
    known: KnownNamespaces
    pages: Pages
    clock: Clock

    async def __call__(
        self, caller: Caller, memory_namespace: str, state: ProposalState | None, page: PageRequest
    ) -> Page[StoredProposal] | Refusal:
        """Without `state` those in every state. NOT_FOUND for an unknown memory namespace."""
        if refusal := await self.admit(caller):
            return refusal
        sees, now = _sees(caller), self.clock.now()

        async def fetch(after: str, size: int) -> Sequence[StoredProposal]:
            found = await self.proposals.page(
                caller.tenant,
                memory_namespace=memory_namespace,
                state=state,
                reader=caller.ref,
                sees=sees,
                after=after,
                size=size,
                now=now,
            )
            return [replace(proposal, state=proposal_state_at(proposal, now)) for proposal in found]

        query = ("proposals", memory_namespace, state.value if state else "")
        found = await self.pages.turn(
            caller, query, page, fetch, lambda proposal: proposal.revision.proposal_id, weight_of_proposal
        )
        return await self.known.judge(caller.tenant, memory_namespace, found)


def _sees(caller: Caller) -> Sees:
    if caller.principal.may(Right.DECIDE):
        return Sees.EVERY
    return Sees.SHOWN if caller.principal.may(Right.READ) else Sees.OWN
