"""The port `Committer`: what every store keeps to, beside the precedence of refusals and live state."""

import asyncio
from dataclasses import replace

import pytest

from authority.domain.identity import PrincipalKind
from authority.domain.plan import Committed, Conflicting
from authority.domain.proposal import Cost, MemoryType, ProposalState, Visibility
from authority.domain.reasons import Reason
from authority.domain.record import MemoryRecord
from authority.domain.references import DAY, MINUTE, after
from authority.domain.refusal import Refusal, binding_mismatch
from authority.domain.statement import KeyPurpose
from authority.usecases.ports import CapabilityFate
from tests.world.world import NAMESPACE, PERMIT_ALL, World, all_are, must, reason_of


async def test_a_commit_writes_a_receipt_a_record_and_an_event_and_consumes_its_capability(world: World) -> None:
    # given a capability, when its plan is carried out
    issued = await world.issued()
    plan = world.plan(issued)
    outcome = await world.carry_out(plan)

    # then its receipt is the one that was planned, byte for byte, and everything else is there with it
    assert isinstance(outcome, Committed)
    assert (outcome.replayed, outcome.receipt.statement) == (False, plan.receipt)
    assert (outcome.receipt.receipt_id, outcome.receipt.record_id) == (plan.receipt_id, plan.record_id)
    assert outcome.receipt.fingerprint == plan.claim.fingerprint
    assert await world.counts() == all_are(1)
    store, terms = world.authority.store, issued.capability.terms
    assert await store.receipts.by_receipt(world.tenant, plan.receipt_id) == outcome.receipt
    fate = await store.capabilities.fate_of(world.tenant, terms.capability_id)
    assert fate == CapabilityFate(terms.holder, plan.receipt_id, is_revoked=False)
    proposal = await store.proposals.get(world.tenant, terms.proposal_id, 0)
    assert proposal == replace(issued.ground.proposal, state=ProposalState.COMMITTED)


async def test_c13_the_record_says_what_the_proposal_said_byte_for_byte(world: World) -> None:
    # given a proposal that says everything
    issued = await world.issued(
        b'{"a":1e+21,"b":"\xc3\xa9","e\xcc\x81":0.000001}',
        media_type="application/json",
        memory_type=MemoryType.PREFERENCE,
        subject_refs=("client:7", "x,{}y"),
        evidence_digests=(b"\xff" * 32, b"\x00" * 32),
        visibility=Visibility.WORKSPACE,
        valid_from_time=world.now(),
        valid_until_time=after(world.now(), DAY),
        record_expire_time=after(world.now(), DAY + 1),
        correlation_id="run-1",
        costs=(Cost("extract", "small", 1, 2, 2**63 - 1),),
    )
    world.authority.clock.advance(7)

    # when it is committed, then its record says the same
    plan = world.plan(issued)
    await world.carry_out(plan)
    revision = issued.ground.revision
    assert await world.authority.store.records.get(
        world.tenant, plan.record_id, world.user.ref, world.now()
    ) == MemoryRecord(
        record_id=plan.record_id,
        tenant=world.tenant,
        memory_namespace=NAMESPACE,
        memory_type=MemoryType.PREFERENCE,
        provenance=revision.provenance,
        content=issued.ground.proposal.content,
        content_digest=revision.content_digest,
        media_type="application/json",
        proposer=world.user.ref,
        proposal_id=revision.proposal_id,
        proposal_revision=1,
        receipt_id=plan.receipt_id,
        source_refs=revision.source_refs,
        subject_refs=revision.subject_refs,
        evidence_digests=revision.evidence_digests,
        visibility=Visibility.WORKSPACE,
        valid_from_time=revision.valid_from_time,
        valid_until_time=revision.valid_until_time,
        expire_time=revision.record_expire_time,
        create_time=world.now(),
        costs=revision.costs,
        correlation_id="run-1",
        supersedes_record_id="",
    )


# --- replay ----------------------------------------------------------------------------------------------------------


async def test_a_retry_is_answered_with_the_first_result(world: World) -> None:
    # given a commit, when the same claim comes with another plan, then the first receipt answers and nothing is added
    issued = await world.issued()
    first = await world.carry_out(world.plan(issued))
    assert isinstance(first, Committed)
    assert await world.carry_out(world.plan(issued)) == Committed(first.receipt, replayed=True)
    assert await world.counts() == all_are(1)


async def test_c01_the_same_plan_again_is_its_own_success(world: World) -> None:
    # given a plan whose answer was lost, when the same plan is asked again, then it is what it was: no replay
    plan = world.plan(await world.issued())
    first = await world.carry_out(plan)
    assert await world.carry_out(plan) == first
    assert isinstance(first, Committed)
    assert not first.replayed
    assert await world.counts() == all_are(1)


