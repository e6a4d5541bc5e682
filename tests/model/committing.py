"""Issuing capabilities, committing them and looking at them: each call, with what must come of it."""

import json
from dataclasses import dataclass, replace
from typing import Unpack

from authority.domain.capability import Presentation
from authority.domain.decision import ApprovalVerdict, DecisionOutcome
from authority.domain.identity import PrincipalKind
from authority.domain.plan import StoredReceipt
from authority.domain.proposal import StoredProposal
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.rpc.convert.statements import statement_message
from authority.usecases.commit import CommitAnswer
from authority.usecases.ports import IssuedCapability
from authority.usecases.read_receipts import ReceiptQuery
from capability_authority.offline import canonicalize, sha256, verify_receipt
from tests.model.notes import Held, Lent, Wish, fingerprint, revision_of
from tests.model.proposing import Proposing
from tests.model.stages import AFTER, ServiceDied
from tests.world.enveloping import commit_by, envelope_of
from tests.world.granting import Granted, Granting
from tests.world.world import Issued, Person, Presented, must, reason_of


@dataclass(frozen=True, slots=True)
class Way:
    """How a proposal comes to capabilities: by how many revisions, how long after the decision, for how many keys."""

    revisions: int
    brief: bool
    """Whether an approval, if one is asked for, counts for an hour only."""
    pause_ms: int
    keys: int
    lifetime_ms: int


