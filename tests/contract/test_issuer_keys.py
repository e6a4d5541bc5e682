"""Issuer keys in several processes over one store: rotated, revoked, learned of in time, and vouched for afterwards."""

from dataclasses import replace

import pytest

from authority.domain.plan import StoredReceipt
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.domain.statement import IssuerKey, KeyPurpose, Statement
from authority.rpc.convert.statements import statement_message
from authority.signing.rotation import Scope, generate
from authority.usecases.read_receipts import ReceiptQuery
from capability_authority.offline import (
    AttestationInvalid,
    KeyRevoked,
    sign,
    verify_receipt,
    verify_statement,
)
from capability_authority.v1.statements_pb2 import CommitReceipt, KeyAttestation
from tests.world.world import Issued, World, all_are, must, reason_of


async def rotate(world: World, purpose: KeyPurpose) -> IssuerKey:
    """A new key of the purpose; no process knows of it yet."""
    key = generate(world.authority.folder, purpose, world.now(), Scope(world.tenant))
    await world.authority.store.administration.add_issuer_key(key, world.now())
    return key


async def revoke(world: World, key_id: str, *, compromised: bool = False) -> None:
    """Acknowledged; no process knows of it yet."""
    since = world.now() if compromised else None
    await world.authority.store.administration.revoke_issuer_key(key_id, since, world.now())


async def verdict(world: World, issued: Issued) -> Reason | None:
    """What a look at the capability says, in the process of this world."""
    statement = issued.capability.statement
    looked = await world.authority.do.verify_capability(world.agent.calls(), statement, issued.presentation)
    return reason_of(must(looked).refusal)


async def replica(world: World) -> World:
    """The same tenant as another process serves it, which has learned the keys just now."""
    return replace(world, authority=await world.authority.replica())


# --- rotation on every replica ---------------------------------------------------------------------------------------


async def test_e09_a_rotated_key_counts_on_every_replica_until_it_is_revoked(world: World) -> None:
    # given a capability that both processes have looked at, and a newer key that one of them knows
    other = await replica(world)
    issued = await world.issued()
    assert [await verdict(process, issued) for process in (world, other)] == [None, None]
    await rotate(world, KeyPurpose.CAPABILITY)
    await other.authority.learn_keys()

    # then it counts in both, the one that signs with the old key still, too; and each takes what the other signed
    assert [await verdict(process, issued) for process in (world, other)] == [None, None]
    late, new = await world.issued(), await other.issued()
    assert late.capability.statement.key_id == issued.capability.statement.key_id != new.capability.statement.key_id
    must(await other.commit(issued))
    must(await other.commit(late))
    await world.authority.learn_keys()
    must(await world.commit(new))
    assert await world.counts() == all_are(3)


@pytest.mark.parametrize("purpose", [KeyPurpose.CAPABILITY, KeyPurpose.VALIDATION, KeyPurpose.DECISION])
async def test_e09_no_replica_commits_on_a_revoked_key_whether_it_was_told_or_not(
    world: World, purpose: KeyPurpose
) -> None:
    # given a capability, warm in the caches of two processes, and the revocation of a key it rests on, told to one
    told, untold = await replica(world), world
    issued = await world.issued()
    signed = {
        KeyPurpose.CAPABILITY: issued.capability.statement,
        KeyPurpose.VALIDATION: issued.ground.validation.statement,
        KeyPurpose.DECISION: issued.ground.decision.statement,
    }
    assert [await verdict(process, issued) for process in (told, untold)] == [None, None]
    await rotate(world, purpose)
    await revoke(world, signed[purpose].key_id)
    await told.authority.learn_keys()

    # then neither commits, and no more do they once both know
    assert [reason_of(await process.commit(issued)) for process in (told, untold)] == [Reason.KEY_REVOKED] * 2
    await untold.authority.learn_keys()
    assert [reason_of(await process.commit(issued)) for process in (told, untold)] == [Reason.KEY_REVOKED] * 2
    assert await world.counts() == all_are(0)


async def test_e09_a_revoked_key_stops_verifying_when_the_replica_is_told(world: World) -> None:
    issued = await world.issued()
    other = await replica(world)
    await rotate(world, KeyPurpose.CAPABILITY)
    await revoke(world, issued.capability.statement.key_id)
    assert [await verdict(process, issued) for process in (world, other)] == [None, None]
    await other.authority.learn_keys()
    assert [await verdict(process, issued) for process in (world, other)] == [None, Reason.KEY_REVOKED]
    await world.authority.learn_keys()
    assert await verdict(world, issued) is Reason.KEY_REVOKED


async def test_e09_what_an_untold_replica_still_signs_with_a_revoked_key_is_worth_nothing(world: World) -> None:
    # given a process that does not know yet that its capability key is revoked
    told = await replica(world)
    revoked = (await world.issued()).capability.statement.key_id
    await rotate(world, KeyPurpose.CAPABILITY)
    await revoke(world, revoked)
    await told.authority.learn_keys()

    # when it signs once more, then nobody takes it; and what the told one signs commits everywhere
    late, new = await world.issued(), await told.issued()
    assert late.capability.statement.key_id == revoked
    assert await verdict(told, late) is Reason.KEY_REVOKED
    assert [reason_of(await process.commit(late)) for process in (told, world)] == [Reason.KEY_REVOKED] * 2
    must(await told.commit(new))
    assert await world.counts() == all_are(1)


