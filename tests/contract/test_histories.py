"""The port `Histories`, and ExportRecord over it: what is handed over proves itself, also when it is not visible."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.domain import limits
from authority.domain.proposal import Cost, Visibility
from authority.domain.reasons import Reason
from authority.domain.references import HOUR, MINUTE, after
from authority.domain.refusal import Refusal
from authority.rpc.convert.exports import export_response
from authority.usecases.export_record import ExportForm, RecordExport
from capability_authority.offline import Check, CheckVerdict, KeySet, check_export
from capability_authority.v1 import memory_service_pb2 as pb
from tests.world.world import Person, World, must, reason_of

NOT_FOUND = Refusal(Reason.NOT_FOUND)
NO_KEYS = KeySet.of("authority.test")
PARTS = ["content", "receipt", "record"]
TRAIL_PARTS = ["capability", "validation", "decision", "approval", "proposal", "citations"]


async def export(
    world: World, record_id: str, form: ExportForm = ExportForm.AUDIT, by: Person | None = None
) -> RecordExport | Refusal:
    """ExportRecord, by the admin."""
    return await world.authority.do.export_record((by or world.admin).calls(), record_id, form)


async def exported(
    world: World, record_id: str, form: ExportForm = ExportForm.AUDIT, by: Person | None = None
) -> pb.RecordExport:
    """The export as it is sent."""
    return export_response(must(await export(world, record_id, form, by))).export


async def checked(world: World, message: pb.RecordExport) -> tuple[Check, ...]:
    """What checking it comes to, without the authority."""
    tenant = (world.tenant.namespace, world.tenant.id)
    return check_export(
        pb.RecordExport.FromString(message.SerializeToString()), await world.authority.key_set(), tenant=tenant
    )


def verdicts(checks: tuple[Check, ...]) -> dict[str, CheckVerdict]:
    """The verdict on each part."""
    return {check.part: check.verdict for check in checks}


async def full(world: World, *, approvals: int = 0) -> str:
    """A record of an agent's third revision, with all that a record can have, and more approvals than are asked for."""
    first = await world.proposed(b"tea 1", by=world.agent)
    proposal_id = first.revision.proposal_id
    await world.proposed(b"tea 2", by=world.agent, proposal_id=proposal_id)
    proposal = await world.proposed(
        b"tea 3",
        by=world.agent,
        proposal_id=proposal_id,
        source_refs=("thread:1", "thread:2"),
        subject_refs=("client:7",),
        evidence_digests=(b"\1" * 32, b"\2" * 32),
        valid_from_time=world.now(),
        valid_until_time=after(world.now(), 30 * HOUR),
        record_expire_time=after(world.now(), 20 * HOUR),
        correlation_id="run-1",
        costs=(Cost("extraction", "m1", 10, 20, 30), Cost("critique", "m2", 1, 2, 3)),
    )
    if approvals:
        must(await world.validate(proposal))
    for _ in range(approvals):
        must(await world.approve(proposal))
    issued = await world.issued_on(await world.allow(proposal))
    record_id = must(await world.commit(issued)).receipt.record_id
    must(await world.cite(record_id, "answer 1"))
    return record_id


async def test_an_audit_export_is_proved_part_by_part_without_the_authority(world: World) -> None:
    # given a record with evidence, costs, revisions, an approval and a citation
    record_id = await full(world)
    # when it is exported and checked elsewhere
    message = await exported(world, record_id)
    checks = await checked(world, message)
    # then every part holds, and it tells all of it
    assert verdicts(checks) == dict.fromkeys(PARTS + TRAIL_PARTS, CheckVerdict.HOLDS), checks
    assert (message.record.record_id, message.state) == (record_id, pb.RECORD_STATE_LIVE)
    assert len(message.trail.revisions) == 3
    assert [it.decided_by.id for it in message.trail.approvals] == [world.admin.ref.id]
    assert [it.citing_ref for it in message.trail.citations] == ["answer 1"]
    assert not message.trail.has_more_citations


async def test_a_compact_export_has_record_and_receipt_alone(world: World) -> None:
    record_id = await full(world)
    message = await exported(world, record_id, ExportForm.COMPACT, world.user)
    assert not message.HasField("trail")
    assert verdicts(await checked(world, message)) == dict.fromkeys(PARTS, CheckVerdict.HOLDS)