class Committing(Proposing):
    """What is done with capabilities."""

    async def made_ready(self, by: PrincipalKind, fact: bytes, holder: Person, way: Way) -> list[Held]:
        """Goes from a proposal to capabilities, as far as the way leads."""
        return await self.brought_on(await self.proposed(by, fact), by, holder, way)

    async def brought_on(
        self, proposal: StoredProposal, by: PrincipalKind, holder: Person, way: Way, lent: Lent | None = None
    ) -> list[Held]:
        """The way of a proposal that its proposer just made; under the grant, if any, that the holder holds."""
        fact = proposal.content
        for _ in range(1, way.revisions):
            proposal = await self.revised(proposal, by, fact) or proposal
        await self.validated(proposal)
        ground = await self.decided(proposal, holder)
        if ground and ground.outcome is DecisionOutcome.REQUIRE_APPROVAL:
            await self.reviewed(proposal, ApprovalVerdict.APPROVE, brief=way.brief)
            ground = await self.decided(proposal, holder)
        if ground is None:
            return []
        self.stage.clock.advance(way.pause_ms)
        keys = [f"key-{self.request_id()}" for _ in range(way.keys)]
        wishes = [Wish(ground, key, holder, way.lifetime_ms, self.request_id(), lent) for key in keys]
        issued = [await self.issued(wish, holder) for wish in wishes]
        return [held for held in issued if held]

    async def issued(self, wish: Wish, by: Person) -> Held | None:
        """A new capability; None for a refusal, and for one that is live already."""
        foretold = self.foretelling.of_issue(wish, by)
        terms, lent = wish.terms, wish.lent
        if lent:
            if self.foretelling.of_presenting(lent, by) is None:
                self.meet(lent.granted, by)
            answer = await Granting(self.world).issue_as(terms, lent.granted, by)
        else:
            answer = await self.world.issue(
                terms.ground,
                terms.key,
                holder=terms.holder,
                by=by,
                request_id=terms.request_id,
                lifetime_ms=terms.lifetime_ms,
            )
        return self.see_issue(wish, by, foretold, answer)

    def meet(self, granted: Granted, by: Person) -> None:
        """What a holder made offline is kept once it is used, or revoked, and that is told."""
        for block in granted.chain:
            if not block.terms.issuer and block.digest not in self.notes.met:
                self.notes.met.add(block.digest)
                self.notes.tell("grant.meet", by.ref, f"sha256:{block.digest.hex()}", "active")

    def see_issue(
        self, wish: Wish, by: Person, foretold: Reason | Held | None, answer: IssuedCapability | Refusal
    ) -> Held | None:
        """Holds the answer to a wish against what was foretold, and notes a new capability."""
        if isinstance(foretold, Reason) or isinstance(answer, Refusal):
            self.agree("issue", foretold, reason_of(answer))
            return None
        self.notes.answered[by.ref, wish.request_id] = wish.key
        if foretold:
            self.agree(
                "a capability that lives", (foretold.issued.capability, True), (answer.capability, answer.replayed)
            )
            return None
        self.agree("a new capability is replayed", foretold=False, came=answer.replayed)
        held = Held(wish, Issued(wish.ground.allowed, answer.capability, wish.holder))
        self.notes.issued[held.capability_id] = self.notes.live[held.claim] = held
        self.notes.stands_for[held.claim] = fingerprint(wish.ground.allowed.proposal, held.issued.presentation)
        self.notes.spent.update(wish.lent.uses.keys() if wish.lent else ())
        self.notes.tell("capability.issue", by.ref, held.capability_id, "issued")
        return held

    async def nothing_gets_through(self) -> None:
        """Every capability that must be refused or replayed now is, at once: no acknowledged withdrawal is ignored."""
        for held in list(self.notes.issued.values()):
            presentation = held.issued.presentation
            foretold = self.foretelling.of_commit(held, held.holder, presentation)
            if foretold:
                await self.see(held, presentation, foretold, await self.world.commit(held.issued))

    async def committed_amid_crash(self, held: Held, at: str) -> None:
        """The process dies during CommitValidated, unless it knew the answer without the database."""
        foretold = self.foretelling.of_commit(held, held.holder, held.issued.presentation)
        self.stage.mortal.dies = at
        try:
            answer = await self.world.commit(held.issued)
        except ServiceDied:
            self.leave_lease(held)
            await self.recovered([(held, foretold)], landed=at == AFTER)
        else:
            self.stage.mortal.dies = ""
            await self.see(held, held.issued.presentation, foretold, answer)

    async def looked(self, held: Held) -> None:
        """Whoever looks changes nothing, and is told what there is."""
        await self._verify_only(held)
        if self.notes.is_consumed(held):
            await self._read(held, self.notes.committed[held.ground.revision[0]].receipt)

    async def committed(self, held: Held, by: Person, **presented: Unpack[Presented]) -> None:
        """CommitValidated, with whatever is presented in place of what is bound."""
        presentation = replace(held.issued.presentation, **presented)
        foretold = self.foretelling.of_commit(held, by, presentation)
        if by.principal.tenant == self.world.tenant:
            await self.knock(by)
        answer = await self.world.commit(held.issued, by=by, **presented)
        await self.see(held, presentation, foretold, answer)

    async def committed_by_envelope(self, held: Held) -> None:
        """CommitValidated, proven by an envelope that the holder signs now."""
        foretold = self.foretelling.of_commit_by_envelope(held)
        envelope = envelope_of(self.world, held.issued)
        answer = await commit_by(self.world, held.issued, envelope)
        await self.see(held, held.issued.presentation, foretold, answer)
        if isinstance(answer, CommitAnswer) and not answer.replayed:
            digest = f"sha256:{sha256(canonicalize(json.loads(envelope)['envelope'])).hex()}"
            self.notes.tell("memory.prove", held.holder.ref, answer.receipt.record_id, digest)

    async def see(
        self,
        held: Held,
        presentation: Presentation,
        foretold: Reason | StoredReceipt | None,
        answer: CommitAnswer | Refusal,
    ) -> None:
        """Holds the answer to a commit against what was foretold, and notes what was settled."""
        if isinstance(foretold, Reason) or isinstance(answer, Refusal):
            self.agree("commit", foretold, reason_of(answer))
            assert isinstance(answer, Refusal)
            self._see_facts(held, presentation, answer)
            return
        if foretold:
            self.agree("a replay", (foretold, True), (answer.receipt, answer.replayed))
        else:
            self.agree("a commit is replayed", foretold=False, came=answer.replayed)
            self.notes.settle(held, answer.receipt)
        await self._believe(answer.receipt.statement, answer.attestation, presentation.content)

    def _see_facts(self, held: Held, presentation: Presentation, refusal: Refusal) -> None:
        claim = (held.holder.ref, presentation.commit_idempotency_key)
        # A lease that a dead process left refuses as well, and knows less.
        settled = claim in self.notes.settled and not self.foretelling.runs(claim)
        if refusal.reason is Reason.IDEMPOTENCY_CONFLICT and settled:
            self.agree("what differs", self.foretelling.differs(held, presentation), refusal.facts.get("differs"))
        if refusal.reason is Reason.BINDING_MISMATCH:
            bound = held.issued.presentation
            terms = ("content_digest", "media_type", "evidence_digests", "commit_idempotency_key")
            differing = [term for term in terms if getattr(bound, term) != getattr(presentation, term)]
            self.agree("the term", differing[0], refusal.facts.get("term"))
        if refusal.reason is Reason.ALREADY_COMMITTED:
            settled_by = self.notes.committed[held.ground.revision[0]].receipt.receipt_id
            self.agree("the receipt that was first", settled_by, refusal.facts.get("receipt_id"))

    def leave_lease(self, held: Held) -> None:
        """The process dies while its commit runs: whatever lease it took stays."""
        presentation = held.issued.presentation
        if self.foretelling.takes_lease(held, presentation):
            running = fingerprint(held.ground.allowed.proposal, presentation)
            self.notes.running[held.claim] = (running, self.world.now())

    async def recovered(self, dying: list[tuple[Held, Reason | StoredReceipt | None]], *, landed: bool) -> None:
        """A new process begins; what was acknowledged to nobody is there, or is not, as a whole."""
        await self.stage.crash()
        self.notes.learn_keys()
        for held, foretold in dying:
            found = await self.world.authority.do.get_receipt(held.holder.calls(), ReceiptQuery("", "", held.key))
            if foretold is None and landed:
                self.agree("the receipt after a crash", None, reason_of(found))
                self.notes.settle(held, must(found).receipt)
            elif isinstance(foretold, StoredReceipt):
                self.agree("the receipt after a crash", foretold, must(found).receipt)
            elif held.claim not in self.notes.settled:
                self.agree("the receipt after a crash", Reason.NOT_FOUND, reason_of(found))

    async def _verify_only(self, held: Held) -> None:
        presentation = held.issued.presentation
        verdict = must(
            await self.world.authority.do.verify_capability(
                self.world.agent.calls(), held.issued.capability.statement, presentation
            )
        )
        self.agree("a look", self.foretelling.of_look(held, presentation), reason_of(verdict.refusal))
        tells = self.notes.is_consumed(held) and held.signer not in self.notes.known
        told = self.notes.committed[held.ground.revision[0]].receipt.receipt_id if tells else ""
        self.agree("the receipt that a look tells of", told, verdict.receipt_id)

    async def _read(self, held: Held, receipt: StoredReceipt) -> None:
        do, content = self.world.authority.do, held.ground.allowed.proposal.content
        for query in (
            ReceiptQuery(receipt.receipt_id, "", ""),
            ReceiptQuery("", receipt.record_id, ""),
            ReceiptQuery("", "", held.key),
        ):
            found = must(await do.get_receipt(held.holder.calls(), query))
            self.agree("the receipt", receipt, found.receipt)
            await self._believe(found.receipt.statement, found.attestation, content)
        record = await do.get_record(self.world.agent.calls(), receipt.record_id)
        alive = self.notes.is_alive(self.notes.committed[revision_of(held.ground.allowed.proposal)[0]])
        self.agree("the record", None if alive else Reason.NOT_FOUND, reason_of(record))
        if not isinstance(record, Refusal):
            self.agree("its content", content, record.content)

    async def _believe(self, receipt: Statement, attestation: Statement | None, content: bytes) -> None:
        """A client believes the receipt: by its key, or by the attestation when the key was revoked since."""
        self.agree("an attestation", receipt.key_id in self.notes.known, attestation is not None)
        vouching = statement_message(attestation) if attestation else None
        key_set = await self.world.authority.key_set()
        verify_receipt(statement_message(receipt), key_set, attestation=vouching, content=content)
