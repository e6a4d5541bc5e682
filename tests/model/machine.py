"""The state machine: calls, withdrawals, time and crashes in any order; each answer is the one that was foretold.

One at a time, in batches, and on streams.

After every step there are exactly one receipt, one record and one event of the outbox for each consumed capability,
those of the commits that were acknowledged and no others, with the bytes that were acknowledged; and the audit log
tells of every change of state. Every receipt that is answered verifies with the keys that a client gets, or with the
attestation that comes along, for exactly the content of its record. After every change that may be a withdrawal all
capabilities that may not commit any more are presented at once.
"""

import inspect
from dataclasses import replace
from typing import TypeAlias, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RULE_MARKER, Bundle, MultipleResults, initialize, invariant, multiple, rule

from authority.domain.decision import ApprovalVerdict
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import StoredProposal
from authority.domain.record import Mode
from authority.domain.references import DAY, HOUR, MINUTE, SECOND, TenantRef
from authority.signing.key_ring import MINTING
from capability_authority.offline import sha256
from tests.model.committing import Way
from tests.model.lending import Lending, Terms
from tests.model.notes import Ground, Held, Lent, Settled, Wish
from tests.model.player import played
from tests.model.proposing import EVIDENCE
from tests.model.stages import AFTER, BEFORE, Books
from tests.model.withdrawing import POLICIES, Rotation
from tests.world.world import Person, Presented

HOLDERS: Bundle[Person] = Bundle("holders")
PROPOSALS: Bundle[StoredProposal] = Bundle("proposals")
GROUNDS: Bundle[Ground] = Bundle("grounds")
CAPABILITIES: Bundle[Held] = Bundle("capabilities")
LENT: Bundle[Lent] = Bundle("lent")
BASES = st.one_of(PROPOSALS, CAPABILITIES)
Base: TypeAlias = StoredProposal | Held
"""A proposal, or what a capability rests on."""
HANDS = st.one_of(HOLDERS, CAPABILITIES)
Hands: TypeAlias = Person | Held
"""A holder, or whoever holds a capability."""
Whoever: TypeAlias = Hands | PrincipalKind
"""One of them, or the one person of a kind."""

Made = TypeVar("Made")

FACTS = st.sampled_from([b'"tea"', b'"rice"', b'"salt"', b'"rain"', b'"wind"', b'"snow"'])
"""Text, and canonical JSON just as well."""
PROPOSERS = st.sampled_from([PrincipalKind.AGENT, PrincipalKind.USER])
HOLDING = st.sampled_from([PrincipalKind.SERVICE, PrincipalKind.USER])
ISSUERS = st.sampled_from([PrincipalKind.ADMIN, PrincipalKind.AGENT])
WHOEVER = st.sampled_from([PrincipalKind.ADMIN, PrincipalKind.AGENT])
ORDERS = st.sampled_from([-1, 1, 0])
RARELY = st.sampled_from([False, False, False, True])
KEYS = st.sampled_from(["k1", "k2", "k3", "k4"])
SPANS = st.sampled_from([HOUR, DAY - 20 * MINUTE, SECOND])
# The first of what is drawn from comes most often: what is worth trying stands there.
MOSTLY = st.sampled_from([True, False])
ONE_OR_TWO = st.sampled_from([1, 2])
TWO_OR_ONE = st.sampled_from([2, 1])
WAYS = st.builds(
    Way,
    revisions=ONE_OR_TWO,
    brief=MOSTLY,
    pause_ms=st.sampled_from([0, 30 * MINUTE]),
    keys=TWO_OR_ONE,
    lifetime_ms=st.sampled_from([DAY, 15 * MINUTE]),
)
TERMS = st.builds(
    Terms,
    uses=st.sampled_from([2, 1, 4]),
    concurrency=st.sampled_from([9, 1]),
    brief=st.sampled_from([False, False, True]),
    handed=st.sampled_from(["offline", "exchanged", ""]),
)
ROTATIONS = st.builds(
    Rotation,
    purpose=st.sampled_from(MINTING),
    revoked=st.sampled_from([True, True, False]),
    compromised=st.booleans(),
    told=st.booleans(),
)
OTHER_TERMS: dict[str, Presented] = {
    "content_digest": {"content": b'"other"', "content_digest": sha256(b'"other"')},
    "media_type": {"media_type": "application/json"},
    "evidence_digests": {"evidence_digests": EVIDENCE[::-1]},
    "commit_idempotency_key": {},
}
ALTERED: list[Presented] = [{}, {}, {}, OTHER_TERMS["content_digest"], {"commit_idempotency_key": "k1"}]
"""Mostly exactly what is bound."""
WISHES = st.lists(st.tuples(CAPABILITIES, st.one_of(st.just(""), KEYS), st.booleans()), min_size=1, max_size=4)
"""A capability, the key to ask for in its place if any, and whether it is asked for by its own request again."""
ELSEWHERE = TenantRef("cognitum-tenant", "elsewhere")