async def test_a17_a_replay_never_ends_whatever_was_withdrawn_since(world: World) -> None:
    # given a commit, and everything withdrawn that it rested on
    issued = await world.issued()
    first = await world.carry_out(world.plan(issued))
    assert isinstance(first, Committed)
    again = world.plan(issued)
    administration = world.authority.store.administration
    for key in world.authority.ring.published():
        await administration.revoke_issuer_key(key.key_id, None, world.now())
    await administration.revoke_principal_key(world.tenant, world.service.key_id, world.now())
    await administration.revoke_principal(world.tenant, world.service.ref, world.now())
    version = await world.load(PERMIT_ALL)
    await administration.activate_policy(world.tenant, NAMESPACE, version, world.now())
    await world.authority.store.behind.bury(world.tenant, NAMESPACE, issued.ground.revision.content_digest)
    world.authority.clock.advance(400 * DAY)

    # then a retry is still answered with the first receipt, and so is one that the service would have refused
    assert await world.carry_out(again) == Committed(first.receipt, replayed=True)
    refused = replace(again, refusal=Refusal(Reason.EXPIRED), receipt=None)
    assert await world.carry_out(refused) == Committed(first.receipt, replayed=True)


async def test_a12_a_reissued_capability_replays(world: World) -> None:
    # given a capability that expired, and a new one for the same key, which was committed
    first = await world.issued(key="k")
    world.authority.clock.advance(15 * MINUTE)
    second = await world.issued_on(first.ground, key="k")
    committed = await world.carry_out(world.plan(second))
    assert isinstance(committed, Committed)

    # when the first one is presented, then it has the same fingerprint: its answer is the receipt
    refused = world.plan(first, verdict=Refusal(Reason.EXPIRED))
    assert await world.carry_out(refused) == Committed(committed.receipt, replayed=True)


# --- conflict --------------------------------------------------------------------------------------------------------


async def test_another_request_under_a_settled_key_is_a_conflict(world: World) -> None:
    # given a settled key, when it is presented with other content, then the receipt in its way answers
    issued = await world.issued()
    first = await world.carry_out(world.plan(issued))
    assert isinstance(first, Committed)
    other = world.plan(issued, verdict=binding_mismatch("content_digest"), content_digest=bytes(32))
    assert await world.carry_out(other) == Conflicting(first.receipt)
    assert await world.counts() == all_are(1)


async def test_a12_a_conflict_names_the_terms_that_differ(world: World) -> None:
    issued, _ = await world.committed()
    refused = await world.commit(issued, media_type="application/json", content=b"{}", evidence_digests=(bytes(32),))
    assert refused == Refusal(Reason.IDEMPOTENCY_CONFLICT, {"differs": "evidence_digests,media_type"})


async def test_a12_another_holder_or_tenant_is_never_in_the_way(world: World) -> None:
    # given one key used by two holders and in two tenants
    other, neighbour = await world.register(PrincipalKind.SERVICE, "other"), await world.neighbour()
    outcomes = [
        await world.carry_out(world.plan(await world.issued(key="k"))),
        await world.carry_out(world.plan(await world.issued(key="k", holder=other))),
        await neighbour.carry_out(neighbour.plan(await neighbour.issued(key="k"))),
    ]

    # then each commits its own
    assert [isinstance(outcome, Committed) and not outcome.replayed for outcome in outcomes] == [True] * 3
    assert await neighbour.counts() == all_are(1)


# --- refusals that burn nothing --------------------------------------------------------------------------------------


CARRIED = (
    Refusal(Reason.SIGNATURE_INVALID),
    Refusal(Reason.ISSUER_UNKNOWN),
    Refusal(Reason.KEY_REVOKED),
    binding_mismatch("evidence_digests"),
    Refusal(Reason.NOT_YET_VALID, {"not_before_time_ms": "1"}),
    Refusal(Reason.EXPIRED, {"expire_time_ms": "1"}),
)


@pytest.mark.parametrize("verdict", CARRIED, ids=lambda verdict: verdict.reason.name)
async def test_a04_a_carried_refusal_is_answered_as_it_was_given_and_burns_nothing(
    world: World, verdict: Refusal
) -> None:
    issued = await world.issued()
    assert await world.carry_out(world.plan(issued, verdict=verdict)) == verdict
    assert await world.counts() == all_are(0)
    assert isinstance(await world.carry_out(world.plan(issued)), Committed)


async def test_a04_changed_content_is_refused_and_burns_nothing(world: World) -> None:
    # given a capability, when other content is presented, then it is refused
    issued = await world.issued(b"tea")
    for content in (b"teA", b"tea\n", b"tea\r\n", b"te"):
        digest = world.authority.reader.content_digest(content)
        refused = await world.commit(issued, content=content, content_digest=digest)
        assert refused == binding_mismatch("content_digest"), "case G13"

    # and the right content still commits
    must(await world.commit(issued))
    assert await world.counts() == all_are(1)


