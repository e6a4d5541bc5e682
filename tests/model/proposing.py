"""How a revision comes to stand on a decision of policy: each call, with what must come of it."""

from authority.domain.decision import AUTO_APPROVED, ApprovalVerdict
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.references import HOUR, after
from tests.model.notes import Burial, Ground, Head, Verdict, revision_of
from tests.model.player import Player
from tests.world.withdrawing import withdraw
from tests.world.world import Allowed, Person, must

EVIDENCE = (b"\x01" * 32, b"\x02" * 32)
_STATES = {
    ApprovalVerdict.APPROVE: ProposalState.APPROVED,
    ApprovalVerdict.REJECT: ProposalState.REJECTED,
    ApprovalVerdict.REQUEST_CHANGES: ProposalState.CHANGES_REQUESTED,
    ApprovalVerdict.REVOKE: ProposalState.VALIDATED,
}


class Proposing(Player):
    """What is done with proposals."""

    async def proposed(self, by: PrincipalKind, fact: bytes) -> StoredProposal:
        """A new proposal, asked for twice."""
        person, request_id = self.world.person(by), self.request_id()
        proposal, again = [
            must(await self.world.propose(fact, by=person, request_id=request_id, evidence_digests=EVIDENCE))
            for _ in range(2)
        ]
        self.agree("a retry of propose", proposal, again)
        return self._noted(proposal)

    async def revised(self, proposal: StoredProposal, by: PrincipalKind, fact: bytes) -> StoredProposal | None:
        """CreateProposal for a proposal that exists."""
        person, proposal_id = self.world.person(by), proposal.revision.proposal_id
        revised = await self.ask(
            ("revise", self.request_id()),
            self.foretelling.of_revision(proposal, person),
            lambda request_id: self.world.propose(
                fact, by=person, proposal_id=proposal_id, request_id=request_id, evidence_digests=EVIDENCE
            ),
            retry=False,
        )
        if revised is None:
            return None
        corrects = proposal.revision.supersedes_record_id
        self.agree("what a next revision corrects", corrects, revised.revision.supersedes_record_id)
        return self._noted(revised)

    def _noted(self, proposal: StoredProposal) -> StoredProposal:
        proposal_id, revision = revision_of(proposal)
        self.notes.heads[proposal_id] = Head(revision, ProposalState.PROPOSED)
        self.notes.tell("proposal.create", proposal.revision.proposer, f"{proposal_id}:{revision}", "proposed")
        return proposal

    async def taken_back(self, proposal: StoredProposal, by: Person) -> None:
        """WithdrawProposal, and once more: the first time stands."""
        withdrawn = await self.ask(
            ("withdraw", self.request_id()),
            self.foretelling.of_withdrawal(proposal, by),
            lambda request_id: withdraw(self.world, proposal, by=by, request_id=request_id),
            retry=False,
        )
        if withdrawn is None:
            return
        proposal_id = proposal.revision.proposal_id
        head = self.notes.heads[proposal_id]
        self.agree("whether it was withdrawn before", head.state is ProposalState.WITHDRAWN, withdrawn.replayed)
        if not withdrawn.replayed:
            head.state = ProposalState.WITHDRAWN
            self.notes.tell("proposal.withdraw", by.ref, proposal_id, "withdrawn")
        again = must(await withdraw(self.world, proposal, by=by))
        self.agree("another withdrawal", (withdrawn.withdraw_time, True), (again.withdraw_time, again.replayed))

    async def validated(self, proposal: StoredProposal, *, retry: bool = False) -> None:
        """ValidateProposal."""
        passes = self.foretelling.passes(proposal)
        recorded = await self.ask(
            ("validate", *revision_of(proposal)),
            self.foretelling.of_validation(proposal),
            lambda request_id: self.world.validate(proposal, by=self.world.admin, request_id=request_id),
            retry=retry,
        )
        if recorded:
            state = ProposalState.VALIDATED if passes else ProposalState.REJECTED
            self.agree("the state after validation", state, recorded.state)
            self.notes.validations.setdefault(revision_of(proposal), []).append(recorded.signed)
            self._move("validate", proposal, state)

    async def reviewed(
        self, proposal: StoredProposal, verdict: ApprovalVerdict, *, brief: bool = False, retry: bool = False
    ) -> None:
        """DecideProposal. A brief decision counts for an hour; asked again after that it would be too late for it."""
        expire = after(self.world.now(), HOUR) if brief else None
        recorded = await self.ask(
            ("review", *revision_of(proposal), verdict),
            self.foretelling.of_verdict(proposal, verdict),
            lambda request_id: self.world.approve(proposal, verdict, expire_time=expire, request_id=request_id),
            retry=retry,
        )
        if recorded:
            validation = self.notes.validations[revision_of(proposal)][-1].digest
            lasts = after(self.world.now(), HOUR) if brief else after(self.world.now(), 30 * 24 * HOUR)
            said = Verdict(recorded.reference, verdict, validation, lasts, self.notes.next_moment())
            self.notes.verdicts.setdefault(revision_of(proposal), []).append(said)
            settled = self.notes.committed.get(proposal.revision.proposal_id)
            state = self.notes.heads[proposal.revision.proposal_id].state
            self._move(verdict.value, proposal, state if settled else _STATES.get(verdict, state))
            if settled and verdict is ApprovalVerdict.REVOKE:
                self.note_withdrawal(settled.content, self.world.admin, Burial(said.moment))

    def note_withdrawal(self, content: bytes, by: Person, burial: Burial) -> None:
        """A content is withdrawn, with every record that says it."""
        for settled in self.notes.committed.values():
            if settled.content == content and self.notes.withdrawal_of(settled) is None:
                record_id = settled.receipt.record_id
                self.notes.endings.append(
                    (record_id, "memory.revoked.v1", 3 if record_id in self.notes.superseded else 2)
                )
                self.notes.tell("memory.revoke", by.ref, record_id, "revoked")
        self.notes.buried.setdefault(content, []).append(burial)

    def _move(self, verb: str, proposal: StoredProposal, state: ProposalState) -> None:
        proposal_id = proposal.revision.proposal_id
        self.notes.heads[proposal_id].state = state
        self.notes.tell(f"proposal.{verb}", self.world.admin.ref, proposal_id, state.value)

    async def decided(self, proposal: StoredProposal, holder: Person, *, retry: bool = False) -> Ground | None:
        """EvaluatePolicy, whatever it says."""
        foretold = self.foretelling.of_decision(proposal, holder)
        decision = await self.ask(
            ("decide", *revision_of(proposal), holder.ref),
            foretold,
            lambda request_id: self.world.decide(proposal, holder=holder, by=self.world.admin, request_id=request_id),
            retry=retry,
        )
        if decision is None:
            return None
        outcome, approval = self.foretelling.outcome(proposal)
        ground = Ground(
            Allowed(proposal, self.notes.validations[revision_of(proposal)][-1], decision),
            self.notes.policy,
            self.notes.next_moment(),
        )
        self.agree("the outcome of policy", (outcome, approval), (ground.outcome, ground.approval))
        proposal_id, revision = revision_of(proposal)
        if ground.activates:
            self.notes.activations.setdefault((proposal_id, revision), []).append(ground)
        next_state = AUTO_APPROVED if ground.activates else outcome.value
        self.notes.tell("policy.decide", self.world.admin.ref, f"{proposal_id}:{revision}", next_state)
        return ground