class CommitMachine(Lending):
    """Every rule, and what holds after each."""

    @initialize(target=CAPABILITIES, by=PROPOSERS, fact=FACTS, way=WAYS)
    @played
    async def begin(self, by: PrincipalKind, fact: bytes, way: Way) -> MultipleResults[Held]:
        """There is something to commit, whichever rules the machine does without this time."""
        return multiple(*await self.made_ready(by, fact, await self.appointed(PrincipalKind.SERVICE), way))

    # --- the way to a capability --------------------------------------------------------------------------------------

    @rule(target=PROPOSALS, by=PROPOSERS, fact=FACTS)
    @played
    async def propose(self, by: PrincipalKind, fact: bytes) -> StoredProposal:
        return await self.proposed(by, fact)

    @rule(target=PROPOSALS, of=BASES, by=PROPOSERS, fact=FACTS)
    @played
    async def revise(self, of: Base, by: PrincipalKind, fact: bytes) -> MultipleResults[StoredProposal]:
        revised = await self.revised(_proposal(of), by, fact)
        await self.nothing_gets_through()
        return _if_any(revised)

    @rule(of=BASES, by=WHOEVER)
    @played
    async def withdraw_proposal(self, of: Base, by: PrincipalKind) -> None:
        """By its proposer and the admin; whoever else tries finds nothing. No capability on it gets through then."""
        await self.taken_back(_proposal(of), self.world.person(by))
        await self.nothing_gets_through()

    @rule(of=BASES, retry=st.booleans())
    @played
    async def validate(self, of: Base, *, retry: bool) -> None:
        await self.validated(_proposal(of), retry=retry)
        await self.nothing_gets_through()

    @rule(of=BASES, verdict=st.sampled_from(ApprovalVerdict), retry=st.booleans(), validated=MOSTLY)
    @played
    async def review(self, of: Base, verdict: ApprovalVerdict, *, retry: bool, validated: bool) -> None:
        """And perhaps validators look once more, who lift nothing that a person turned down."""
        await self.reviewed(_proposal(of), verdict, retry=retry)
        if validated:
            await self.validated(_proposal(of))
        await self.nothing_gets_through()

    @rule(target=CAPABILITIES, by=PROPOSERS, fact=FACTS, holder=HANDS, way=WAYS)
    @played
    async def revoke_approval(self, by: PrincipalKind, fact: bytes, holder: Hands, way: Way) -> MultipleResults[Held]:
        """The whole way, and then the approval is taken back; said also where none was asked for."""
        made = await self.made_ready(by, fact, _person(holder), way)
        for held in made[:1]:
            await self.reviewed(_proposal(held), ApprovalVerdict.REVOKE)
        await self.nothing_gets_through()
        return multiple(*made)

    @rule(target=GROUNDS, of=BASES, holder=HANDS, retry=st.booleans())
    @played
    async def decide(self, of: Base, holder: Hands, *, retry: bool) -> MultipleResults[Ground]:
        return _if_any(await self.decided(_proposal(of), _person(holder), retry=retry))

    @rule(target=CAPABILITIES, ground=GROUNDS, key=KEYS, holder=HANDS, by=ISSUERS)
    @played
    async def issue(self, ground: Ground, key: str, holder: Hands, by: PrincipalKind) -> MultipleResults[Held]:
        wish = Wish(ground, key, _person(holder), DAY, self.request_id())
        return _if_any(await self.issued(wish, self.world.person(by)))

    @rule(target=CAPABILITIES, of=CAPABILITIES)
    @played
    async def issue_again(self, of: Held) -> MultipleResults[Held]:
        """The same request under the same request id: the same bytes while it lives, a new one afterwards."""
        return _if_any(await self.issued(of.wish, of.holder))

    @rule(target=CAPABILITIES, items=WISHES, by=st.one_of(HANDS, WHOEVER))
    @played
    async def issue_batch(self, items: list[tuple[Held, str, bool]], by: Whoever) -> MultipleResults[Held]:
        """What was issued before, retries of it, and other keys for it."""
        wishes = [
            replace(of.wish, lent=None)
            if retry
            else replace(of.wish, key=key or of.key, request_id=self.request_id(), lent=None)
            for of, key, retry in items
        ]
        return multiple(*await self.issued_together(wishes, self._whoever(by)))

    @rule(target=CAPABILITIES, by=PROPOSERS, fact=FACTS, holder=HANDS, way=WAYS)
    @played
    async def make_ready(self, by: PrincipalKind, fact: bytes, holder: Hands, way: Way) -> MultipleResults[Held]:
        """The whole way at once."""
        return multiple(*await self.made_ready(by, fact, _person(holder), way))

    # --- grants -------------------------------------------------------------------------------------------------------

    @rule(target=LENT, holder=HANDS, other=HANDS, terms=TERMS)
    @played
    async def lend(self, holder: Hands, other: Hands, terms: Terms) -> MultipleResults[Lent]:
        """To one holder, who hands it on to the other, or keeps it, and uses it in any case."""
        return multiple(*await self.lent(_person(holder), _person(other), terms))

    @rule(target=CAPABILITIES, lent=LENT, by=PROPOSERS, fact=FACTS, way=WAYS)
    @played
    async def make_ready_under(self, lent: Lent, by: PrincipalKind, fact: bytes, way: Way) -> MultipleResults[Held]:
        """The whole way at once, under the grant."""
        return multiple(*await self.made_ready_under(lent, by, fact, way))

    @rule(lent=LENT, root=MOSTLY)
    @played
    async def revoke_grant(self, lent: Lent, *, root: bool) -> None:
        """It, or the root that it comes from."""
        await self.grant_revoked(lent, root=root)
        await self.nothing_gets_through()

    # --- commits ------------------------------------------------------------------------------------------------------

    @rule(target=CAPABILITIES, by=PROPOSERS, fact=FACTS, holder=HANDS, way=WAYS, together=ORDERS)
    @played
    async def make_record(
        self, by: PrincipalKind, fact: bytes, holder: Hands, way: Way, together: int
    ) -> MultipleResults[Held]:
        """The whole way at once, and a commit at its end: of one capability, or of all in a batch, either end first."""
        made = await self.made_ready(by, fact, _person(holder), way)
        if made and together:
            await self.committed_together([(held, {}) for held in made[::together]])
        elif made:
            await self.committed(made[0], made[0].holder)
        return multiple(*made)

    @rule(capability=CAPABILITIES, enveloped=st.booleans())
    @played
    async def commit(self, capability: Held, *, enveloped: bool) -> None:
        """Proven by an envelope of upstream, or by the call."""
        if enveloped:
            await self.committed_by_envelope(capability)
        else:
            await self.committed(capability, capability.holder)

    @rule(capability=CAPABILITIES, term=st.sampled_from(sorted(OTHER_TERMS)), of=CAPABILITIES, after=MOSTLY)
    @played
    async def commit_with_another(self, capability: Held, term: str, of: Held, *, after: bool) -> None:
        """Other content, other evidence order, other media type, or the key of another capability; `after` a commit."""
        if after:
            await self.committed(capability, capability.holder)
        presented: Presented = OTHER_TERMS[term] or {"commit_idempotency_key": of.key}
        await self.committed(capability, capability.holder, **presented)

    @rule(capability=CAPABILITIES, by=HANDS, elsewhere=st.booleans())
    @played
    async def commit_as(self, capability: Held, by: Hands, *, elsewhere: bool) -> None:
        """By a holder, or by its namesake in another tenant."""
        person = _person(by)
        await self.committed(capability, _namesake(person) if elsewhere else person)

    @rule(capability=CAPABILITIES, at=st.sampled_from([BEFORE, AFTER]))
    @played
    async def crash_amid_commit(self, capability: Held, at: str) -> None:
        await self.committed_amid_crash(capability, at)

    @rule(items=st.lists(st.tuples(CAPABILITIES, st.sampled_from(ALTERED)), min_size=1, max_size=4))
    @played
    async def commit_batch(self, items: list[tuple[Held, Presented]]) -> None:
        """Twins too, and capabilities of other holders."""
        await self.committed_together(items)

    @rule(capability=CAPABILITIES, terms=st.sampled_from(ALTERED))
    @played
    async def commit_on_stream(self, capability: Held, terms: Presented) -> None:
        await self.committed_on_stream(capability, terms)

    @rule(capabilities=st.lists(CAPABILITIES, min_size=1, max_size=4), at=st.sampled_from([BEFORE, AFTER]))
    @played
    async def crash_amid_batch(self, capabilities: list[Held], at: str) -> None:
        await self.batch_amid_crash(capabilities, at)

    @rule(capability=CAPABILITIES)
    @played
    async def look(self, capability: Held) -> None:
        await self.looked(capability)

    # --- records ------------------------------------------------------------------------------------------------------

    @rule(of=CAPABILITIES, by=st.one_of(HANDS, WHOEVER), other=CAPABILITIES, elsewhere=RARELY)
    @played
    async def revoke_record(self, of: Held, by: Whoever, other: Held, *, elsewhere: bool) -> None:
        """Under the request id that is for this one, or for another; by a namesake in another tenant, too."""
        if settled := await self._record_of(of):
            person = self._whoever(by)
            person = _namesake(person) if elsewhere else person
            await self.record_revoked(settled, person, f"withdraw-{other.capability_id}")
            await self.nothing_gets_through()

    @rule(of=CAPABILITIES, by=WHOEVER)
    @played
    async def revoke_record_twice(self, of: Held, by: PrincipalKind) -> None:
        """By the admin, and then by somebody else, later."""
        if settled := await self._record_of(of):
            await self.record_revoked(settled, self.world.admin, self.request_id())
            self.stage.clock.advance(SECOND)
            await self.record_revoked(settled, self.world.person(by), self.request_id())
            await self.nothing_gets_through()

    @rule(target=PROPOSALS, of=CAPABILITIES, by=PROPOSERS, fact=FACTS)
    @played
    async def correct(self, of: Held, by: PrincipalKind, fact: bytes) -> MultipleResults[StoredProposal]:
        settled = await self._record_of(of)
        return _if_any(await self.corrected(settled, by, fact) if settled else None)

    @rule(target=CAPABILITIES, of=CAPABILITIES, by=PROPOSERS, facts=st.tuples(FACTS, FACTS), way=WAYS, revoked=RARELY)
    @played
    async def make_corrections(
        self, of: Held, by: PrincipalKind, facts: tuple[bytes, bytes], way: Way, *, revoked: bool
    ) -> MultipleResults[Held]:
        """Two corrections of one record, the whole way at once, and their commits together, perhaps in vain."""
        settled = await self._record_of(of)
        proposals = [await self.corrected(settled, by, fact) for fact in facts] if settled else []
        made = [it for one in proposals if one for it in (await self.brought_on(one, by, of.holder, way))[:1]]
        if settled and revoked:
            await self.record_revoked(settled, self.world.admin, self.request_id())
        if made:
            await self.committed_together([(held, {}) for held in made])
        await self.nothing_gets_through()
        return multiple(*made)

    async def _record_of(self, held: Held) -> Settled | None:
        """What was committed of the proposal, by now."""
        await self.committed(held, held.holder)
        return self.notes.committed.get(held.ground.revision[0])

    # --- what happens around them -------------------------------------------------------------------------------------

    @rule(target=HOLDERS, kind=HOLDING)
    @played
    async def appoint(self, kind: PrincipalKind) -> Person:
        return await self.appointed(kind)

    @rule(holder=HANDS, key_alone=st.booleans())
    @played
    async def revoke(self, holder: Hands, *, key_alone: bool) -> None:
        await self.revoked(_person(holder), key_alone=key_alone)
        await self.nothing_gets_through()

    @rule(capability=CAPABILITIES, by=st.one_of(HANDS, WHOEVER), of=CAPABILITIES, elsewhere=RARELY)
    @played
    async def revoke_capability(self, capability: Held, by: Whoever, of: Held, *, elsewhere: bool) -> None:
        """Under the request id that is for this one, or for another; by a namesake in another tenant, too."""
        person = self._whoever(by)
        person = _namesake(person) if elsewhere else person
        await self.capability_revoked(capability, person, f"revoke-{of.capability_id}")
        await self.nothing_gets_through()

    @rule(target=CAPABILITIES, of=CAPABILITIES)
    @played
    async def exchange(self, of: Held) -> MultipleResults[Held]:
        """Its holder takes it back; the request that it was issued for brings nothing back, a new one another one.

        Revoking the old one again is answered as the first time. Of the new one that is no revocation, nor is its
        request id one, and an agent cannot revoke it.
        """
        await self.capability_revoked(of, of.holder, f"revoke-{of.capability_id}")
        await self.nothing_gets_through()
        self.stage.clock.advance(SECOND)
        anew = replace(of.wish, request_id=self.request_id())
        made = [await self.issued(wish, of.holder) for wish in (of.wish, anew)]
        await self.capability_revoked(of, self.world.admin, self.request_id())
        kept = [held for held in made if held]
        await self.looked(of)
        for held in kept:
            await self.capability_revoked(held, held.holder, f"revoke-{of.capability_id}")
            await self.capability_revoked(held, self.world.agent, self.request_id())
            await self.looked(held)
        return multiple(*kept)

    @rule(how=ROTATIONS)
    @played
    async def rotate_issuer_key(self, how: Rotation) -> None:
        await self.rotated(how)
        await self.nothing_gets_through()

    @rule(policy=st.sampled_from(sorted(POLICIES)), mode=st.sampled_from(Mode))
    @played
    async def govern(self, policy: str, mode: Mode) -> None:
        await self.governed(policy, mode)
        await self.nothing_gets_through()

    @rule(of=BASES)
    @played
    async def withdraw_content(self, of: Base) -> None:
        await self.buried(_proposal(of).content)
        await self.nothing_gets_through()

    @rule(milliseconds=SPANS)
    @played
    async def let_pass(self, milliseconds: int) -> None:
        self.stage.clock.advance(milliseconds)
        await self.nothing_gets_through()

    @rule(what=st.sampled_from(["crash", "flush redis", "learn keys"]))
    @played
    async def disturb(self, what: str) -> None:
        match what:
            case "crash":
                await self.crashed()
            case "flush redis":
                await self.redis_flushed()
            case _:
                await self.keys_learned()
        await self.nothing_gets_through()

    # --- what holds after every step ----------------------------------------------------------------------------------

    @invariant()
    def books_agree(self) -> None:
        """Counts and joins at once: the stored rows are those of the acknowledged commits, each with its own."""
        settled = [(it.held, it.receipt) for it in self.notes.committed.values()]
        foretold = Books(
            consumed=sorted(held.capability_id for held, _ in settled),
            receipts=sorted(
                (receipt.receipt_id, receipt.record_id, held.capability_id, receipt.statement.signature)
                for held, receipt in settled
            ),
            records=sorted(
                (receipt.record_id, receipt.receipt_id, held.ground.allowed.proposal.content)
                for held, receipt in settled
            ),
            events=sorted(receipt.record_id for _, receipt in settled),
            endings=sorted(self.notes.endings),
        )
        books = self.stage.books()
        for name in Books.__slots__:
            self.agree(f"stored {name}", getattr(foretold, name), getattr(books, name))

    @invariant()
    @played
    async def nothing_gone_is_read(self) -> None:
        """A revoked or superseded record is never visible, and every other one is."""
        await self.only_the_living_are_read()

    @invariant()
    def audit_tells_all(self) -> None:
        """Nothing changes unsaid, and nothing is said that did not change."""
        told = self.stage.audit()
        if told is not None:
            self.agree("what the audit log says beside", {}, dict(told - self.notes.told))
            self.agree("what the audit log misses", {}, dict(self.notes.told - told))

    def _whoever(self, by: Whoever) -> Person:
        return self.world.person(by) if isinstance(by, PrincipalKind) else _person(by)


def playing(rules: frozenset[str]) -> type[CommitMachine]:
    """The machine with no other rules than these."""
    every = {name for name, member in inspect.getmembers(CommitMachine) if hasattr(member, RULE_MARKER)}
    assert rules <= every, rules - every
    return type("Some", (CommitMachine,), dict.fromkeys(every - rules))


def _proposal(of: Base) -> StoredProposal:
    return of.ground.allowed.proposal if isinstance(of, Held) else of


def _person(hands: Hands) -> Person:
    return hands.holder if isinstance(hands, Held) else hands


def _namesake(person: Person) -> Person:
    return Person(replace(person.principal, tenant=ELSEWHERE), person.key)


def _if_any(made: Made | None) -> MultipleResults[Made]:
    return multiple() if made is None else multiple(made)
