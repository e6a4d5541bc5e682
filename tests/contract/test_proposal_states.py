"""Every store moves proposals by the domain's table: each act is tried in each state that a store can be in."""

from collections.abc import Awaitable, Callable

import pytest

from authority.domain.decision import ApprovalVerdict
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.proposal_states import TRANSITIONS, Act, judge_act
from authority.domain.reasons import Reason
from authority.domain.references import HOUR, after
from authority.domain.refusal import Refusal
from authority.domain.validation import BASELINE, BASELINE_VERSION, ValidationOutcome, ValidationReceipt
from authority.usecases.paging import PageRequest
from authority.usecases.ports import RecordedValidation
from tests.world.authority import HERE
from tests.world.withdrawing import withdraw
from tests.world.world import NAMESPACE, Issued, World, must, reason_of

S = ProposalState
STATE_OF = {Act.START_VALIDATING: S.VALIDATING, Act.PASS: S.VALIDATED, Act.FAIL: S.REJECTED}
VERDICT_OF = {
    Act.APPROVE: ApprovalVerdict.APPROVE,
    Act.REJECT: ApprovalVerdict.REJECT,
    Act.REQUEST_CHANGES: ApprovalVerdict.REQUEST_CHANGES,
    Act.REVOKE_APPROVAL: ApprovalVerdict.REVOKE,
}


