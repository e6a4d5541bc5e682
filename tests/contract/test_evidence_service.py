"""PutEvidence and ReadEvidence: who may put what, who reads it, and whose claim holds."""

from dataclasses import replace

import pytest

from authority.domain.evidence import Evidence, EvidenceState
from authority.domain.identity import PrincipalKind, Right
from authority.domain.membership import Scope
from authority.domain.proposal import Visibility
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal, binding_mismatch
from tests.world.evidence import approved, claimed, decide, digest_of, kept, put, read
from tests.world.world import Person, World, must, reason_of

NOT_FOUND = Refusal(Reason.NOT_FOUND)
A_LOG = b"three tests failed"


async def test_what_is_put_is_pending_until_a_person_decides(world: World) -> None:
    # given evidence that an agent put, then it and whoever decides read it, and other readers only once it is approved
    evidence = must(await put(world, A_LOG))
    assert evidence.state is EvidenceState.PENDING
    for reader in (world.agent, world.user, world.admin):
        assert await read(world, evidence.digest, reader) == evidence
    assert await read(world, evidence.digest, world.service) == NOT_FOUND

    await decide(world, evidence)
    assert must(await read(world, evidence.digest, world.service)).state is EvidenceState.APPROVED


async def test_what_was_rejected_is_read_by_no_other_reader(world: World) -> None:
    evidence = must(await put(world, A_LOG))
    await decide(world, evidence, EvidenceState.REJECTED)
    assert await read(world, evidence.digest, world.service) == NOT_FOUND
    assert must(await read(world, evidence.digest, world.agent)).state is EvidenceState.REJECTED


async def test_g02_evidence_is_not_there_for_whom_it_is_not_meant(world: World) -> None:
    # given approved evidence that is private, of a team, and of the neighbour's
    neighbour = await world.neighbour()
    private = await approved(world, b"private", visibility=Visibility.PRIVATE)
    await join(world, world.agent)
    team = await approved(world, b"team", visibility=Visibility.TEAM, visibility_scope="crew")
    theirs = await approved(neighbour, b"theirs")

    # then nobody else's right opens it, and it sounds like what does not exist
    for reader in (world.user, world.admin, world.service):
        for digest in (private.digest, team.digest, theirs.digest, digest_of(b"nothing")):
            assert await read(world, digest, reader) == NOT_FOUND
    # and membership is live: a member reads it, until it is none
    await join(world, world.service)
    assert must(await read(world, team.digest, world.service)).content == b"team"
    await leave(world, world.service)
    assert await read(world, team.digest, world.service) == NOT_FOUND


async def test_nobody_puts_evidence_before_a_team_of_others(world: World) -> None:
    refused = await put(world, A_LOG, visibility=Visibility.TEAM, visibility_scope="crew")
    assert reason_of(refused) is Reason.NOT_ALLOWED
    assert reason_of(await put(world, A_LOG, visibility=Visibility.TEAM)) is Reason.MALFORMED
    assert reason_of(await put(world, A_LOG, visibility_scope="crew")) is Reason.MALFORMED
    await join(world, world.agent)
    assert must(await put(world, A_LOG, visibility=Visibility.TEAM, visibility_scope="crew")).visibility_scope == "crew"


@pytest.mark.parametrize("kind", PrincipalKind)
async def test_the_caller_column_of_the_evidence_service(world: World, kind: PrincipalKind) -> None:
    # given evidence that was approved, and one of the kind with every right, with none, and with each
    evidence = await approved(world, A_LOG)
    for rights in (frozenset(Right), frozenset[Right](), *(frozenset({right}) for right in Right)):
        if rights & {Right.ISSUE, Right.COMMIT} and kind in (PrincipalKind.AGENT, PrincipalKind.MODEL):
            continue  # No such principal can be registered.
        person = await world.register(kind, f"{kind.value}-{'-'.join(sorted(right.value for right in rights))}", rights)
        able = {right for right in rights if person.principal.may(right)}
        # then putting needs the right to propose, and reading one that lets it see
        putting = await put(world, repr((kind, sorted(rights, key=str))).encode(), by=person)
        assert (reason_of(putting) is None) == (Right.PROPOSE in able), rights
        reading = reason_of(await read(world, evidence.digest, person))
        if Right.READ in able or Right.DECIDE in able or (kind is PrincipalKind.ADMIN and Right.PROPOSE in able):
            assert reading is None, rights
        else:
            assert reading is (Reason.NOT_FOUND if Right.PROPOSE in able else Reason.NOT_ALLOWED), rights


