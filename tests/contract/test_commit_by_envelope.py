"""A signed envelope of upstream as the proof of a commit: for exactly this one, by a key of its holder, or none."""

import json
from dataclasses import replace
from typing import Any

import pytest

from authority.domain.action_envelope import KeptEnvelope
from authority.domain.audit import AuditFilter
from authority.domain.credential import Credential, CredentialForm
from authority.domain.identity import Caller, PrincipalKind
from authority.domain.plan import Committed
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.authenticate import Shown
from authority.usecases.commit import CommitAnswer
from authority.usecases.export_record import ExportForm
from authority.usecases.paging import PageRequest
from capability_authority.offline import PrivateKey, sha256
from capability_authority.offline.canonical_json import canonicalize
from tests.world.enveloping import commit_by, envelope_for, envelope_of, plan_by, prove, resigned, signed
from tests.world.identities import Shower, bind
from tests.world.world import Issued, World, all_are, must, reason_of

FIVE_MINUTES = 300_000
OTHER_DIGEST = "sha256:" + "0" * 64


def refused_for(answer: object) -> str:
    assert isinstance(answer, Refusal), answer
    assert answer.reason is Reason.PROOF_INVALID
    return answer.facts["proof"]


async def assert_nothing_happened(world: World, issued: Issued) -> None:
    """Nothing is stored and nothing consumed: the same capability still commits."""
    assert await world.counts() == all_are(0)
    assert not must(await world.commit(issued)).replayed
    assert await world.counts() == all_are(1)


async def test_it_commits_and_the_receipt_is_the_one_that_an_invocation_would_have(world: World) -> None:
    issued = await world.issued()

    answer = must(await commit_by(world, issued, envelope_of(world, issued)))

    assert not answer.replayed
    assert await world.counts() == all_are(1)
    by_invocation = must(await world.commit(issued))
    assert (by_invocation.replayed, by_invocation.receipt) == (True, answer.receipt)


async def test_it_is_kept_byte_for_byte_with_whom_it_is_about_and_told_in_the_audit_log(world: World) -> None:
    # given an envelope that is written with other spacing than the canonical one
    issued = await world.issued()
    presented = json.dumps(json.loads(envelope_of(world, issued)), indent=200).encode()

    # when it proves a commit
    answer = must(await commit_by(world, issued, presented))

    # then an audit export has its very bytes, and the log the digest that was signed
    canonical = canonicalize(json.loads(presented)["envelope"])
    export = must(
        await world.authority.do.export_record(world.user.calls(), answer.receipt.record_id, ExportForm.AUDIT)
    )
    assert export.trail is not None
    assert export.trail.trail.envelope == KeptEnvelope(presented, sha256(canonical), world.service.key_id)
    log = await world.authority.do.list_audit_events(
        world.admin.calls(), AuditFilter(kind="memory.prove"), PageRequest(10, ""), oldest_first=True
    )
    [told] = must(log).items
    assert (told.event.subject, told.event.actor) == (answer.receipt.record_id, world.service.ref)
    assert told.event.next_state == f"sha256:{sha256(canonical).hex()}"


async def test_without_one_nothing_is_told_of_any(world: World) -> None:
    _, answer = await world.committed()

    export = must(
        await world.authority.do.export_record(world.user.calls(), answer.receipt.record_id, ExportForm.AUDIT)
    )

    assert export.trail is not None
    assert export.trail.trail.envelope is None


SOURCE_OF_ANOTHER = {"tenantRef": {"namespace": "cognitum-tenant", "id": "another"}}
CONDITIONS: dict[str, dict[str, Any]] = {
    "audience": {"audience": "ruflo.policy"},
    "action": {"action": "memory.propose"},
    "capability_id": {"capabilityId": "0190f3a0-0000-7000-8000-000000000001"},
    "resource_refs": {"resourceRefs": ["elsewhere"]},
    "content_digest": {"contentDigest": OTHER_DIGEST},
    "idempotency_key": {"idempotencyKey": "another"},
    "request_digest": {"requestDigest": OTHER_DIGEST},
    "policy_receipt_id": {"policyReceiptId": OTHER_DIGEST},
    "validation_receipt_id": {"validationReceiptId": OTHER_DIGEST},
}
"""What must equal the capability's, each changed by itself; tenant and times have tests of their own below."""


