"""What must come of every call, foretold from the notes and written from the semantics: no rule of the service is used.

A foretold `Reason` is the refusal that must answer, None is success.
"""

from dataclasses import dataclass

from authority.domain.capability import Presentation
from authority.domain.decision import ApprovalVerdict, DecisionOutcome
from authority.domain.identity import PrincipalKind, Right
from authority.domain.plan import StoredReceipt
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.reasons import Reason
from authority.domain.statement import KeyPurpose
from authority.usecases.ports import RevokedCapability
from tests.model.notes import (
    Burial,
    Claim,
    Fingerprint,
    Ground,
    Held,
    Lent,
    Notes,
    Revision,
    Settled,
    Verdict,
    Wish,
    fingerprint,
    revision_of,
)
from tests.world.clock import SetClock
from tests.world.world import Person

TABLE = (
    Reason.KEY_REVOKED,
    Reason.BINDING_MISMATCH,
    Reason.POLICY_DENIED,
    Reason.EXPIRED,
    Reason.REVOKED,
    Reason.NOT_VALIDATED,
    Reason.APPROVAL_REQUIRED,
    Reason.ALREADY_COMMITTED,
)
"""The error table's order of what can be said against a commit or an issue."""
DECIDABLE = (ProposalState.VALIDATED, ProposalState.APPROVED)
STANDING = (*DECIDABLE, ProposalState.COMMITTED)
AGAINST = (ApprovalVerdict.REJECT, ApprovalVerdict.REQUEST_CHANGES)


def upper(reasons: dict[Reason, bool]) -> Reason | None:
    """The one of those that hold which answers."""
    return next((reason for reason in TABLE if reasons.get(reason)), None)


