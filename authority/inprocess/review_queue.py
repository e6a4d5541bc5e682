"""The port `ReviewQueue`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from authority.domain.decision import DeciderKind, DecisionOutcome, SignedDecision
from authority.domain.proposal import StoredProposal
from authority.domain.proposal_states import COMMITTABLE, proposal_state_at
from authority.domain.quorum import Electorate, interested
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.review import AwaitedReview, unsure
from authority.domain.validation import SignedValidation, ValidationOutcome
from authority.inprocess.tables import Tables


@dataclass(frozen=True, slots=True)
class InProcessReviewQueue:
    """Implements `ports.ReviewQueue`."""

    tables: Tables

    def position_of(self, awaited: AwaitedReview) -> str:
        """Its time, and its id among those of one time."""
        return f"{awaited.proposal.revision.create_time:020}:{awaited.proposal.revision.proposal_id}"

    async def page(
        self,
        tenant: TenantRef,
        *,
        memory_namespace: str,
        apart: frozenset[PrincipalRef],
        after: str,
        size: int,
        now: Instant,
    ) -> Sequence[AwaitedReview]:
        """The oldest first after the position."""
        current = [self.tables.proposal(tenant, it, 0) for of_tenant, it in self.tables.heads if of_tenant == tenant]
        awaited = [
            found
            for proposal in current
            if proposal
            and proposal.revision.memory_namespace == memory_namespace
            and apart.isdisjoint(interested(proposal.revision))
            and (found := self._awaited(proposal, now))
        ]
        return [it for it in sorted(awaited, key=self.position_of) if self.position_of(it) > after][:size]

    def _awaited(self, proposal: StoredProposal, now: Instant) -> AwaitedReview | None:
        revision = proposal.revision
        validation = self.tables.newest_validation(revision.tenant, revision.proposal_id, revision.revision)
        if validation is None or proposal_state_at(proposal, now) not in COMMITTABLE:
            return None
        asking = self._asking(proposal, validation)
        unsure_of_it = validation.receipt.outcome is ValidationOutcome.REVIEW
        if self._allowed_since(proposal, validation, asking) or not (asking or unsure_of_it):
            return None
        needed = max(asking.receipt.persons_needed if asking else 1, 1)
        approving = self._approving(proposal, validation, now)
        if approving >= needed:
            return None
        return AwaitedReview(
            proposal=replace(proposal, content=b""),
            findings=unsure(validation.receipt.findings),
            asking_policies=asking.receipt.determining_policies if asking else (),
            persons_needed=needed,
            persons_approving=approving,
        )

    def _asking(self, proposal: StoredProposal, validation: SignedValidation) -> SignedDecision | None:
        """The newest decision on the validation that asked for persons."""
        asking = [
            it
            for (tenant, _), it in self.tables.decisions.items()
            if tenant == proposal.revision.tenant
            and it.receipt.validation_receipt_digest == validation.digest
            and it.receipt.outcome is DecisionOutcome.REQUIRE_APPROVAL
        ]
        return max(asking, key=lambda it: it.receipt.sequence, default=None)

    def _allowed_since(
        self, proposal: StoredProposal, validation: SignedValidation, asking: SignedDecision | None
    ) -> bool:
        """Whether policy allowed it by itself since it asked."""
        since = asking.receipt.sequence if asking else 0
        return any(
            it.decided_by_kind is DeciderKind.SYSTEM_POLICY
            and it.validation_receipt_digest == validation.digest
            and self.tables.approval_sequences[it.reference] > since
            for it in self.tables.approvals_of(*_key(proposal))
        )

    def _approving(self, proposal: StoredProposal, validation: SignedValidation, now: Instant) -> int:
        """For no holder in particular, so that an approval for one counts, too."""
        electorate = Electorate(
            deciders=self.tables.deciders_of(*_key(proposal)),
            interested=interested(proposal.revision),
            validation_digest=validation.digest,
            holder=proposal.revision.proposer,
            now=now,
        )
        return len(electorate.standing([replace(it, holder=None) for it in self.tables.approvals_of(*_key(proposal))]))


def _key(proposal: StoredProposal) -> tuple[TenantRef, str, int]:
    revision = proposal.revision
    return revision.tenant, revision.proposal_id, revision.revision