@pytest.mark.parametrize("condition", CONDITIONS)
async def test_i08_whatever_differs_from_the_capability_proves_nothing(world: World, condition: str) -> None:
    issued = await world.issued()

    answer = await commit_by(world, issued, envelope_of(world, issued, **CONDITIONS[condition]))

    assert refused_for(answer) == condition
    await assert_nothing_happened(world, issued)


@pytest.mark.parametrize("refs", [["notes", "more"], ["notes/a"], ["note"], ["ruflo.memory://ns/notes"], ["Notes"]])
async def test_i08_it_is_for_the_memory_namespace_and_nothing_beside(world: World, refs: list[str]) -> None:
    issued = await world.issued()

    assert refused_for(await commit_by(world, issued, envelope_of(world, issued, resourceRefs=refs))) == "resource_refs"


async def test_an_envelope_of_another_tenant_proves_nothing(world: World) -> None:
    issued = await world.issued()
    tenant = SOURCE_OF_ANOTHER["tenantRef"]
    source: Any = envelope_for(world, issued)["authoritativeSource"]

    presented = envelope_of(world, issued, tenantRef=tenant, authoritativeSource=source | SOURCE_OF_ANOTHER)

    assert refused_for(await commit_by(world, issued, presented)) == "tenant_ref"


@pytest.mark.parametrize(
    ("later_ms", "condition"),
    [(-30_001, "occurred_at"), (-30_000, ""), (FIVE_MINUTES, ""), (FIVE_MINUTES + 1, "occurred_at")],
)
async def test_it_is_good_for_five_minutes(world: World, later_ms: int, condition: str) -> None:
    issued = await world.issued()
    presented = envelope_of(world, issued, expiresAt="2999-01-01T00:00:00.000Z")
    world.authority.clock.advance(later_ms)

    proven = await prove(world, issued, presented)

    assert (refused_for(proven) if isinstance(proven, Refusal) else "") == condition


async def test_it_ends_at_its_own_expiry_and_not_after(world: World) -> None:
    issued = await world.issued()
    presented = envelope_of(world, issued)
    world.authority.clock.advance(FIVE_MINUTES)

    assert refused_for(await commit_by(world, issued, presented)) == "expires_at"


async def test_i07_an_envelope_that_another_principal_signed_proves_nothing(world: World) -> None:
    issued, other = await world.issued(), await world.register(PrincipalKind.SERVICE, "other")
    envelope = envelope_for(world, issued)

    # given its own key, or its own signature under the holder's key
    own = signed(envelope, other.key)
    claimed = signed(envelope, other.key, world.service.key_id)

    assert refused_for(await commit_by(world, issued, own)) == "signature"
    assert refused_for(await commit_by(world, issued, claimed)) == "signature"
    await assert_nothing_happened(world, issued)


async def test_i07_a_key_of_another_tenant_or_of_nobody_proves_nothing(world: World) -> None:
    issued, neighbour = await world.issued(), await world.neighbour()
    envelope = envelope_for(world, issued)

    for key in (neighbour.service.key, PrivateKey.generate()):
        assert refused_for(await commit_by(world, issued, signed(envelope, key))) == "signature"
    assert refused_for(await commit_by(world, issued, signed(envelope, world.service.key, "k1"))) == "signature"


async def test_i07_a_stranger_learns_of_no_key_whose_it_is_by_a_capability_of_its_own_making(world: World) -> None:
    # given a stranger, whom nobody keeps from making a capability like this
    issued, stranger = await world.issued(), PrivateKey.generate()
    await world.authority.store.key_aliases.add(world.tenant, "holder/3", world.service.key_id, world.now())

    # when it asks by names that are the holder's, another's and nobody's
    answers = [
        await prove(world, issued, signed(envelope_for(world, issued), stranger, name))
        for name in (world.service.key_id, "holder/3", world.user.key_id, stranger.public_key.key_id, "nobody")
    ]

    # then all answers are one
    assert len({str(answer) for answer in answers}) == 1
    assert reason_of(answers[0]) is Reason.PROOF_INVALID


async def test_a_revoked_key_or_holder_proves_nothing(world: World) -> None:
    holder = await world.register(PrincipalKind.SERVICE, "leaving")
    issued = await world.issued(holder=holder)
    presented = envelope_of(world, issued)
    await world.authority.store.administration.revoke_principal_key(world.tenant, holder.key_id, world.now())

    assert refused_for(await commit_by(world, issued, presented)) == "signature"
    assert await world.counts() == all_are(0)


