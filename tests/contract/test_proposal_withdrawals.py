"""The port `ProposalWithdrawals`, and the verb over it: once withdrawn, nothing of a proposal is committed."""

import asyncio
from dataclasses import replace

import pytest

from authority.domain.audit import AuditEvent, AuditFilter
from authority.domain.identity import PrincipalKind, Right
from authority.domain.proposal import ProposalState
from authority.domain.reasons import Reason
from authority.domain.references import MINUTE, SECOND
from authority.domain.refusal import Refusal
from authority.usecases.ports import WithdrawnProposal
from tests.world.withdrawing import withdraw
from tests.world.world import TRACE_ID, World, all_are, must, reason_of

WITHDRAWN = Refusal(Reason.NOT_VALIDATED, {"problem": "it was withdrawn"})
NOT_FOUND = Refusal(Reason.NOT_FOUND)


async def test_nothing_of_a_withdrawn_proposal_goes_on(world: World) -> None:
    # given a proposal that could be committed, by two capabilities of which one could still be issued
    issued = await world.issued()
    ground = issued.ground

    # when its proposer withdraws it
    assert must(await withdraw(world, ground.proposal)) == WithdrawnProposal(world.now(), replayed=False)

    # then it is neither validated, decided on, judged by policy, issued for nor committed, and no revision follows
    proposal = ground.proposal
    assert await world.validate(proposal) == WITHDRAWN
    assert await world.approve(proposal) == WITHDRAWN
    assert reason_of(await world.decide(proposal)) is Reason.NOT_VALIDATED
    assert reason_of(await world.issue(ground, "another key")) is Reason.NOT_VALIDATED
    assert reason_of(await world.commit(issued)) is Reason.NOT_VALIDATED
    assert await world.propose(proposal_id=proposal.revision.proposal_id) == WITHDRAWN
    assert await world.counts() == all_are(0)
    # and that is what is told of it
    found = await world.authority.store.proposals.get(world.tenant, proposal.revision.proposal_id, 0)
    assert found == replace(proposal, state=ProposalState.WITHDRAWN)


async def test_a_retry_and_whoever_comes_later_are_answered_with_the_first_time(world: World) -> None:
    # given a withdrawn proposal
    proposal = await world.proposed()
    first = must(await withdraw(world, proposal, request_id="r"))
    world.authority.clock.advance(MINUTE)
    # when the same request, another one and an admin withdraw it again, also at once, then the first time stands
    again = await asyncio.gather(
        withdraw(world, proposal, request_id="r"),
        *(withdraw(world, proposal) for _ in range(3)),
        withdraw(world, proposal, by=world.admin),
    )
    assert again == [WithdrawnProposal(first.withdraw_time, replayed=True)] * 5
    # and the request id stays what it was used for
    other = await withdraw(world, await world.proposed(), request_id="r")
    assert other == Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"})


async def test_of_many_at_once_one_withdraws(world: World) -> None:
    proposal = await world.proposed()
    answers = [must(it) for it in await asyncio.gather(*(withdraw(world, proposal) for _ in range(8)))]
    assert sorted(it.replayed for it in answers) == [False] + [True] * 7
    assert len(await told(world)) == 1


async def test_what_is_committed_is_withdrawn_no_more(world: World) -> None:
    # given a record, when its proposal is withdrawn, then it is told so, also by a retry, and the record stays
    issued, answer = await world.committed()
    committed = Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": answer.receipt.receipt_id})
    assert [await withdraw(world, issued.ground.proposal, request_id="r") for _ in range(2)] == [committed] * 2
    assert must(await world.commit(issued)).replayed
    assert await world.counts() == all_are(1)


async def test_a_withdrawal_takes_every_revision(world: World) -> None:
    # given two revisions, of which the first is validated
    first = await world.validated()
    await world.proposed(proposal_id=first.revision.proposal_id)
    must(await withdraw(world, first))
    states = [
        found.state
        for revision in (1, 2)
        if (found := await world.authority.store.proposals.get(world.tenant, first.revision.proposal_id, revision))
    ]
    assert states == [ProposalState.SUPERSEDED, ProposalState.WITHDRAWN]


@pytest.mark.parametrize("kind", [kind for kind in PrincipalKind if kind is not PrincipalKind.ADMIN])
async def test_g02_nobody_withdraws_what_is_not_theirs(world: World, kind: PrincipalKind) -> None:
    # given a proposal of the user, and somebody else with every right of the kind, or a neighbour's admin
    proposal = await world.proposed()
    other = await world.register(kind, "other")
    neighbour = await world.neighbour()

    # then it is not there for them, no more than one that does not exist
    assert await withdraw(world, proposal, by=other, request_id="r") == NOT_FOUND
    assert await withdraw(neighbour, proposal, by=neighbour.admin) == NOT_FOUND
    assert await withdraw(world, "00000000-0000-4000-8000-00000000dead", by=world.admin) == NOT_FOUND
    assert reason_of(await world.validate(proposal)) is None
    # and their request id is free for what is theirs
    mine = await world.proposed(by=other) if Right.PROPOSE in other.principal.rights else await world.proposed()
    by = other if mine.revision.proposer == other.ref else world.admin
    assert not must(await withdraw(world, mine, by=by, request_id="r")).replayed


async def test_a_proposer_of_any_kind_may_withdraw_what_it_proposed(world: World) -> None:
    # ADR-328 test 7 keeps agents from committing; what was never committed is theirs to take back
    proposal = await world.validated(by=world.agent)
    assert not must(await withdraw(world, proposal, by=world.agent)).replayed


async def test_a_withdrawal_is_told_with_what_was_before(world: World) -> None:
    proposal = await world.validated(correlation_id="thread-7")
    world.authority.clock.advance(SECOND)
    must(await withdraw(world, proposal, by=world.admin))
    (event,) = await told(world)
    assert (event.actor, event.subject) == (world.admin.ref, proposal.revision.proposal_id)
    assert (event.previous_state, event.next_state) == ("validated", "withdrawn")
    assert (event.time, event.correlation_id, event.trace_id) == (world.now(), "thread-7", TRACE_ID)


async def told(world: World) -> list[AuditEvent]:
    """What the audit log says of withdrawals."""
    wanted = AuditFilter(kind="proposal.withdraw")
    events = await world.authority.store.audit_log.page(world.tenant, wanted, oldest_first=True, after="", size=99)
    return [it.event for it in events]