class Stage:
    """One proposal, brought to a state, on which every act can be tried."""

    proposal: StoredProposal
    issued: Issued
    """A capability on it, from before; of one that was only proposed there is none."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def bring_to(self, state: ProposalState) -> None:
        """A new proposal, in this state."""
        world = self.world
        self.proposal = await world.proposed(expire_time=after(world.now(), HOUR))
        if state is not S.PROPOSED:
            self.issued = await world.issued_on(await world.allow(self.proposal), lifetime_ms=2 * HOUR)
        await self._steps()[state]()

    def _steps(self) -> dict[ProposalState, Callable[[], Awaitable[object]]]:
        async def nothing() -> None:
            """It is there already."""

        async def expire() -> None:
            self.world.authority.clock.advance(HOUR)

        return {
            S.PROPOSED: nothing,
            S.VALIDATING: lambda: self.act(Act.START_VALIDATING),
            S.VALIDATED: nothing,
            S.APPROVED: lambda: self.act(Act.APPROVE),
            S.REJECTED: lambda: self.act(Act.FAIL),
            S.CHANGES_REQUESTED: lambda: self.act(Act.REQUEST_CHANGES),
            S.SUPERSEDED: lambda: self.act(Act.SUPERSEDE),
            S.WITHDRAWN: lambda: self.act(Act.WITHDRAW),
            S.COMMITTED: lambda: self.act(Act.COMMIT),
            S.EXPIRED: expire,
        }

    async def act(self, act: Act) -> object:
        """What the authority answers to the act."""
        if act in STATE_OF:
            return await self._validate(STATE_OF[act])
        if act in VERDICT_OF:
            return await self.world.approve(self.proposal, VERDICT_OF[act])
        if act is Act.SUPERSEDE:
            return await self.world.propose(proposal_id=self.proposal.revision.proposal_id)
        return await (withdraw(self.world, self.proposal) if act is Act.WITHDRAW else self.world.commit(self.issued))

    async def state(self) -> ProposalState:
        """What is told of the revision."""
        revision = self.proposal.revision
        found = must(
            await self.world.authority.do.get_proposal(self.world.user.calls(), revision.proposal_id, revision.revision)
        )
        return found.proposal.state

    async def _validate(self, state: ProposalState) -> RecordedValidation | Refusal:
        """Hands the store a validation that leaves this state, as a profile would."""
        world, store = self.world, self.world.authority.store
        signed = world.authority.signer.sign_validation(_receipt(world, self.proposal))
        return await store.validations.keep(world.mark(world.service, None), signed, state)


def _receipt(world: World, proposal: StoredProposal) -> ValidationReceipt:
    revision = proposal.revision
    return ValidationReceipt(
        validation_id=world.authority.ids.new(),
        issuer=HERE.issuer,
        tenant=world.tenant,
        memory_namespace=revision.memory_namespace,
        proposal_id=revision.proposal_id,
        proposal_revision=revision.revision,
        proposal_digest=proposal.digest,
        validator_profile=BASELINE,
        validator_profile_version=BASELINE_VERSION,
        findings=(),
        outcome=ValidationOutcome.PASS,
        validate_time=world.now(),
        expire_time=after(world.now(), HOUR),
    )


def _is_tried(state: ProposalState, act: Act) -> bool:
    """Whether the act can be said of a revision in that state: time does EXPIRE, and a head has one newest revision.

    A commit or a withdrawal once more is answered as the first was, what was only proposed has no capability, and to
    take back what policy activated is an act on the record.
    """
    again = {
        (S.COMMITTED, Act.COMMIT),
        (S.COMMITTED, Act.REVOKE_APPROVAL),
        (S.WITHDRAWN, Act.WITHDRAW),
        (S.PROPOSED, Act.COMMIT),
    }
    of_the_newest = {(S.SUPERSEDED, Act.SUPERSEDE), (S.SUPERSEDED, Act.WITHDRAW)}
    return act is not Act.EXPIRE and (state, act) not in again | of_the_newest


@pytest.mark.parametrize("state", ProposalState)
async def test_each_act_does_what_the_table_says(world: World, state: ProposalState) -> None:
    # given a proposal in the state, when what the table forbids is tried, then it is refused and changes nothing
    stage = Stage(world)
    await stage.bring_to(state)
    assert await stage.state() is state
    acts = [act for act in Act if _is_tried(state, act)]
    for act in (act for act in acts if act not in TRANSITIONS[state]):
        judged = judge_act(state, act, turned_down=state is S.CHANGES_REQUESTED)
        assert isinstance(judged, Refusal)
        assert reason_of(await stage.act(act)) is judged.reason, act
        assert await stage.state() is state, act

    # and what it allows leaves the state that it names
    for act in (act for act in acts if act in TRANSITIONS[state]):
        stage = Stage(world)
        await stage.bring_to(state)
        assert reason_of(await stage.act(act)) is None, act
        assert await stage.state() is TRANSITIONS[state][act], act


async def test_what_a_person_rejected_passes_no_validator(world: World) -> None:
    # given a revision that a person rejected, and one that validators rejected
    by_person, by_validators = Stage(world), Stage(world)
    await by_person.bring_to(S.VALIDATED)
    await by_person.act(Act.REJECT)
    await by_validators.bring_to(S.REJECTED)

    # then only the latter passes later
    for act in STATE_OF:
        assert reason_of(await by_person.act(act)) is Reason.NOT_VALIDATED
    assert await by_person.state() is S.REJECTED
    assert reason_of(await by_validators.act(Act.PASS)) is None


async def test_expired_is_told_of_whatever_has_not_ended(world: World) -> None:
    # given a proposal in each state that a proposer can see, when their hour has passed, then no job has to run
    stages = [Stage(world) for _ in (S.PROPOSED, S.REJECTED, S.APPROVED, S.COMMITTED, S.WITHDRAWN)]
    states = (S.PROPOSED, S.REJECTED, S.APPROVED, S.COMMITTED, S.WITHDRAWN)
    for stage, state in zip(stages, states, strict=True):
        await stage.bring_to(state)
    world.authority.clock.advance(HOUR)
    assert [await stage.state() for stage in stages] == [S.EXPIRED] * 3 + [S.COMMITTED, S.WITHDRAWN]

    # and the list tells the same, by state too
    async def listed(state: ProposalState | None) -> list[ProposalState]:
        page = must(await world.authority.do.list_proposals(world.user.calls(), NAMESPACE, state, PageRequest(50, "")))
        return [proposal.state for proposal in page.items]

    assert sorted(it.value for it in await listed(None)) == ["committed", *["expired"] * 3, "withdrawn"]
    assert await listed(S.EXPIRED) == [S.EXPIRED] * 3
    assert await listed(S.COMMITTED) == [S.COMMITTED]
    assert await listed(S.APPROVED) == await listed(S.PROPOSED) == []