async def test_the_signature_is_over_the_envelope_as_it_is(world: World) -> None:
    issued = await world.issued()
    presented = envelope_of(world, issued)
    changed = resigned(presented, envelope=json.loads(presented)["envelope"] | {"correlationId": "another"})

    assert refused_for(await commit_by(world, issued, changed)) == "signature"


@pytest.mark.parametrize(
    ("spoil", "condition", "issue"),
    [
        (lambda it: it.replace(b'"keyId":', b'"keyId":"x","keyId":'), "malformed_signed_envelope", ""),
        (lambda it: it.replace(b'"action":', b'"action":"x","action":'), "malformed_signed_envelope", ""),
        (lambda it: it + b" x", "malformed_signed_envelope", ""),
        (lambda it: it.decode().encode("utf-16"), "malformed_signed_envelope", ""),
        (lambda _: b"{}", "malformed_signed_envelope", "$.algorithm missing"),
        (lambda _: b"[" * 60_000, "malformed_signed_envelope", ""),
        (lambda _: b'{"keyId":' + b"9" * 60_000 + b"}", "malformed_signed_envelope", ""),
        (lambda it: b" " * 70_000 + it, "malformed_signed_envelope", ""),
        (lambda it: resigned(it, more="x"), "malformed_signed_envelope", "$.more unknown_field"),
        (lambda it: resigned(it, **{"\u202emore": 1}), "malformed_signed_envelope", "$ unknown_field"),
        (lambda it: resigned(it, algorithm="none"), "malformed_signed_envelope", "$.algorithm unsupported_value"),
        (lambda it: resigned(it, envelope=None), "invalid_envelope", "$ invalid_type"),
        (lambda it: resigned(it, envelope={}), "invalid_envelope", "$.schemaVersion missing"),
    ],
)
async def test_what_upstream_would_not_read_proves_nothing(
    world: World, spoil: Any, condition: str, issue: str
) -> None:
    issued = await world.issued()

    answer = await commit_by(world, issued, spoil(envelope_of(world, issued)))

    assert refused_for(answer) == condition
    assert isinstance(answer, Refusal)
    assert answer.facts.get("issue", "") == issue


async def test_a_capability_that_is_none_is_told_before_the_envelope_is_looked_at(world: World) -> None:
    issued = await world.issued()
    no_capability = replace(issued.capability.statement, payload=issued.capability.statement.payload[:-1])
    broken = replace(issued, capability=replace(issued.capability, statement=no_capability))

    for presented in (envelope_of(world, issued), b"{}"):
        answer = await commit_by(world, broken, presented)
        assert isinstance(answer, Refusal)
        assert answer.reason is Reason.MALFORMED, answer
    await assert_nothing_happened(world, issued)


async def test_a_retry_with_a_fresh_envelope_gets_the_first_receipt_whatever_was_withdrawn_since(world: World) -> None:
    # given a commit whose capability was consumed, and has expired since
    issued = await world.issued()
    first = must(await commit_by(world, issued, envelope_of(world, issued)))
    world.authority.clock.advance(86_400_000)

    # when it is retried, by another envelope
    again = must(await commit_by(world, issued, envelope_of(world, issued)))

    # then nothing but the first happened; by the same one it is too late
    assert (again.replayed, again.receipt) == (True, first.receipt)
    assert await world.counts() == all_are(1)


async def test_the_same_envelope_again_is_a_retry_while_it_is_fresh(world: World) -> None:
    issued = await world.issued()
    presented = envelope_of(world, issued)

    answers = [must(await commit_by(world, issued, presented)) for _ in range(3)]

    assert [answer.replayed for answer in answers] == [False, True, True]
    assert len({answer.receipt for answer in answers}) == 1


