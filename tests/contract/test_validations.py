"""The port `Validations`: what every store keeps to."""

from dataclasses import replace

import pytest

from authority.domain.decision import ApprovalVerdict
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.domain.validation import ValidationOutcome
from authority.usecases.ports import RecordedValidation, Validations
from tests.world.world import NAMESPACE, PERMIT_ALL, World, must, reason_of


@pytest.fixture
def validations(world: World) -> Validations:
    return world.authority.store.validations


async def state_of(world: World, proposal: StoredProposal) -> ProposalState:
    """Where the revision stands now."""
    revision = proposal.revision
    found = await world.authority.store.proposals.get(world.tenant, revision.proposal_id, revision.revision)
    assert found
    return found.state


async def duplicate(world: World) -> StoredProposal:
    """A proposal that fails, for it says what a record says already."""
    issued, _ = await world.committed()
    return await world.proposed(issued.ground.proposal.content)


async def test_what_passes_is_validated_and_its_receipt_is_kept(world: World) -> None:
    proposal = await world.proposed()
    recorded = must(await world.validate(proposal))
    assert recorded.state is await state_of(world, proposal) is ProposalState.VALIDATED
    kept = await world.authority.store.proposals.newest_validation(world.tenant, proposal.revision.proposal_id, 1)
    assert kept == recorded.signed.statement
    assert world.authority.reader.open_validation(kept) == recorded.signed


async def test_what_fails_is_rejected(world: World) -> None:
    proposal = await duplicate(world)
    recorded = must(await world.validate(proposal))
    assert recorded.signed.receipt.outcome is ValidationOutcome.FAIL
    assert recorded.state is await state_of(world, proposal) is ProposalState.REJECTED


async def test_what_failed_may_pass_later(world: World) -> None:
    # given a duplicate, when the record that it repeats is withdrawn, then it is one no longer
    proposal = await duplicate(world)
    must(await world.validate(proposal))
    await world.authority.store.behind.bury(world.tenant, NAMESPACE, proposal.revision.content_digest)
    assert must(await world.validate(proposal)).state is ProposalState.VALIDATED


async def test_a_request_id_is_answered_with_the_same_bytes_and_the_state_of_then(world: World) -> None:
    # given a validation kept under a request id, and an approval since
    proposal = await world.proposed()
    first = must(await world.validate(proposal, request_id="r"))
    must(await world.approve(proposal))

    # when the same request comes again, then nothing is judged anew, and the approval stands
    assert must(await world.validate(proposal, request_id="r")) == first
    assert await state_of(world, proposal) is ProposalState.APPROVED


async def test_a_request_id_used_for_another_request_is_a_conflict(world: World) -> None:
    await world.validated()
    must(await world.validate(await world.proposed(), request_id="r"))
    refused = await world.validate(await world.proposed(), request_id="r")
    assert refused == Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"})


async def test_validating_again_takes_an_approval_back(world: World) -> None:
    # given an approved revision, when it is validated again, then a person must look again: they saw another receipt
    proposal = await world.validated()
    must(await world.approve(proposal))
    assert must(await world.validate(proposal)).state is ProposalState.VALIDATED


@pytest.mark.parametrize("verdict", [ApprovalVerdict.REJECT, ApprovalVerdict.REQUEST_CHANGES])
async def test_validating_again_does_not_undo_what_a_person_decided(world: World, verdict: ApprovalVerdict) -> None:
    # given a revision that a person turned down
    proposal = await world.validated()
    turned_down = must(await world.approve(proposal, verdict)).state

    # when its proposer has it validated again, then it stays turned down, and the request id is free
    assert reason_of(await world.validate(proposal, by=world.user, request_id="r")) is Reason.NOT_VALIDATED
    assert await state_of(world, proposal) is turned_down
    must(await world.validate(await world.proposed(), by=world.user, request_id="r"))


async def test_g02_another_proposers_revision_is_not_there_for_whoever_may_not_issue(world: World) -> None:
    # given a proposal of the user, when others ask to have it validated, then it is absent for those who may not issue
    proposal = await world.proposed()
    strangers = (world.agent, world.admin, (await world.neighbour()).service)
    answers = [reason_of(await world.validate(proposal, by=one, request_id="r")) for one in strangers]
    assert answers == [Reason.NOT_FOUND, None, Reason.NOT_FOUND]
    assert reason_of(await world.validate(proposal, by=world.service)) is None


async def test_a_superseded_revision_is_not_validated(world: World) -> None:
    first = await world.proposed()
    await world.proposed(proposal_id=first.revision.proposal_id)
    assert reason_of(await world.validate(first, request_id="r")) is Reason.NOT_VALIDATED
    assert await state_of(world, first) is ProposalState.SUPERSEDED


async def test_a_committed_proposal_is_not_validated_again(world: World) -> None:
    issued, answer = await world.committed()
    refused = await world.validate(issued.ground.proposal)
    assert refused == Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": answer.receipt.receipt_id})
    assert await state_of(world, issued.ground.proposal) is ProposalState.COMMITTED


async def test_a_validation_of_a_proposal_that_is_not_there_is_not_kept(world: World, validations: Validations) -> None:
    # given a receipt of a proposal of another tenant
    neighbour = await world.neighbour()
    signed = must(await neighbour.validate(await neighbour.proposed())).signed
    signed = replace(signed, receipt=replace(signed.receipt, tenant=world.tenant))
    refused = await validations.keep(world.mark(world.service, None), signed, ProposalState.VALIDATED)
    assert refused == Refusal(Reason.NOT_FOUND)


async def test_the_store_keeps_the_state_it_is_told(world: World, validations: Validations) -> None:
    proposal = await world.proposed()
    signed = must(await world.validate(proposal)).signed
    again = replace(signed, digest=b"\x01" * 32)
    recorded = await validations.keep(world.mark(world.service, None), again, ProposalState.VALIDATING)
    assert recorded == RecordedValidation(again, ProposalState.VALIDATING)
    assert await state_of(world, proposal) is ProposalState.VALIDATING


async def test_a_duplicate_is_a_living_record_of_the_same_memory_namespace(
    world: World, validations: Validations
) -> None:
    # given a record
    await world.make_namespace("ledger", PERMIT_ALL)
    neighbour = await world.neighbour()
    issued, answer = await world.committed()
    digest = issued.ground.revision.content_digest

    # then its content is a duplicate here, and nowhere else
    assert (
        await validations.duplicate_of(world.tenant, NAMESPACE, digest, reader=world.user.ref)
        == answer.receipt.record_id
    )
    assert await validations.duplicate_of(world.tenant, "ledger", digest, reader=world.user.ref) is None
    assert await validations.duplicate_of(neighbour.tenant, NAMESPACE, digest, reader=world.user.ref) is None
    assert await validations.duplicate_of(world.tenant, NAMESPACE, bytes(32), reader=world.user.ref) is None

    # and no longer once it is withdrawn
    await world.authority.store.behind.bury(world.tenant, NAMESPACE, digest)
    assert await validations.duplicate_of(world.tenant, NAMESPACE, digest, reader=world.user.ref) is None