async def test_a_claim_says_who_made_the_bytes_whoever_puts_them(world: World) -> None:
    # given a tool that vouches for its result, when a service puts it, then the tool stands for it
    tool = await world.register(PrincipalKind.TOOL, "linter")
    evidence = must(await put(world, A_LOG, by=world.service, statement=claimed(world, A_LOG, tool)))
    assert (evidence.put_by, evidence.signed_by) == (world.service.ref, tool.ref)
    # and it may vouch for what is kept elsewhere
    statement = claimed(world, b"elsewhere", tool, media_type="application/gzip")
    referred = await put(
        world, b"elsewhere", by=tool, reference="s3://logs/7", media_type="application/gzip", statement=statement
    )
    assert must(referred).signed_by == tool.ref


async def test_a_claim_that_does_not_hold_is_refused_and_nothing_is_kept(world: World) -> None:
    # given claims of a tool: for other bytes, another type, another tenant, by another's key, changed, and a stranger's
    tool, other = await world.register(PrincipalKind.TOOL, "linter"), await world.register(PrincipalKind.TOOL, "other")
    neighbour = await world.neighbour()
    good = claimed(world, A_LOG, tool)
    forged = claimed(world, A_LOG, Person(tool.principal, other.key))
    wrong = [
        (binding_mismatch("content_digest"), claimed(world, b"other bytes", tool)),
        (binding_mismatch("media_type"), claimed(world, A_LOG, tool, media_type="text/html")),
        (binding_mismatch("tenant"), claimed(world, A_LOG, tool, tenant=neighbour.tenant)),
        (Refusal(Reason.SIGNATURE_INVALID), replace(good, signature=bytes(64))),
    ]
    for refusal, statement in wrong:
        assert await put(world, A_LOG, statement=statement) == refusal
    unknown = (forged, claimed(world, A_LOG, neighbour.agent), replace(good, key_id=other.key_id))
    for statement in unknown:
        assert await put(world, A_LOG, statement=statement) == Refusal(Reason.ISSUER_UNKNOWN)
    # and one of another payload type, and bytes that are none
    invocation = replace(good, payload_type=good.payload_type.replace("evidence-claim", "invocation"))
    for statement in (invocation, replace(good, payload=b"\xff")):
        assert reason_of(await put(world, A_LOG, statement=statement)) is Reason.MALFORMED
    # and a tool that was revoked vouches for nothing more
    await world.authority.store.administration.revoke_principal(world.tenant, tool.ref, world.now())
    assert await put(world, A_LOG, statement=good) == Refusal(Reason.ISSUER_UNKNOWN)
    assert await read(world, digest_of(A_LOG), world.admin) == NOT_FOUND


async def test_what_the_screen_marks_is_refused_and_never_kept(world: World) -> None:
    # given a private key in the bytes, then nobody keeps it, not even for itself
    secret = b"-----BEGIN PRIVATE KEY-----"
    for visibility in (Visibility.WORKSPACE, Visibility.PRIVATE):
        refused = Refusal(Reason.NOT_ALLOWED, {"field": "content", "problem": "secret:private_key"})
        assert await put(world, secret, visibility=visibility) == refused
    assert await read(world, digest_of(secret), world.agent) == NOT_FOUND

    # and somebody's data is kept for its putter alone: for others it is to be redacted
    mail = b"The order was placed by jane.doe@example.com."
    refused = Refusal(Reason.NOT_ALLOWED, {"field": "content", "problem": "personal_data:email_address"})
    assert await put(world, mail) == refused
    assert reason_of(await put(world, mail, visibility=Visibility.PRIVATE)) is None
    assert reason_of(await put(world, mail.replace(b"jane.doe@example.com", b"[redacted]"))) is None


async def test_the_same_put_is_answered_with_what_is_kept(world: World) -> None:
    first: Evidence = must(await put(world, A_LOG, request_id="r"))
    assert await put(world, A_LOG, request_id="r") == await put(world, A_LOG) == first
    assert await put(world, A_LOG, by=world.user) == Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "digest"})
    assert (await kept(world, A_LOG)) == first


async def join(world: World, person: Person) -> None:
    """The person becomes a member of the crew."""
    memberships = world.authority.store.membership_administration
    await memberships.add_membership(world.tenant, person.ref, Scope(Visibility.TEAM, "crew"), world.now())


async def leave(world: World, person: Person) -> None:
    """The person is none any more."""
    memberships = world.authority.store.membership_administration
    await memberships.remove_membership(world.tenant, person.ref, Scope(Visibility.TEAM, "crew"), world.now())