async def test_a12_a_settled_key_with_other_content_conflicts_and_an_unsettled_one_mismatches(world: World) -> None:
    # given an envelope that is true for other content than the capability binds
    issued, content = await world.issued(), b"other content"
    changed: dict[str, Any] = {"content": content, "content_digest": sha256(content)}
    presentation = replace(issued.presentation, content=content, content_digest=sha256(content))
    fingerprint = world.authority.reader.fingerprint(issued.capability.terms, presentation)
    presented = envelope_of(world, issued, requestDigest=f"sha256:{fingerprint.hex()}")

    # then it is refused for what it is, before and after the key was settled
    refused = await commit_by(world, issued, presented, **changed)
    assert refused == Refusal(Reason.BINDING_MISMATCH, {"term": "content_digest"})
    must(await commit_by(world, issued, envelope_of(world, issued)))
    refused = await commit_by(world, issued, presented, **changed)
    assert refused == Refusal(Reason.IDEMPOTENCY_CONFLICT, {"differs": "content_digest"})
    assert await world.counts() == all_are(1)


async def test_another_key_than_the_bound_one_gets_a_replay_and_commits_nothing(world: World) -> None:
    # given a holder whose capability is bound to its certificate
    certificate = Credential(CredentialForm.SPIFFE, "spiffe://example/holder")
    await bind(world, world.service, certificate)
    shows = Caller(world.service.principal, certificate.id, proof=None, one_use=False)
    holder = Shower(world.service.principal, world.service.key, shows)
    issued = await world.issued(holder=holder)

    # when its key signs, then it commits nothing; once the certificate has, it gets the receipt
    refused = await commit_by(world, issued, envelope_of(world, issued))
    assert refused == Refusal(Reason.BINDING_MISMATCH, {"term": "holder_key"})
    first = must(await world.commit(issued))
    again = must(await commit_by(world, issued, envelope_of(world, issued)))
    assert (again.replayed, again.receipt) == (True, first.receipt)


async def test_a_registered_alias_stands_for_the_key_until_it_is_taken_back(world: World) -> None:
    aliases, key = world.authority.store.key_aliases, world.service.key
    await aliases.add(world.tenant, "holder/1", world.service.key_id, world.now())
    first, second = await world.issued(), await world.issued()

    by_alias = signed(envelope_for(world, first), key, "holder/1")
    assert not must(await commit_by(world, first, by_alias)).replayed

    await aliases.revoke(world.tenant, "holder/1", world.now())
    assert (
        refused_for(await commit_by(world, second, signed(envelope_for(world, second), key, "holder/1"))) == "signature"
    )
    assert await world.counts() == all_are(1)


async def test_i11_an_alias_that_was_taken_back_since_it_was_looked_up_commits_nothing(world: World) -> None:
    # given a plan whose envelope was believed, when its name is taken back before it is carried out
    aliases, issued = world.authority.store.key_aliases, await world.issued()
    await aliases.add(world.tenant, "holder/2", world.service.key_id, world.now())
    plan = await plan_by(world, issued, signed(envelope_for(world, issued), world.service.key, "holder/2"))
    await aliases.revoke(world.tenant, "holder/2", world.now())

    # then it is refused, by whatever name a receipt is found under: a twin that was faster answers it all the same
    assert refused_for(await world.carry_out(plan)) == "signature"
    assert await world.counts() == all_are(0)
    must(await world.commit(issued))
    assert isinstance(await world.carry_out(plan), Committed)


async def test_i11_a_key_that_was_revoked_since_it_was_looked_up_commits_nothing(world: World) -> None:
    holder = await world.register(PrincipalKind.SERVICE, "leaving")
    issued = await world.issued(holder=holder)
    plan = await plan_by(world, issued, envelope_of(world, issued))
    await world.authority.store.administration.revoke_principal_key(world.tenant, holder.key_id, world.now())

    assert reason_of(await world.carry_out(plan)) is Reason.KEY_REVOKED
    assert await world.counts() == all_are(0)


async def test_a_refusal_of_the_commit_itself_is_told_as_ever(world: World) -> None:
    issued = await world.issued()
    must(await world.revoke(issued))

    assert reason_of(await commit_by(world, issued, envelope_of(world, issued))) is Reason.REVOKED


async def test_a_token_that_is_none_authenticates_nobody_whatever_the_envelope_proves(world: World) -> None:
    issued = await world.issued()

    named = Shown(tenants=["cognitum-tenant|another"])
    answer = await commit_by(world, issued, envelope_of(world, issued), named)

    assert reason_of(answer) is Reason.CALLER_UNAUTHENTICATED
    agreeing = Shown(tenants=[str(world.tenant)])
    assert isinstance(await commit_by(world, issued, envelope_of(world, issued), agreeing), CommitAnswer)