async def test_what_is_visible_no_more_is_exported_to_admins_in_the_audit_form_alone(world: World) -> None:
    # given records that were revoked, have expired, are no longer valid, and are not valid yet
    now = world.now()
    states = {
        (await world.committed())[1].receipt.record_id: pb.RECORD_STATE_REVOKED,
        (await world.committed(record_expire_time=after(now, HOUR)))[1].receipt.record_id: pb.RECORD_STATE_EXPIRED,
        (await world.committed(valid_until_time=after(now, HOUR)))[1].receipt.record_id: pb.RECORD_STATE_EXPIRED,
        (await world.committed(valid_from_time=after(now, 2 * HOUR)))[
            1
        ].receipt.record_id: pb.RECORD_STATE_NOT_YET_VALID,
    }
    revoked = next(iter(states))
    world.authority.clock.advance(MINUTE)
    revoke_time = must(await world.revoke_record(revoked, note="It was wrong.")).revoke_time
    world.authority.clock.advance(HOUR)
    for record_id, state in states.items():
        # then an admin has them with their proof and their state
        message = await exported(world, record_id)
        assert message.state == state
        assert CheckVerdict.BROKEN not in verdicts(await checked(world, message)).values()
        # and nobody else has, nor the admin in the compact form
        assert await export(world, record_id, by=world.user) == NOT_FOUND
        assert await export(world, record_id, ExportForm.COMPACT) == NOT_FOUND
    trail = must(await export(world, revoked)).history
    assert (trail.revoke_time, trail.revoke_note) == (revoke_time, "It was wrong.")


async def test_a_superseded_record_names_what_corrects_it_and_the_correction_is_bound_to_it(world: World) -> None:
    # given a record and its correction
    _, answer = await world.committed(b"tea at nine")
    old = answer.receipt.record_id
    ground = await world.allow(must(await world.correct(old, b"tea at eight")))
    world.authority.clock.advance(MINUTE)
    new = must(await world.commit(await world.issued_on(ground))).receipt.record_id
    # then the admin sees what took its place and since when, and others no longer see it
    message = await exported(world, old)
    assert message.state == pb.RECORD_STATE_SUPERSEDED
    assert message.trail.superseded_by_record_id == new
    assert must(await export(world, old)).history.supersede_time == world.now()
    assert await export(world, old, by=world.user) == NOT_FOUND
    # and what the correction corrects is covered by the proposal digest
    correction = await exported(world, new)
    assert CheckVerdict.BROKEN not in verdicts(await checked(world, correction)).values()
    correction.record.supersedes_record_id = ""
    assert verdicts(await checked(world, correction))["proposal"] is CheckVerdict.BROKEN


async def test_g02_what_one_may_not_see_is_not_exported(world: World) -> None:
    # given a record that is its proposer's alone, and a neighbour's
    neighbour = await world.neighbour()
    own = (await world.committed(visibility=Visibility.PRIVATE))[1].receipt.record_id
    theirs = (await neighbour.committed())[1].receipt.record_id
    # then nobody else has them, no admin but in the audit form, in the same words as for what there is not
    for record_id in (own, theirs, world.authority.ids.new()):
        assert await export(world, record_id, ExportForm.COMPACT) == NOT_FOUND
        for form in ExportForm:
            assert await export(world, record_id, form, by=world.agent) == NOT_FOUND
    assert await export(world, theirs) == NOT_FOUND
    assert (await exported(world, own)).record.record_id == own
    assert (await exported(world, own, by=world.user)).record.record_id == own
    assert reason_of(await export(world, own, by=world.observer)) is Reason.NOT_ALLOWED


async def test_content_decided_anew_is_live_and_tells_of_no_revocation(world: World) -> None:
    _, first = await world.committed(b"tea")
    must(await world.revoke_record(first.receipt.record_id))
    _, second = await world.committed(b"tea")
    assert must(await export(world, second.receipt.record_id)).history.revoke_time is None
    assert (await exported(world, second.receipt.record_id)).state == pb.RECORD_STATE_LIVE
    assert (await exported(world, first.receipt.record_id)).state == pb.RECORD_STATE_REVOKED


