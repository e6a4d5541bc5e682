"""Live state is judged again at every commit (semantics §5): what was withdrawn is seen, and the upper refusal answers.

The committing process has not heard of any withdrawal here: none of these refusals is its own.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import pytest

from authority.domain.decision import ApprovalVerdict, DecisionOutcome
from authority.domain.plan import Committed, Conflicting
from authority.domain.reasons import Reason
from authority.domain.references import DAY, HOUR, MINUTE, SECOND, after
from authority.domain.refusal import Refusal, binding_mismatch
from authority.domain.statement import KeyPurpose
from authority.policy.bundle import default_bundle
from tests.world.world import NAMESPACE, PERMIT_ALL, Issued, World, all_are, must, reason_of


@dataclass
class Case:
    """A commit to be, against which causes gather: an approved agent output."""

    world: World
    issued: Issued
    verdict: Refusal | None = None
    """What the service itself found: only one thing at a time."""

    @classmethod
    async def begin(cls, world: World) -> "Case":
        return cls(world, await world.issued(by=world.agent))

    def presents(self, **terms: object) -> None:
        """A capability of ours says something else than the one that was stored."""
        signed = replace(self.issued.capability.terms, **terms)  # type: ignore[arg-type]  # each with its own type
        self.issued = replace(self.issued, capability=self.world.authority.signer.sign_capability(signed))

    async def answer(self) -> Reason | str | None:
        """What the plan is answered with."""
        outcome = await self.world.carry_out(self.world.plan(self.issued, verdict=self.verdict))
        return "committed" if isinstance(outcome, Committed) else reason_of(outcome)


Cause = Callable[[Case], Awaitable[object]]


def carried(reason: Reason) -> Cause:
    async def cause(case: Case) -> None:
        case.verdict = Refusal(reason)

    return cause


def issuer_key_revoked(purpose: KeyPurpose) -> Cause:
    async def cause(case: Case) -> None:
        key = next(key for key in case.world.authority.ring.published() if key.purpose is purpose)
        await case.world.authority.store.administration.revoke_issuer_key(key.key_id, None, case.world.now())

    return cause


def time_passed(milliseconds: int) -> Cause:
    async def cause(case: Case) -> None:
        case.world.authority.clock.advance(milliseconds)

    return cause


def decided(verdict: ApprovalVerdict) -> Cause:
    async def cause(case: Case) -> None:
        must(await case.world.approve(case.issued.ground.proposal, verdict))

    return cause


def presented(**terms: object) -> Cause:
    async def cause(case: Case) -> None:
        case.presents(**terms)

    return cause


async def holder_key_revoked(case: Case) -> None:
    world = case.world
    await world.authority.store.administration.revoke_principal_key(world.tenant, world.service.key_id, world.now())


async def holder_revoked(case: Case) -> None:
    world = case.world
    await world.authority.store.administration.revoke_principal(world.tenant, world.service.ref, world.now())


async def capability_revoked(case: Case) -> None:
    must(await case.world.revoke(case.issued))


async def policy_changed(case: Case) -> None:
    world, version = case.world, await case.world.load(PERMIT_ALL)
    await world.authority.store.administration.activate_policy(world.tenant, NAMESPACE, version, world.now())


async def content_withdrawn(case: Case) -> None:
    digest = case.issued.ground.revision.content_digest
    await case.world.authority.store.behind.bury(case.world.tenant, NAMESPACE, digest)


async def superseded(case: Case) -> None:
    await case.world.proposed(proposal_id=case.issued.ground.revision.proposal_id, by=case.world.agent)


async def failed_since(case: Case) -> None:
    """Another proposal said the same and was committed first."""
    twin = await case.world.issued(case.issued.ground.proposal.content, by=case.world.agent)
    must(await case.world.commit(twin))
    must(await case.world.validate(case.issued.ground.proposal))


async def committed_under_another_key(case: Case) -> None:
    must(await case.world.commit(await case.world.issued_on(case.issued.ground)))


async def another_capability_id(case: Case) -> None:
    case.presents(capability_id=case.world.authority.ids.new())


# --- one cause at a time ---------------------------------------------------------------------------------------------

WITHDRAWALS: dict[str, tuple[Cause, Reason]] = {
    "the capability's issuer key": (issuer_key_revoked(KeyPurpose.CAPABILITY), Reason.KEY_REVOKED),
    "the validation's issuer key": (issuer_key_revoked(KeyPurpose.VALIDATION), Reason.KEY_REVOKED),
    "the decision's issuer key": (issuer_key_revoked(KeyPurpose.DECISION), Reason.KEY_REVOKED),
    "the holder's key": (holder_key_revoked, Reason.KEY_REVOKED),
    "the holder": (holder_revoked, Reason.REVOKED),
    "the capability itself": (capability_revoked, Reason.REVOKED),
    "the content, by a tombstone": (content_withdrawn, Reason.REVOKED),
    "the policy, i12": (policy_changed, Reason.POLICY_DENIED),
    "the revision, by a newer one": (superseded, Reason.NOT_VALIDATED),
    "the revision, by a person": (decided(ApprovalVerdict.REJECT), Reason.NOT_VALIDATED),
    "the revision, by a wish for changes": (decided(ApprovalVerdict.REQUEST_CHANGES), Reason.NOT_VALIDATED),
    "the revision, by its validators": (failed_since, Reason.NOT_VALIDATED),
    "the approval": (decided(ApprovalVerdict.REVOKE), Reason.APPROVAL_REQUIRED),
    "the proposal, by its commit": (committed_under_another_key, Reason.ALREADY_COMMITTED),
    "the capability's time, e12": (time_passed(15 * MINUTE), Reason.EXPIRED),
    "the capability's time, ahead": (time_passed(-30 * SECOND - 1), Reason.NOT_YET_VALID),
}


@pytest.mark.parametrize(("cause", "reason"), WITHDRAWALS.values(), ids=WITHDRAWALS)
async def test_what_was_withdrawn_is_seen_by_the_next_commit(world: World, cause: Cause, reason: Reason) -> None:
    case = await Case.begin(world)
    await cause(case)
    before = await world.counts()
    assert await case.answer() is reason
    assert await world.counts() == before


BOUND: dict[str, object] = {
    "memory_namespace": "ledger",
    "proposal_digest": bytes(32),
    "content_digest": bytes(32),
    "validator_profile": "strict",
    "validator_profile_version": "2",
    "validation_receipt_digest": bytes(32),
    "decision_receipt_digest": bytes(32),
}


@pytest.mark.parametrize("term", BOUND)
async def test_e16_a_bound_term_that_differs_from_what_is_stored_is_named(world: World, term: str) -> None:
    # given a capability of our own key that binds something else than what was stored
    await world.make_namespace("ledger", default_bundle())
    case = await Case.begin(world)
    case.presents(**{term: BOUND[term]})
    outcome = await world.carry_out(world.plan(case.issued))
    assert outcome == binding_mismatch(term)


async def test_e16_a_policy_version_other_than_the_decisions_is_its_receipts_mismatch(world: World) -> None:
    case = await Case.begin(world)
    case.presents(policy_version=bytes(32))
    assert await world.carry_out(world.plan(case.issued)) == binding_mismatch("decision_receipt_digest")


UNKNOWN: dict[str, Cause] = {
    "capability": another_capability_id,
    "proposal": presented(proposal_id="ffffffff-0000-0000-0000-000000000000"),
    "bytes": presented(correlation_id="other"),
}


@pytest.mark.parametrize("cause", UNKNOWN.values(), ids=UNKNOWN)
async def test_what_was_never_issued_is_not_found(world: World, cause: Cause) -> None:
    case = Case(world, await world.issued())
    await cause(case)
    assert await case.answer() is Reason.NOT_FOUND


# --- boundaries, and what may come back ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shift", "answer"),
    [
        (-30 * SECOND - 1, Reason.NOT_YET_VALID),
        (-30 * SECOND, "committed"),
        (15 * MINUTE - 1, "committed"),
        (15 * MINUTE, Reason.EXPIRED),
    ],
)
async def test_e12_a_capability_is_valid_from_the_skew_before_its_begin_until_its_very_end(
    world: World, shift: int, answer: object
) -> None:
    case = await Case.begin(world)
    world.authority.clock.advance(shift)
    assert await case.answer() == answer


async def test_e12_an_approval_counts_until_its_very_end(world: World) -> None:
    # given a capability that rests on an approval of ten minutes
    proposal = await world.proposed(by=world.agent)
    ground = await world.allow(proposal, approval_expires=after(world.now(), 10 * MINUTE))
    case = Case(world, await world.issued_on(ground))

    # when they are over, then it is missing; a millisecond before, it is not
    world.authority.clock.advance(10 * MINUTE)
    assert await case.answer() is Reason.APPROVAL_REQUIRED
    world.authority.clock.advance(-1)
    assert await case.answer() == "committed"


async def test_e12_the_receipts_that_a_capability_rests_on_expire_too(world: World) -> None:
    # given a capability of a whole day, issued an hour after its receipts were signed
    ground = await world.allowed()
    world.authority.clock.advance(HOUR)
    case = Case(world, await world.issued_on(ground, lifetime_ms=DAY))

    # when the receipts' day is over, then it is expired, though its own terms still stand
    world.authority.clock.advance(23 * HOUR)
    assert await case.answer() is Reason.EXPIRED
    world.authority.clock.advance(-1)
    assert await case.answer() == "committed"


async def test_a04_a_refusal_by_live_state_burns_nothing(world: World) -> None:
    # given a commit refused for a changed policy, when the policy is changed back, then the same plan commits
    case = await Case.begin(world)
    plan = world.plan(case.issued)
    await policy_changed(case)
    assert await world.carry_out(plan) == Refusal(Reason.POLICY_DENIED)
    version = await world.load(default_bundle())
    await world.authority.store.administration.activate_policy(world.tenant, NAMESPACE, version, world.now())
    assert isinstance(await world.carry_out(plan), Committed)
    assert await world.counts() == all_are(1)


async def test_another_approval_does_not_harm_the_one_that_is_bound(world: World) -> None:
    case = await Case.begin(world)
    must(await world.approve(case.issued.ground.proposal, by=world.user))
    assert await case.answer() == "committed"


async def test_an_approval_of_another_proposal_is_none(world: World) -> None:
    # given a capability of our own key that names an approval of something else
    case, other = Case(world, await world.issued()), await Case.begin(world)
    case.presents(approval_reference=other.issued.capability.terms.approval_reference)
    assert await case.answer() is Reason.APPROVAL_REQUIRED


async def test_an_approval_that_was_not_needed_is_not_missed(world: World) -> None:
    # given a capability that no approval was asked for, when one is given and expires, then that changes nothing
    issued = await world.issued()
    must(await world.approve(issued.ground.proposal, expire_time=after(world.now(), MINUTE)))
    world.authority.clock.advance(MINUTE)
    assert await Case(world, issued).answer() == "committed"


async def test_i11_what_a_person_takes_back_is_not_committed_because_policy_allowed_it_by_itself(world: World) -> None:
    # given a capability that no approval was asked for, when a person takes back what was decided, then one is needed
    issued = await world.issued()
    must(await world.approve(issued.ground.proposal, ApprovalVerdict.REVOKE))
    assert await Case(world, issued).answer() is Reason.APPROVAL_REQUIRED

    # and policy, asked again, does not overrule the person, until one approves
    asked = must(await world.decide(issued.ground.proposal)).receipt
    assert (asked.outcome, asked.persons_needed) == (DecisionOutcome.REQUIRE_APPROVAL, 1)
    approval = must(await world.approve(issued.ground.proposal))
    allowed = must(await world.decide(issued.ground.proposal)).receipt
    assert (allowed.outcome, allowed.approval_references) == (DecisionOutcome.ALLOW, (approval.reference,))


async def test_g07_withdrawn_content_comes_back_only_by_a_later_decision(world: World) -> None:
    # given a record whose content is withdrawn, and a capability for the same content decided before that
    issued, _ = await world.committed()
    content, digest = issued.ground.proposal.content, issued.ground.revision.content_digest
    await world.authority.store.behind.bury(world.tenant, NAMESPACE, digest)
    early = Case(world, await world.issued(content))
    await world.authority.store.behind.bury(world.tenant, NAMESPACE, digest)
    assert await early.answer() is Reason.REVOKED

    # when it is decided anew, then it is a new record of its own
    assert await Case(world, await world.issued(content)).answer() == "committed"


async def test_a_tombstone_elsewhere_does_not_matter(world: World) -> None:
    case, neighbour = await Case.begin(world), await world.neighbour()
    digest, behind = case.issued.ground.revision.content_digest, world.authority.store.behind
    await behind.bury(neighbour.tenant, NAMESPACE, digest)
    await behind.bury(world.tenant, "ledger", digest)
    await behind.bury(world.tenant, NAMESPACE, bytes(32))
    assert await case.answer() == "committed"


async def test_a_withdrawal_next_door_does_not_matter(world: World) -> None:
    # given a neighbour, of whom everything is withdrawn
    case, neighbour = await Case.begin(world), await world.neighbour()
    other = await Case.begin(neighbour)
    for cause in (holder_revoked, holder_key_revoked, policy_changed, superseded):
        await cause(other)
    mine = {key.key_id for key in world.authority.ring.published() if key.tenant == world.tenant}
    for key in world.authority.ring.published():
        if key.key_id not in mine:
            await world.authority.store.administration.revoke_issuer_key(key.key_id, None, world.now())
    assert await case.answer() == "committed"
    assert await other.answer() is Reason.DEPENDENCY_UNAVAILABLE


# --- precedence ------------------------------------------------------------------------------------------------------

PRECEDENCE = """
cause                              answers
bad signature (carried)            SIGNATURE_INVALID
unknown issuer (carried)           ISSUER_UNKNOWN
holder key revoked                 KEY_REVOKED
stored digest differs              BINDING_MISMATCH
grant exceeded (carried)           GRANT_EXCEEDED
policy changed                     POLICY_DENIED
not yet valid (carried)            NOT_YET_VALID
a day passed                       EXPIRED
holder revoked                     REVOKED
capability revoked                 REVOKED
revision superseded                NOT_VALIDATED
approval revoked                   APPROVAL_REQUIRED
committed under another key        ALREADY_COMMITTED
capability unknown                 NOT_FOUND
"""
"""Where two causes apply, the upper one answers (architecture, Errors): every pair of them is tried."""

CAUSES: dict[str, Cause] = {
    "bad signature (carried)": carried(Reason.SIGNATURE_INVALID),
    "unknown issuer (carried)": carried(Reason.ISSUER_UNKNOWN),
    "holder key revoked": holder_key_revoked,
    "stored digest differs": presented(proposal_digest=bytes(32)),
    "grant exceeded (carried)": carried(Reason.GRANT_EXCEEDED),
    "policy changed": policy_changed,
    "not yet valid (carried)": carried(Reason.NOT_YET_VALID),
    "a day passed": time_passed(DAY),
    "holder revoked": holder_revoked,
    "capability revoked": capability_revoked,
    "revision superseded": superseded,
    "approval revoked": decided(ApprovalVerdict.REVOKE),
    "committed under another key": committed_under_another_key,
    "capability unknown": another_capability_id,
}
LINES = [tuple(part.strip() for part in (line[:35], line[35:])) for line in PRECEDENCE.strip().splitlines()[1:]]
NEVER_TOGETHER = [
    {"revision superseded", "committed under another key"},
    {"approval revoked", "committed under another key"},
    {"capability revoked", "capability unknown"},
]
"""A committed proposal has neither further revisions nor further decisions; what is unknown cannot be revoked."""


def pairs() -> list[tuple[str, str, str]]:
    """Each two causes that can come together, upper first, and what they are answered with."""
    together = [(upper, lower) for at, upper in enumerate(LINES) for lower in LINES[at + 1 :]]
    return [
        (upper, lower, reason)
        for (upper, reason), (lower, _) in together
        if {upper, lower} not in NEVER_TOGETHER and not (upper.endswith("(carried)") and lower.endswith("(carried)"))
    ]


@pytest.mark.parametrize(("upper", "lower", "reason"), pairs())
async def test_of_two_causes_the_upper_one_answers(world: World, upper: str, lower: str, reason: str) -> None:
    # given a commit against which the lower cause stands, and then the upper one too
    case = await Case.begin(world)
    for cause in (lower, upper):
        await CAUSES[cause](case)
    before = await world.counts()

    # then the upper one answers, and nothing is written
    assert await case.answer() is Reason[reason]
    assert await world.counts() == before


async def test_a_settled_claim_answers_before_every_cause(world: World) -> None:
    # given a commit, and then every cause that can still come
    case = await Case.begin(world)
    receipt = must(await world.commit(case.issued)).receipt
    settled, conflicting = world.plan(case.issued), world.plan(case.issued, content_digest=bytes(32))
    for cause in ("policy changed", "a day passed", "holder revoked", "holder key revoked"):
        await CAUSES[cause](case)
    await content_withdrawn(case)

    # then it is replayed, another request under its key is a conflict, and a carried refusal changes neither
    for verdict in (None, Refusal(Reason.SIGNATURE_INVALID)):
        replay = await world.carry_out(replace(settled, refusal=verdict))
        assert replay == Committed(receipt, replayed=True)
        assert await world.carry_out(replace(conflicting, refusal=verdict)) == Conflicting(receipt)