async def test_e09_an_untold_replica_gives_no_receipt_by_a_revoked_key(world: World) -> None:
    # given a process that does not know yet that its receipt key is revoked
    issued = await world.issued()
    await rotate(world, KeyPurpose.RECEIPT)
    revoked = next(key.key_id for key in world.authority.ring.published() if key.purpose is KeyPurpose.RECEIPT)
    await revoke(world, revoked)

    # then its holder is asked to call again, and gets a receipt by the new key once the process was told
    assert await world.commit(issued) == Refusal(Reason.DEPENDENCY_UNAVAILABLE)
    assert await world.counts() == all_are(0)
    await world.authority.learn_keys()
    assert must(await world.commit(issued)).receipt.statement.key_id != revoked


# --- receipts whose key was revoked -----------------------------------------------------------------------------------


async def answers(world: World, issued: Issued, receipt: StoredReceipt) -> list[tuple[StoredReceipt, Statement | None]]:
    """Every way to a receipt: the replay, and GetCommitReceipt by each of its names."""
    do, key = world.authority.do, issued.presentation.commit_idempotency_key
    replay = must(await world.commit(issued))
    assert replay.replayed
    queries = (
        ReceiptQuery(receipt.receipt_id, "", ""),
        ReceiptQuery("", receipt.record_id, ""),
        ReceiptQuery("", "", key),
    )
    found = [must(await do.get_receipt(issued.holder.calls(), query)) for query in queries]
    return [(replay.receipt, replay.attestation), *((it.receipt, it.attestation) for it in found)]


@pytest.mark.parametrize("compromised", [False, True])
async def test_e09_a_receipt_whose_key_was_revoked_is_answered_in_its_first_bytes_and_vouched_for(
    world: World, *, compromised: bool
) -> None:
    # given a committed record, and the revocation of the key that signed its receipt
    issued, answer = await world.committed()
    first, content = answer.receipt, issued.presentation.content
    current = await rotate(world, KeyPurpose.RECEIPT)
    await revoke(world, first.statement.key_id, compromised=compromised)
    await world.authority.learn_keys()

    # when it is asked for in any way, in this process and in one that never saw it
    other = await replica(world)
    for process in (world, other):
        key_set = await process.authority.key_set()
        for receipt, attestation in await answers(process, issued, first):
            # then the bytes are those of the first answer, and a client believes them by the attestation alone
            assert receipt == first
            assert attestation is not None
            assert attestation.key_id == current.key_id
            sent, vouching = statement_message(receipt.statement), statement_message(attestation)
            with pytest.raises(KeyRevoked):
                verify_receipt(sent, key_set)
            verified = verify_receipt(sent, key_set, attestation=vouching, content=content)
            assert verified.receipt_id == first.receipt_id
            vouched = verify_statement(vouching, key_set)
            assert isinstance(vouched, KeyAttestation)
            assert vouched.key_id == first.statement.key_id
    assert await world.counts() == all_are(1)


async def test_e09_an_attestation_vouches_for_one_receipt_and_for_nothing_new(world: World) -> None:
    # given two receipts whose key was revoked, and a thief who has it
    (one, first), (_, second) = await world.committed(), await world.committed()
    revoked = first.receipt.statement.key_id
    stolen = world.authority.folder.load(KeyPurpose.RECEIPT, revoked)
    await rotate(world, KeyPurpose.RECEIPT)
    await revoke(world, revoked, compromised=True)
    await world.authority.learn_keys()
    attestation = must(await world.commit(one)).attestation
    assert attestation is not None
    vouching, key_set = statement_message(attestation), await world.authority.key_set()

    # then the attestation of one is none of the other, nor of what the thief makes of the first
    forged = CommitReceipt.FromString(first.receipt.statement.payload)
    forged.record_id = second.receipt.record_id
    for other in (statement_message(second.receipt.statement), sign(forged, stolen)):
        with pytest.raises(AttestationInvalid):
            verify_receipt(other, key_set, attestation=vouching)
    # and the thief cannot vouch either
    false = KeyAttestation.FromString(attestation.payload)
    with pytest.raises(KeyRevoked):
        verify_receipt(statement_message(first.receipt.statement), key_set, attestation=sign(false, stolen))


async def test_e09_a_cached_receipt_that_a_revoked_key_signed_is_not_answered(world: World) -> None:
    # given a thief of a revoked receipt key who has also got hold of Redis, and puts a receipt of its own there
    issued, answer = await world.committed()
    first = answer.receipt
    stolen = world.authority.folder.load(KeyPurpose.RECEIPT, first.statement.key_id)
    forged = CommitReceipt.FromString(first.statement.payload)
    forged.record_id = "00000000-0000-4000-8000-000000000000"
    made = sign(forged, stolen)
    statement = Statement(made.payload_type, made.payload, made.signature.key_id, made.signature.signature)
    world.authority.leases.settle(world.plan(issued).claim, "thief", replace(first, statement=statement))
    await rotate(world, KeyPurpose.RECEIPT)
    await revoke(world, first.statement.key_id, compromised=True)

    # when the holder retries as soon as the process was told, then it gets its receipt, and not the thief's
    await world.authority.learn_keys()
    assert must(await world.commit(issued)).receipt == first
