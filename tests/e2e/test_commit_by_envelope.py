"""Commits that a signed envelope of upstream proves, over the wire: nothing is taken that is not for exactly them."""

import json

import pytest

from capability_authority.client import CommitItem, Committed, ProofInvalid
from capability_authority.offline import JsonValue
from capability_authority.v1.capability_service_pb2 import BatchCommitValidatedRequest
from tests.installation.enveloping import commit_by, envelope_of
from tests.installation.installation import OTHER_NAMESPACE, Installation, Tenant
from tests.installation.requests import commit_of
from tests.installation.storage import Storage
from tests.installation.team import Team, all_of, refused
from tests.installation.wire import LIMIT_EXCEEDED, MALFORMED, Wire, assert_bad_shape

MIB = 1024 * 1024


async def test_a_hundred_callers_with_envelopes_of_their_own_get_one_receipt(
    team: Team, team_elsewhere: Team, tenant: Tenant, storage: Storage
) -> None:
    # given one capability, when it is committed from two processes, each time with an envelope made for it
    ready, before = await team.ready(), storage.assert_whole()
    services = (team.service, team_elsewhere.service)
    answers = await all_of(
        services[number % 2].commit(
            ready.capability, content=ready.content, upstream_envelope=envelope_of(ready, tenant["service"])
        )
        for number in range(100)
    )

    # then one of them committed, and all have its receipt, as who signs a call has
    assert [answer.replayed for answer in answers].count(False) == 1
    by_call = await team.commit(ready)
    receipts = {one.receipt.statement.SerializeToString() for one in answers}
    assert receipts == {by_call.receipt.statement.SerializeToString()}
    assert storage.assert_whole().receipts == before.receipts + 1
    kept = "select count(*) from authority.upstream_proof where tenant = %s and receipt_id = %s"
    assert storage.one(kept, str(tenant.ref), by_call.receipt.receipt_id) == 1


async def test_an_export_for_the_auditor_has_the_very_envelope(team: Team, tenant: Tenant) -> None:
    ready = await team.ready()
    envelope = envelope_of(ready, tenant["service"])
    committed = await team.service.commit(ready.capability, content=ready.content, upstream_envelope=envelope)

    export = await team.admin.export(committed.receipt.record_id, form="audit")

    proof = export.message.trail.upstream_proof
    assert (proof.envelope_json, proof.key_id) == (envelope.decode(), tenant["service"].key_id)
    assert not export.broken


FORGED: dict[str, dict[str, JsonValue]] = {
    "i08_another_memory_namespace": {"resourceRefs": [OTHER_NAMESPACE]},
    "i08_another_fingerprint": {"requestDigest": "sha256:" + "0" * 64},
    "another_capability": {"capabilityId": "another"},
    "too_old": {"occurredAt": "2024-02-29T00:00:00.000Z"},
}


@pytest.mark.parametrize("forged", FORGED)
async def test_an_envelope_for_something_else_commits_nothing(
    team: Team, holder: Wire, tenant: Tenant, storage: Storage, forged: str
) -> None:
    ready, before = await team.ready(), storage.dump()

    request = commit_by(ready, envelope_of(ready, tenant["service"], **FORGED[forged]))
    failure = await holder.refused("CommitValidated", request, proofs=[])

    assert failure.reason == "PROOF_INVALID"
    assert storage.dump() == before
    assert not (await team.commit(ready)).replayed


@pytest.mark.parametrize("member", ["other-service", "admin"])
async def test_i07_an_envelope_that_another_principal_signed_commits_nothing(
    team: Team, tenant: Tenant, storage: Storage, member: str
) -> None:
    ready, before = await team.ready(), storage.dump()

    envelope = envelope_of(ready, tenant[member])
    error = await refused(
        team.service.commit(ready.capability, content=ready.content, upstream_envelope=envelope), ProofInvalid
    )

    assert error.failure.metadata["proof"] == "signature"
    assert storage.dump() == before
    assert not (await team.commit(ready)).replayed


async def test_a_revoked_key_commits_nothing(
    team: Team, tenant: Tenant, installation: Installation, storage: Storage
) -> None:
    ready = await team.ready()
    async with installation.operator() as operator:
        key_id = tenant["service"].key_id
        await operator.administration.revoke_principal_key(tenant.ref, key_id, operator.clock.now())
    before = storage.dump()

    envelope = envelope_of(ready, tenant["service"])
    await refused(
        team.service.commit(ready.capability, content=ready.content, upstream_envelope=envelope), ProofInvalid
    )

    assert storage.dump() == before


