"""Validations that take longer than their caller waits: VALIDATING, resumed by the request, and one receipt for all."""

import asyncio
from dataclasses import replace

import pytest

from authority.domain.audit import AuditFilter
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.refusal import Refusal
from authority.usecases.ports import Overloaded, RecordedValidation
from authority.usecases.validate_proposal import StillValidating, ValidateProposal, ValidationRequest
from authority.usecases.validation_runs import ValidationRuns
from authority.validators.judging import InstalledValidators
from authority.validators.threads import Threads
from tests.unit.validators.plugins import Hanging, panel_of
from tests.world.guarded import GUARDED, make_guarded, proposed
from tests.world.world import Person, World, must

WITHIN_S = 60


class Long:
    """A process of the service whose one validator answers when it is let go."""

    def __init__(self, world: World, at_once: int = 64, of_one: int = 32) -> None:
        self.world, self.validator = world, Hanging()
        validators = InstalledValidators({"house": panel_of(self.validator, limit_s=WITHIN_S)}, Threads(at_once=8))
        self.runs = ValidationRuns(at_once, of_one)
        do = world.authority.do.validate_proposal
        gather = replace(do.gather, validators=validators)
        self.validate: ValidateProposal = replace(do, validators=validators, gather=gather, runs=self.runs)

    async def ask(
        self,
        proposal: StoredProposal,
        *,
        request_id: str = "r",
        within_s: float = 0.0,
        by: Person | None = None,
    ) -> RecordedValidation | StillValidating | Refusal:
        """ValidateProposal, by the service unless somebody else is named, who waits so long."""
        revision, by = proposal.revision, by or self.world.service
        key = (revision.proposal_id, revision.revision)
        mark = self.world.mark(by, request_id, "validate", key)
        deadline = asyncio.get_running_loop().time() + within_s
        return await self.validate(by.calls(), ValidationRequest(mark, *key, deadline=deadline))


@pytest.fixture
async def long(world: World) -> Long:
    await make_guarded(world, "house")
    return Long(world)


async def propose(world: World) -> StoredProposal:
    """A proposal there; the profile is unknown to the world's own process, so that another takes it."""
    do = world.authority.do
    other = replace(do.create_proposal, validators=InstalledValidators({"house": panel_of(Hanging())}))
    object.__setattr__(do, "create_proposal", other)
    return await proposed(world, "a fact that takes long to judge", memory_namespace=GUARDED)


async def state_of(world: World, proposal: StoredProposal) -> ProposalState:
    """Where it stands."""
    found = await world.authority.store.proposals.get(world.tenant, proposal.revision.proposal_id, 1)
    assert found
    return found.state


async def receipts_of(world: World, proposal: StoredProposal) -> int:
    """How often a receipt of it was kept, by the audit log."""
    wanted = AuditFilter(kind="proposal.validate", subject=proposal.revision.proposal_id)
    told = await world.authority.store.audit_log.page(world.tenant, wanted, oldest_first=True, after="", size=20)
    return sum(one.event.next_state == "validated" for one in told)


async def test_what_takes_long_is_validating_and_the_same_request_resumes_it(world: World, long: Long) -> None:
    proposal = await propose(world)
    # when nobody waits for it, then it is VALIDATING, here and for whoever looks
    assert await long.ask(proposal) == StillValidating()
    assert await state_of(world, proposal) is ProposalState.VALIDATING
    assert await long.ask(proposal) == StillValidating()

    # when it ends, then the same request gets its receipt, and again the same
    long.validator.released.set()
    first = await long.ask(proposal, within_s=WITHIN_S)
    assert isinstance(first, RecordedValidation)
    assert first.state is await state_of(world, proposal) is ProposalState.VALIDATED
    assert await long.ask(proposal, within_s=WITHIN_S) == first
    assert (long.validator.asked, await receipts_of(world, proposal)) == (1, 1)


async def test_a_caller_that_goes_away_takes_nothing_along(world: World, long: Long) -> None:
    proposal = await propose(world)
    call = asyncio.create_task(long.ask(proposal, within_s=WITHIN_S))
    async with asyncio.timeout(WITHIN_S):
        while not long.validator.asked:  # noqa: ASYNC110 - another thread tells it
            await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    long.validator.released.set()
    assert isinstance(await long.ask(proposal, within_s=WITHIN_S), RecordedValidation)
    assert (long.validator.asked, await receipts_of(world, proposal)) == (1, 1)


async def test_two_processes_that_run_the_same_request_keep_one_receipt(world: World, long: Long) -> None:
    # given two processes that both judge, for the first was slow
    proposal, other = await propose(world), Long(world)
    assert await long.ask(proposal) == await other.ask(proposal) == StillValidating()
    for one in (long, other):
        one.validator.released.set()
    answers = await asyncio.gather(*(one.ask(proposal, within_s=WITHIN_S) for one in (long, other)))
    assert isinstance(answers[0], RecordedValidation)
    assert answers[0] == answers[1]
    assert await receipts_of(world, proposal) == 1


async def test_a_process_that_dies_leaves_the_request_to_another(world: World, long: Long) -> None:
    # given a process that ends while validators are at it
    proposal = await propose(world)
    assert await long.ask(proposal) == StillValidating()
    await long.runs.close(0)
    assert await state_of(world, proposal) is ProposalState.VALIDATING
    # then another one begins anew
    other = Long(world)
    other.validator.released.set()
    assert isinstance(await other.ask(proposal, within_s=WITHIN_S), RecordedValidation)
    assert await receipts_of(world, proposal) == 1
    long.validator.released.set()


async def test_too_many_at_once_are_turned_away_early(world: World) -> None:
    await make_guarded(world, "house")
    few = Long(world, at_once=1)
    one, two = await propose(world), await proposed(world, "another fact that takes long to judge")
    assert await few.ask(one) == StillValidating()
    with pytest.raises(Overloaded):
        await few.ask(two, request_id="other")
    few.validator.released.set()
    assert isinstance(await few.ask(one, within_s=WITHIN_S), RecordedValidation)


async def test_one_principal_leaves_places_to_others(world: World) -> None:
    # given room for several validations, of which one may be the service's
    await make_guarded(world, "house")
    few = Long(world, at_once=3, of_one=1)
    one, two = await propose(world), await proposed(world, "another fact that takes long to judge")
    assert await few.ask(one) == StillValidating()
    # when it asks for another, then it is turned away, and the proposer is not; nor is who asks for the same again
    with pytest.raises(Overloaded):
        await few.ask(two, request_id="other")
    assert await few.ask(two, by=world.user) == StillValidating()
    assert await few.ask(one) == StillValidating()
    few.validator.released.set()
    assert isinstance(await few.ask(one, within_s=WITHIN_S), RecordedValidation)


async def test_a_standing_revision_is_not_moved_by_being_judged_again(world: World, long: Long) -> None:
    proposal = await propose(world)
    long.validator.released.set()
    must(await long.ask(proposal, within_s=WITHIN_S))
    again = Long(world)
    assert await again.ask(proposal, request_id="again") == StillValidating()
    assert await state_of(world, proposal) is ProposalState.VALIDATED
    again.validator.released.set()
    assert isinstance(await again.ask(proposal, request_id="again", within_s=WITHIN_S), RecordedValidation)