async def test_an_export_tells_as_much_as_fits_and_how_much_more_there_is(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given room for two citations, for two approvals and for one revision, of which there are more
    record_id = await full(world, approvals=3)
    for number in range(2):
        must(await world.cite(record_id, f"more {number}"))
    monkeypatch.setattr(limits, "EXPORT_ITEMS", 2)
    monkeypatch.setattr(limits, "EXPORT_REVISION_BYTES", 1)
    # then the rest is counted, and the committed revision is there
    message = await exported(world, record_id)
    assert (len(message.trail.citations), message.trail.has_more_citations) == (2, True)
    assert (len(message.trail.revisions), message.trail.revisions_left_out) == (1, 2)
    # of approvals those are there that were given last, in their order
    told = [it.approval_reference for it in message.trail.approvals]
    monkeypatch.undo()
    every = [it.approval_reference for it in (await exported(world, record_id)).trail.approvals]
    assert (told, len(every)) == (every[-2:], 4)
    assert CheckVerdict.BROKEN not in verdicts(await checked(world, message)).values()


SPOILS: dict[str, Callable[[Any], object]] = {
    "content": lambda it: it.record.MergeFrom(pb.MemoryRecord(content=it.record.content + b"!")),
    "content_digest": lambda it: setattr(it.record, "content_digest", "sha256:" + "0" * 64),
    "record_id": lambda it: setattr(it.record, "record_id", "another"),
    "receipt_id": lambda it: setattr(it.record, "receipt_id", "another"),
    "namespace": lambda it: setattr(it.record, "memory_namespace", "ledger"),
    "provenance": lambda it: setattr(it.record, "provenance", 1),
    "proposer": lambda it: setattr(it.record.proposer, "id", "another"),
    "source": lambda it: it.record.source_refs.append("thread:9"),
    "evidence": lambda it: it.record.evidence_digests.pop(),
    "expiry": lambda it: it.record.ClearField("expire_time"),
    "cost": lambda it: setattr(it.record.costs[0], "usd_micros", 1),
    "visibility": lambda it: setattr(it.record, "visibility", 1),
    "visibility_scope": lambda it: setattr(it.record, "visibility_scope", "crew"),
    "receipt signature": lambda it: setattr(it.receipt.signature, "signature", b"x" * 64),
    "receipt payload": lambda it: setattr(it.receipt, "payload", it.receipt.payload[:-1]),
    "no capability": lambda it: it.trail.ClearField("capability"),
    "capability signature": lambda it: setattr(it.trail.capability.signature, "signature", b"x" * 64),
    "validation for decision": lambda it: it.trail.decision_receipt.CopyFrom(it.trail.validation_receipt),
    "no approval": lambda it: it.trail.ClearField("approvals"),
    "an approval that rejects": lambda it: setattr(it.trail.approvals[0], "verdict", 2),
    "an approval of something else": lambda it: setattr(it.trail.approvals[0], "proposal_digest", "sha256:0"),
    "no revision": lambda it: it.trail.ClearField("revisions"),
    "another's revision": lambda it: setattr(it.trail.revisions[0], "payload", b""),
    "a citation of something else": lambda it: setattr(it.trail.citations[0], "content_digest", "sha256:0"),
}


async def test_whatever_is_changed_in_an_export_is_found(world: World) -> None:
    # given an export that holds together
    good = await exported(world, await full(world))
    # when one thing of it is changed, then a check says so
    for name, spoil in SPOILS.items():
        message = pb.RecordExport()
        message.CopyFrom(good)
        spoil(message)
        assert message != good, name
        broken = [check for check in await checked(world, message) if check.verdict is CheckVerdict.BROKEN]
        assert broken, name
        assert all(check.because for check in broken)


async def test_another_tenants_export_is_no_proof_here(world: World) -> None:
    neighbour = await world.neighbour()
    message = await exported(neighbour, (await neighbour.committed())[1].receipt.record_id)
    keys = await world.authority.key_set()
    found = check_export(message, keys, tenant=(world.tenant.namespace, world.tenant.id))
    assert verdicts(found)["record"] is CheckVerdict.BROKEN


async def test_an_old_key_that_was_revoked_since_is_vouched_for(world: World) -> None:
    # given a record whose signing keys were all revoked since, and others that sign now
    record_id = await full(world)
    signed_with = {key.key_id for key in world.authority.ring.published() if key.tenant == world.tenant}
    await world.authority.make_keys(world.tenant)
    for key_id in signed_with:
        await world.authority.store.administration.revoke_issuer_key(key_id, None, world.now())
    await world.authority.learn_keys()
    # when it is exported, then its receipt is vouched for, and covers the rest
    found = verdicts(await checked(world, await exported(world, record_id)))
    vouched = {"receipt", "capability", "validation", "decision"}
    assert {part for part, verdict in found.items() if verdict is CheckVerdict.VOUCHED} == vouched
    assert CheckVerdict.BROKEN not in found.values()


@given(st.binary(max_size=400), st.binary(max_size=40))
def test_bytes_that_are_no_export_are_judged_and_raise_nothing(payload: bytes, signature: bytes) -> None:
    message = pb.RecordExport()
    message.receipt.payload = payload
    message.receipt.payload_type = "application/vnd.capability-authority.commit-receipt.v1+protobuf"
    message.receipt.signature.signature = signature
    message.trail.revisions.add(payload=payload)
    assert verdicts(check_export(message, NO_KEYS, tenant=("a", "b")))["receipt"] is CheckVerdict.BROKEN