async def test_hostile_text_is_refused_with_nothing_stored(
    team: Team, holder: Wire, tenant: Tenant, storage: Storage
) -> None:
    # given an envelope that would be good, and what is made of it
    ready, before = await team.ready(), storage.dump()
    good = envelope_of(ready, tenant["service"]).decode()
    hostile = {
        "keys twice": good.replace('"keyId":', '"keyId":"x","keyId":'),
        "escaped keys twice": good.replace('"action":', '"\\u0061ction":"memory.propose","action":'),
        "deep": "[" * 65_000,
        "a huge number": '{"keyId":' + "9" * 65_000 + "}",
        "an infinite number": '{"keyId":1e999999}',
        "NUL": good.replace("agent-7", "\\u0000"),
        "half a pair": good.replace("agent-7", "\\ud800"),
        "nothing": "{}",
        "no object": "[]",
        "no JSON": "\ufeff" + good,
        "another signature": good.replace('"signature":"', '"signature":"A'),
    }

    for name, text in hostile.items():
        failure = await holder.refused("CommitValidated", commit_by(ready, text), proofs=[])
        assert failure.reason == "PROOF_INVALID", name
    failure = await holder.refused("CommitValidated", commit_by(ready, " " * MIB + good), proofs=[])
    assert_bad_shape(failure, LIMIT_EXCEEDED, "upstream_envelope_json")

    # then nothing was stored, and what it was made of is as good as before
    assert storage.dump() == before
    await holder.send("CommitValidated", commit_by(ready, good), proofs=[])


async def test_it_replaces_the_invocation_and_stands_beside_none(
    team: Team, holder: Wire, tenant: Tenant, storage: Storage
) -> None:
    ready, before = await team.ready(), storage.dump()
    request = commit_by(ready, envelope_of(ready, tenant["service"]))

    assert_bad_shape(await holder.refused("CommitValidated", request), MALFORMED, "upstream_envelope_json")
    # and a batch, or a call without either, is proven by nothing in it
    batch = BatchCommitValidatedRequest(requests=[request])
    assert (await holder.refused("BatchCommitValidated", batch, proofs=[])).reason == "CALLER_UNAUTHENTICATED"
    assert (await holder.refused("CommitValidated", commit_of(ready), proofs=[])).reason == "CALLER_UNAUTHENTICATED"
    # and what this version does not know is not acted on, whoever is proven
    unknown = await holder.refused("CommitValidated", request.SerializeToString() + b"\x78\x01", proofs=[])
    assert_bad_shape(unknown, MALFORMED, "15")
    junk = b"\xff" * 100
    assert (await holder.refused("CommitValidated", junk, proofs=[])).reason == "CALLER_UNAUTHENTICATED"
    assert storage.dump() == before


async def test_d16_what_is_larger_than_any_commit_is_not_read_for_a_stranger(
    team: Team, holder: Wire, tenant: Tenant
) -> None:
    # given a good commit, and behind it more texts than a commit can name
    ready = await team.ready()
    request = commit_by(ready, envelope_of(ready, tenant["service"]))
    request.presentation.evidence_digests.extend([""] * 700_000)

    # then nobody reads it whose caller is not known, and for one who is it is refused for its shape
    assert (await holder.refused("CommitValidated", request, proofs=[])).reason == "CALLER_UNAUTHENTICATED"
    assert_bad_shape(await holder.refused("CommitValidated", request), MALFORMED, "upstream_envelope_json")


async def test_it_does_not_make_good_a_proof_that_is_none(team: Team, holder: Wire, tenant: Tenant) -> None:
    ready = await team.ready()
    request = commit_by(ready, envelope_of(ready, tenant["service"]))

    assert (await holder.refused("CommitValidated", request, proofs=[b"x"])).reason == "CALLER_UNAUTHENTICATED"
    beside = [("capability-authority-tenant", str(tenant.ref))]
    await holder.send("CommitValidated", request, proofs=[], beside=beside)
    items = [CommitItem(ready.capability, content=ready.content)]
    [again] = await team.service.commit_batch(items)
    assert isinstance(again, Committed)
    assert again.replayed


async def test_two_processes_agree_on_what_an_envelope_settled(
    team: Team, team_elsewhere: Team, tenant: Tenant
) -> None:
    ready = await team.ready()
    envelope = envelope_of(ready, tenant["service"])
    spaced = json.dumps(json.loads(envelope), indent=2).encode()

    first = await team.service.commit(ready.capability, content=ready.content, upstream_envelope=spaced)
    again = await team_elsewhere.service.commit(ready.capability, content=ready.content, upstream_envelope=envelope)

    assert (first.replayed, again.replayed) == (False, True)
    assert first.receipt.statement == again.receipt.statement