async def test_a10_looking_at_a_capability_does_not_use_it(world: World) -> None:
    issued = await world.issued()
    verify = world.authority.do.verify_capability
    for _ in range(10):
        verdict = must(await verify(world.service.calls(), issued.capability.statement, issued.presentation))
        assert (verdict.refusal, verdict.receipt_id) == (None, "")
    answer = must(await world.commit(issued))
    verdict = must(await verify(world.service.calls(), issued.capability.statement, issued.presentation))
    assert verdict.receipt_id == answer.receipt.receipt_id


@pytest.mark.parametrize("key", ["K1", "k2", "k1.", "k"])
async def test_a09_another_key_than_the_bound_one_is_refused(world: World, key: str) -> None:
    issued = await world.issued(key="k1")
    assert await world.commit(issued, commit_idempotency_key=key) == binding_mismatch("commit_idempotency_key")
    assert await world.counts() == all_are(0)


async def test_e09_a_receipt_key_revoked_meanwhile_is_no_success_and_no_refusal(world: World) -> None:
    # given a process that has not heard that its receipt key is revoked
    issued = await world.issued()
    key = next(key for key in world.authority.ring.published() if key.purpose is KeyPurpose.RECEIPT)
    await world.authority.store.administration.revoke_issuer_key(key.key_id, None, world.now())

    # when it commits, then nothing is written under that key, and the caller may come again
    assert await world.commit(issued) == Refusal(Reason.DEPENDENCY_UNAVAILABLE)
    assert await world.counts() == all_are(0)

    # and once the process knows a new key, the same call succeeds
    await world.authority.make_keys(world.tenant)
    issued = await world.issued_on(await world.allow(issued.ground.proposal))
    must(await world.commit(issued))


# --- many at once ----------------------------------------------------------------------------------------------------


async def test_a01_adr328_10_of_a_hundred_callers_with_a_hundred_keys_only_the_bound_key_wins(world: World) -> None:
    # given one capability, when a hundred callers present it, one of them with the key that it binds
    issued = await world.issued(key="bound")
    keys = [f"k{number}" for number in range(99)]
    keys.insert(50, "bound")
    answers = await asyncio.gather(*(world.commit(issued, commit_idempotency_key=key) for key in keys))

    # then that one commits, and the others learn which term is wrong
    refused = [answer for answer in answers if isinstance(answer, Refusal)]
    assert refused == [binding_mismatch("commit_idempotency_key")] * 99
    assert await world.counts() == all_are(1)


async def test_a02_adr328_10_a_hundred_callers_with_one_key_get_one_receipt(world: World) -> None:
    # given one capability, when a hundred callers present it with its key
    issued = await world.issued()
    answers = await asyncio.gather(*(world.commit(issued) for _ in range(100)))

    # then one commits; whoever was not told to come again has its receipt; nobody is told that the key is used
    receipts = [answer for answer in answers if not isinstance(answer, Refusal)]
    assert {answer.receipt for answer in receipts} == {receipts[0].receipt}
    assert {reason_of(answer) for answer in answers} <= {None, Reason.IN_PROGRESS}
    assert [answer.replayed for answer in receipts].count(False) == 1
    assert await world.counts() == all_are(1)

    # and once it is settled every retry is a replay
    assert must(await world.commit(issued)).receipt == receipts[0].receipt


async def test_adr328_10_a_hundred_capabilities_of_one_proposal_make_one_record(world: World) -> None:
    # given a hundred capabilities of one proposal
    ground = await world.allowed()
    capabilities = [await world.issued_on(ground, key=f"k{number}") for number in range(100)]

    # when all are presented at once, then one commits, and the others are told that it was
    answers = await asyncio.gather(*(world.commit(issued) for issued in capabilities))
    (winner,) = [answer for answer in answers if not isinstance(answer, Refusal)]
    settled = Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": winner.receipt.receipt_id})
    assert [answer for answer in answers if isinstance(answer, Refusal)] == [settled] * 99
    assert await world.counts() == all_are(1)


# --- tenants ---------------------------------------------------------------------------------------------------------


async def test_g02_the_ids_of_another_tenant_are_not_found(world: World) -> None:
    # given a capability signed here for what exists next door alone
    neighbour = await world.neighbour()
    theirs = await neighbour.issued()
    terms = replace(theirs.capability.terms, tenant=world.tenant)
    forged = replace(theirs, capability=world.authority.signer.sign_capability(terms))

    # when it is committed, then none of it is there, and next door nothing happened
    assert await world.carry_out(world.plan(forged)) == Refusal(Reason.NOT_FOUND)
    assert await world.counts() == await neighbour.counts() == all_are(0)


async def test_i02_a_capability_of_another_tenant_is_not_the_callers(world: World) -> None:
    neighbour = await world.neighbour()
    assert await world.commit(await neighbour.issued(), by=world.service) == Refusal(Reason.HOLDER_MISMATCH)


async def test_i01_who_is_not_the_holder_learns_nothing_of_a_settled_key(world: World) -> None:
    issued, _ = await world.committed()
    thief = await world.register(PrincipalKind.SERVICE, "thief")
    assert await world.commit(issued, by=thief) == Refusal(Reason.HOLDER_MISMATCH)