@dataclass(frozen=True, slots=True)
class Foretelling:
    """What must come of each call. `lease_ms` is how long a dead process' lease is seen, None for ever."""

    notes: Notes
    clock: SetClock
    lease_ms: int | None

    # --- proposals ---------------------------------------------------------------------------------------------------

    def of_revision(self, proposal: StoredProposal, by: Person) -> Reason | None:
        """CreateProposal for a proposal that exists."""
        if proposal.revision.proposer != by.ref:
            return Reason.NOT_FOUND
        if self._head(proposal) is ProposalState.WITHDRAWN:
            return Reason.NOT_VALIDATED
        return Reason.ALREADY_COMMITTED if proposal.revision.proposal_id in self.notes.committed else None

    def of_withdrawal(self, proposal: StoredProposal, by: Person) -> Reason | None:
        """WithdrawProposal: by its proposer or an admin, before it is committed."""
        if by.ref != proposal.revision.proposer and by.principal.kind is not PrincipalKind.ADMIN:
            return Reason.NOT_FOUND
        return Reason.ALREADY_COMMITTED if proposal.revision.proposal_id in self.notes.committed else None

    def of_validation(self, proposal: StoredProposal) -> Reason | None:
        """ValidateProposal: what a person turned down, no validator lifts again."""
        last = self._last_verdict(revision_of(proposal))
        turned_down = last is not None and last.verdict in AGAINST
        return self._of_current(proposal) or (Reason.NOT_VALIDATED if turned_down else None)

    def passes(self, proposal: StoredProposal) -> bool:
        """Whether validators let the content through: nothing living says the same but what is to be corrected."""
        corrected = self.notes.corrected_by(proposal)
        same = (it for it in self.notes.committed.values() if it.content == proposal.content and it is not corrected)
        return not any(self.notes.is_alive(settled) for settled in same)

    def of_verdict(self, proposal: StoredProposal, verdict: ApprovalVerdict) -> Reason | None:
        """DecideProposal."""
        settled = self.notes.committed.get(proposal.revision.proposal_id)
        if verdict is ApprovalVerdict.ADOPT:
            return self._of_adoption(proposal, settled)
        if verdict is ApprovalVerdict.REVOKE and settled:
            return self._of_taking_back(settled)
        validated = bool(self.notes.validations.get(revision_of(proposal)))
        decidable = verdict in AGAINST or self._head(proposal) in DECIDABLE
        return self._of_current(proposal) or (None if validated and decidable else Reason.NOT_VALIDATED)

    def _of_adoption(self, proposal: StoredProposal, settled: Settled | None) -> Reason | None:
        """What policy allowed without a person, and nobody turned back; once committed, what the record rests on."""
        proposal_id, revision = key = revision_of(proposal)
        if self.notes.heads[proposal_id].revision != revision or self._head(proposal) not in STANDING:
            return Reason.NOT_VALIDATED
        if settled and self.notes.withdrawal_of(settled):
            return Reason.REVOKED
        activations = [settled.held.ground] if settled else self.notes.activations.get(key, [])
        stands = any(it.activates and not self.notes.turned_back(key, it.moment) for it in activations)
        return None if stands else Reason.NOT_FOUND

    def _of_taking_back(self, settled: Settled) -> Reason | None:
        """A record that rests on policy alone, until a person adopts it."""
        if self.notes.withdrawal_of(settled):
            return Reason.REVOKED
        ground = settled.held.ground
        final = not ground.activates or self.notes.is_adopted(ground.revision)
        return Reason.ALREADY_COMMITTED if final else None

    def _of_current(self, proposal: StoredProposal) -> Reason | None:
        proposal_id, revision = revision_of(proposal)
        if self.notes.heads[proposal_id].revision != revision or self._head(proposal) is ProposalState.WITHDRAWN:
            return Reason.NOT_VALIDATED
        return Reason.ALREADY_COMMITTED if proposal_id in self.notes.committed else None

    def _head(self, proposal: StoredProposal) -> ProposalState:
        return self.notes.heads[proposal.revision.proposal_id].state

    def _last_verdict(self, revision: Revision) -> Verdict | None:
        verdicts = self.notes.verdicts.get(revision)
        return verdicts[-1] if verdicts else None

    # --- policy ------------------------------------------------------------------------------------------------------

    def of_decision(self, proposal: StoredProposal, holder: Person) -> Reason | None:
        """EvaluatePolicy."""
        if str(holder.ref) in self.notes.withdrawn:
            return Reason.NOT_FOUND
        validated = bool(self.notes.validations.get(revision_of(proposal)))
        current = self._of_current(proposal) is None
        return None if validated and current and self._head(proposal) in DECIDABLE else Reason.NOT_VALIDATED

    def outcome(self, proposal: StoredProposal) -> tuple[DecisionOutcome, str]:
        """What the active policy says, and the approval that it rests on."""
        if self.notes.policy == "closed":
            return DecisionOutcome.DENY, ""
        by_itself = self.notes.policy == "open" or proposal.revision.proposer_kind is PrincipalKind.USER
        if by_itself and not self.notes.taken_back(revision_of(proposal)):
            return DecisionOutcome.ALLOW, ""
        # By default what an agent says lasts only when a person has approved it.
        reference = self._standing_approval(revision_of(proposal))
        return (DecisionOutcome.ALLOW if reference else DecisionOutcome.REQUIRE_APPROVAL), reference

    def _standing_approval(self, revision: Revision) -> str:
        """The newest that nobody turned back, on the newest validation, and unexpired: one person decides here."""
        validation = self.notes.validations[revision][-1].digest
        for said in reversed(self.notes.verdicts.get(revision, [])):
            if said.verdict.is_against:
                break
            counts = said.validation == validation and self.clock.now() < said.expire
            if said.verdict is ApprovalVerdict.APPROVE and counts:
                return said.reference
        return ""

    # --- capabilities ------------------------------------------------------------------------------------------------

    def of_issue(self, wish: Wish, by: Person) -> Reason | Held | None:
        """IssueCapability; a live capability is answered again, and no retry undoes a revocation."""
        ground, holder, claim = wish.ground, wish.holder, wish.claim
        if wish.lent and (refused := self.of_presenting(wish.lent, by)):
            return refused
        may = wish.lent is not None or by.ref == holder.ref or Right.ISSUE in by.principal.rights
        if not may or {str(holder.ref), holder.key_id} & self.notes.withdrawn:
            return Reason.NOT_ALLOWED
        if self.notes.stands_for.get(claim, _request(ground)) != _request(ground):
            return Reason.IDEMPOTENCY_CONFLICT
        if claim in self.notes.settled:
            return Reason.ALREADY_COMMITTED
        undoes = (by.ref, wish.request_id) in self.notes.answered and self.notes.was_revoked(claim)
        return self._live(claim) or self._against_issuing(wish, undoes=undoes) or self._of_spending(wish)

    def of_presenting(self, lent: Lent, by: Person) -> Reason | None:
        """What a grant that stands for the caller's right is refused for, whatever is asked by it."""
        if by.ref != lent.granted.holder.ref:
            return Reason.HOLDER_MISMATCH
        return upper(self._against_grant(lent))

    def _against_grant(self, lent: Lent) -> dict[Reason, bool]:
        """What its chain rests on, as it is now."""
        return {
            Reason.KEY_REVOKED: bool(lent.keys & self.notes.withdrawn),
            Reason.EXPIRED: self.clock.now() >= lent.expire,
            Reason.REVOKED: bool(lent.standing & self.notes.withdrawn or lent.uses.keys() & self.notes.grants_revoked),
        }

    def _of_spending(self, wish: Wish) -> Reason | None:
        """Below everything else: too little is left, of any block."""
        uses = wish.lent.uses if wish.lent else {}
        most_live, now = wish.lent.concurrency if wish.lent else {}, self.clock.now()
        exhausted = any(
            self.notes.spent[digest] >= most or self.notes.live_under(digest, now) >= most_live[digest]
            for digest, most in uses.items()
        )
        return Reason.BUDGET_EXHAUSTED if exhausted else None

    def _live(self, claim: Claim) -> Held | None:
        held = self.notes.live.get(claim)
        lives = held and self.clock.now() < held.expire and held.capability_id not in self.notes.revoked
        return held if lives else None

    def _against_issuing(self, wish: Wish, *, undoes: bool) -> Reason | None:
        ground, holder = wish.ground, wish.holder
        decision = ground.allowed.decision.receipt
        return upper(
            {
                Reason.KEY_REVOKED: bool(ground.signers & self.notes.known),
                Reason.BINDING_MISMATCH: decision.holder != holder.ref,
                Reason.POLICY_DENIED: ground.policy != self.notes.policy
                or ground.outcome is DecisionOutcome.DENY
                or (wish.lent is not None and wish.lent.policy != self.notes.policy),
                Reason.EXPIRED: self.clock.now() >= ground.expire,
                Reason.REVOKED: undoes,
                Reason.NOT_VALIDATED: not self._stands(ground),
                Reason.APPROVAL_REQUIRED: ground.outcome is DecisionOutcome.REQUIRE_APPROVAL,
                Reason.ALREADY_COMMITTED: ground.revision[0] in self.notes.committed,
            }
        )

    def of_revocation(self, held: Held, by: Person, request_id: str) -> Reason | RevokedCapability:
        """RevokeCapability: for ever, unless it was committed; what is nobody's business is not there."""
        everybodys = by.principal.kind is PrincipalKind.ADMIN or Right.ISSUE in by.principal.rights
        at_home = by.principal.tenant == held.holder.principal.tenant
        if not at_home or not (everybodys or by.ref == held.holder.ref):
            return Reason.NOT_FOUND
        if self.notes.answered.get((by.ref, request_id), held.capability_id) != held.capability_id:
            return Reason.IDEMPOTENCY_CONFLICT
        if self.notes.is_consumed(held):
            return Reason.ALREADY_COMMITTED
        first = self.notes.revoked.get(held.capability_id)
        return RevokedCapability(self.clock.now() if first is None else first, replayed=first is not None)

    def of_record_revocation(self, settled: Settled, by: Person, request_id: str) -> Reason | Burial | None:
        """RevokeRecord: the first tombstone after its decision, None where there is none yet.

        Of those who propose here the user may decide as well, and the agent takes nothing back.
        """
        principal, holder = by.principal, settled.held.holder
        judges = principal.kind is PrincipalKind.ADMIN or Right.DECIDE in principal.rights
        if principal.tenant != holder.principal.tenant or not (judges or by.ref == holder.ref):
            return Reason.NOT_FOUND
        record_id = settled.receipt.record_id
        if self.notes.answered.get((by.ref, request_id), record_id) != record_id:
            return Reason.IDEMPOTENCY_CONFLICT
        return self.notes.withdrawal_of(settled)

    def of_correction(self, settled: Settled) -> Reason | None:
        """CorrectRecord: of what can be read."""
        return None if self.notes.is_alive(settled) else Reason.NOT_FOUND

    def of_look(self, held: Held, presentation: Presentation) -> Reason | None:
        """VerifyCapability: the capability's own terms by the keys that this process knows, and its revocation."""
        carried = self._carried(held, presentation)
        return upper(carried | {Reason.REVOKED: held.capability_id in self.notes.revoked})

    def of_commit(self, held: Held, by: Person, presentation: Presentation) -> Reason | StoredReceipt | None:
        """CommitValidated; what was settled is answered with its first receipt."""
        if (by.principal.tenant, by.ref) != (held.holder.principal.tenant, held.holder.ref):
            return Reason.HOLDER_MISMATCH
        claim = (by.ref, presentation.commit_idempotency_key)
        asked, settled = fingerprint(held.ground.allowed.proposal, presentation), self.notes.settled.get(claim)
        if settled and settled.fingerprint == asked:
            return settled.receipt
        if settled or self._runs_for_another(claim, held, presentation):
            return Reason.IDEMPOTENCY_CONFLICT
        carried = self._carried(held, presentation)
        signer = self.notes.signing_here[KeyPurpose.RECEIPT]
        if not any(carried.values()) and signer in self.notes.withdrawn:
            # The process does not know yet that it may not sign receipts with this key.
            return Reason.DEPENDENCY_UNAVAILABLE
        live = self._live_state(held)
        return upper({reason: bool(carried.get(reason) or live.get(reason)) for reason in TABLE})

    def of_commit_by_envelope(self, held: Held) -> Reason | StoredReceipt | None:
        """As by a call of the holder, but that a withdrawn key or holder proves nothing from the start."""
        if {held.holder.key_id, str(held.holder.ref)} & self.notes.withdrawn:
            return Reason.PROOF_INVALID
        return self.of_commit(held, held.holder, held.issued.presentation)

    def differs(self, held: Held, presentation: Presentation) -> str:
        """The terms in which the request differs from the one that was settled under its key."""
        settled = self.notes.settled[held.holder.ref, presentation.commit_idempotency_key].fingerprint
        asked = fingerprint(held.ground.allowed.proposal, presentation)
        return ",".join(sorted(term for term in asked if asked[term] != settled[term]))

    def takes_lease(self, held: Held, presentation: Presentation) -> bool:
        """Whether a commit that gets as far as the database leaves a lease behind when its process dies there."""
        claim = (held.holder.ref, presentation.commit_idempotency_key)
        return self.runs(claim) is None and not any(self._carried(held, presentation).values())

    def runs(self, claim: Claim) -> Fingerprint | None:
        """For what a dead process' lease says that the key is running."""
        running, since = self.notes.running.get(claim, (None, self.clock.now()))
        expired = self.lease_ms is not None and self.clock.now() >= since + self.lease_ms
        return None if expired else running

    def _runs_for_another(self, claim: Claim, held: Held, presentation: Presentation) -> bool:
        return self.runs(claim) not in (None, fingerprint(held.ground.allowed.proposal, presentation))

    def _carried(self, held: Held, presentation: Presentation) -> dict[Reason, bool]:
        """What the process itself sees against it."""
        return {
            Reason.KEY_REVOKED: held.signer in self.notes.known,
            Reason.BINDING_MISMATCH: presentation != held.issued.presentation,
            Reason.EXPIRED: self.clock.now() >= held.expire,
        }

    def _live_state(self, held: Held) -> dict[Reason, bool]:
        """What the stored state says against it: everything that it rests on, as it is now."""
        ground, withdrawn = held.ground, self.notes.withdrawn
        keys = {held.signer, held.holder.key_id, *ground.signers}
        committed = ground.revision[0] in self.notes.committed
        corrected = None if committed else self.notes.corrected_by(ground.allowed.proposal)
        buried = self.notes.burial_after(ground.allowed.proposal.content, ground.moment) is not None or (
            corrected is not None and self.notes.withdrawal_of(corrected) is not None
        )
        lent = self._against_grant(held.wish.lent) if held.wish.lent else {}
        replaced = corrected is not None and corrected.receipt.record_id in self.notes.superseded
        return {
            Reason.KEY_REVOKED: bool(keys & withdrawn) or lent.get(Reason.KEY_REVOKED, False),
            Reason.POLICY_DENIED: ground.policy != self.notes.policy,
            Reason.EXPIRED: self.clock.now() >= min(held.expire, ground.expire) or lent.get(Reason.EXPIRED, False),
            Reason.REVOKED: lent.get(Reason.REVOKED, False)
            or str(held.holder.ref) in withdrawn
            or buried
            or held.capability_id in self.notes.revoked,
            Reason.NOT_VALIDATED: not self._stands(ground) or replaced,
            Reason.APPROVAL_REQUIRED: not self._approved(ground),
            Reason.ALREADY_COMMITTED: committed,
        }

    def _stands(self, ground: Ground) -> bool:
        proposal_id, revision = ground.revision
        head = self.notes.heads[proposal_id]
        return head.revision == revision and head.state in STANDING

    def _approved(self, ground: Ground) -> bool:
        """The approval is unexpired, and nobody said otherwise after it; or nobody took back what needed none."""
        if not ground.approval:
            return not self.notes.taken_back(ground.revision, ground.moment)
        verdicts = self.notes.verdicts[ground.revision]
        named = next(at for at, said in enumerate(verdicts) if said.reference == ground.approval)
        others = (said.verdict for said in verdicts[named:])
        return self.clock.now() < verdicts[named].expire and not any(it.is_against for it in others)


def _request(ground: Ground) -> object:
    """What a key that is issued on this ground stands for."""
    proposal = ground.allowed.proposal
    revision = proposal.revision
    presentation = Presentation(
        proposal.content, revision.content_digest, revision.media_type, revision.evidence_digests, ""
    )
    return fingerprint(proposal, presentation)
