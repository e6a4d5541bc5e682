"""The ports `EvidenceStore`, `EvidenceIndex` and `EvidenceReviews`: what every store keeps to."""

import asyncio
from dataclasses import replace

import pytest

from authority.domain.audit import AuditFilter
from authority.domain.evidence import EvidenceState, ResolvedEvidence
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import Visibility
from authority.domain.reasons import Reason
from authority.domain.references import SECOND
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.usecases.administer import NotTheirs, NotThere
from authority.usecases.ports import EvidenceStore
from tests.world.evidence import approved, decide, digest_of, keep, kept
from tests.world.identities import link
from tests.world.world import World, reason_of

SOMETHING_ELSE = Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "digest"})


@pytest.fixture
def store(world: World) -> EvidenceStore:
    return world.authority.store.evidence


async def test_what_is_put_is_read_as_it_is(world: World, store: EvidenceStore) -> None:
    # given a statement, whoever made it, and evidence of both kinds
    vouched = Statement("type/x", b"payload", f"sha256:{'11' * 32}", b"s" * 64)
    bytes_kept = await kept(world, b"a log", signed_by=world.agent.ref, statement=vouched)
    referred = await kept(world, b"elsewhere", reference="vault:7", visibility=Visibility.PRIVATE)

    # then each is read whole, and its digest stands for its bytes
    assert await store.get(world.tenant, digest_of(b"a log"), world.user.ref) == bytes_kept
    assert (bytes_kept.content, bytes_kept.reference, bytes_kept.statement) == (b"a log", None, vouched)
    assert await store.get(world.tenant, digest_of(b"elsewhere"), world.agent.ref) == referred
    assert (referred.content, referred.reference, referred.state) == (None, "vault:7", EvidenceState.PENDING)
    # and it is told once
    assert await told(world) == [("evidence.put", world.agent.ref, "", "pending")] * 2


async def test_the_index_tells_kept_approved_and_rejected(world: World, store: EvidenceStore) -> None:
    # given evidence in every state
    pending = await kept(world, b"pending", reference="vault:1")
    good = await approved(world, b"good")
    bad = await kept(world, b"bad")
    await decide(world, bad, EvidenceState.REJECTED)

    # when it is resolved among what nobody put, then each is told, and the absent one is left out
    digests = (pending.digest, good.digest, bad.digest, digest_of(b"nothing"))
    agent = world.agent.ref
    assert await store.resolve(world.tenant, digests, world.user.ref) == {
        pending.digest: ResolvedEvidence(
            pending.digest, EvidenceState.PENDING, is_kept=False, put_by=agent, signed_by=None
        ),
        good.digest: ResolvedEvidence(good.digest, EvidenceState.APPROVED, is_kept=True, put_by=agent, signed_by=None),
        bad.digest: ResolvedEvidence(bad.digest, EvidenceState.REJECTED, is_kept=True, put_by=agent, signed_by=None),
    }
    assert await store.resolve(world.tenant, (), world.user.ref) == {}


async def test_g02_what_is_private_or_of_another_tenant_is_not_there(world: World, store: EvidenceStore) -> None:
    # given evidence of each visibility, and a neighbour with a person of the same name
    neighbour = await world.neighbour()
    for visibility in Visibility:
        await kept(world, visibility.value.encode(), visibility=visibility)
    digests = [digest_of(visibility.value.encode()) for visibility in Visibility]

    # then the putter, who is no member anywhere, finds its own and the workspace's, others in the tenant what is the
    # workspace's, and the neighbour nothing
    own = {digest_of(b"private"), digest_of(b"workspace")}
    assert set(await store.resolve(world.tenant, digests, world.agent.ref)) == own
    assert set(await store.resolve(world.tenant, digests, world.user.ref)) == {digest_of(b"workspace")}
    assert await store.resolve(neighbour.tenant, digests, neighbour.agent.ref) == {}
    assert [await store.get(neighbour.tenant, digest, neighbour.agent.ref) for digest in digests] == [None] * 4
    assert await store.get(world.tenant, digest_of(b"private"), world.user.ref) is None

    # and under the same digest the neighbour keeps its own
    theirs = await kept(neighbour, b"private", visibility=Visibility.PRIVATE)
    assert await store.get(neighbour.tenant, theirs.digest, neighbour.agent.ref) == theirs


async def test_i11_whoever_is_revoked_knows_of_no_evidence_any_more(world: World, store: EvidenceStore) -> None:
    # given evidence of a person's own and of the workspace, when the person is revoked, then neither is there for them
    gone = await world.register(PrincipalKind.USER, "gone")
    own = await kept(world, b"own", by=gone, visibility=Visibility.PRIVATE)
    everybodys = await kept(world, b"a log")
    digests = (own.digest, everybodys.digest)
    assert set(await store.resolve(world.tenant, digests, gone.ref)) == set(digests)
    await world.authority.store.administration.revoke_principal(world.tenant, gone.ref, world.now())
    assert await store.resolve(world.tenant, digests, gone.ref) == {}
    assert [await store.get(world.tenant, digest, gone.ref) for digest in digests] == [None, None]


async def test_the_same_put_again_is_answered_with_the_first(world: World) -> None:
    # given evidence that was put and approved
    first = await approved(world, b"a log", request_id="r")
    world.authority.clock.advance(SECOND)
    # when it is put again, by a retry and by others at once, then what is kept answers: approved, and put once
    again = await asyncio.gather(keep(world, b"a log", request_id="r"), *(keep(world, b"a log") for _ in range(3)))
    after_it = replace(first, state=EvidenceState.APPROVED, decided_by=world.admin.ref, decide_time=first.put_time)
    assert again == [after_it] * 4
    # and a request id stays what it was used for
    assert reason_of(await keep(world, b"another", request_id="r")) is Reason.IDEMPOTENCY_CONFLICT


async def test_a_digest_stands_for_one_put(world: World) -> None:
    # given evidence, then nobody puts something else in its place: not its putter, and nobody else
    await kept(world, b"a log")
    assert await keep(world, b"a log", media_type="application/json") == SOMETHING_ELSE
    assert await keep(world, b"a log", reference="vault:7") == SOMETHING_ELSE
    assert await keep(world, b"a log", visibility=Visibility.PRIVATE) == SOMETHING_ELSE
    assert await keep(world, b"a log", by=world.user) == SOMETHING_ELSE


async def test_of_two_that_put_one_digest_at_once_one_is_refused(world: World) -> None:
    answers = await asyncio.gather(*(keep(world, b"a log", by=by) for by in (world.agent, world.user)))
    assert sorted(answer == SOMETHING_ELSE for answer in answers) == [False, True]


async def test_evidence_is_decided_on_once_and_never_by_who_put_it(world: World) -> None:
    # given evidence that the user put, who may decide on what others put
    evidence = await kept(world, b"a log", by=world.user)
    revoked = await world.register(PrincipalKind.USER, "gone")
    await world.authority.store.administration.revoke_principal(world.tenant, revoked.ref, world.now())

    # when its putter, one without the right, one who is revoked or one unknown decides, then nothing is decided
    stranger = (await world.neighbour()).agent
    for nobody in (world.user, world.agent, world.service, revoked, stranger):
        with pytest.raises(NotTheirs):
            await decide(world, evidence, by=nobody)
    # and once a person has decided nobody decides again
    await decide(world, evidence, EvidenceState.REJECTED, note="made up")
    for state in (EvidenceState.APPROVED, EvidenceState.REJECTED):
        with pytest.raises(NotThere):
            await decide(world, evidence, state)
    found = await world.authority.store.evidence.get(world.tenant, evidence.digest, world.user.ref)
    assert found
    assert (found.state, found.decided_by, found.note) == (EvidenceState.REJECTED, world.admin.ref, "made up")
    assert await told(world) == [
        ("evidence.reject", world.admin.ref, "pending", "rejected"),
        ("evidence.put", world.user.ref, "", "pending"),
    ]


async def test_i16_whoever_is_one_person_with_who_put_it_does_not_decide_on_it(world: World) -> None:
    # given evidence that the agent put, and a person who is linked with the agent over another
    evidence = await kept(world, b"a log")
    between = await world.register(PrincipalKind.USER, "between")
    await link(world, world.agent, between)
    await link(world, between, world.user)
    # when they would decide on it, then they are refused as who put it would be
    for linked in (between, world.user):
        with pytest.raises(NotTheirs):
            await decide(world, evidence, by=linked)
    # and once a link is revoked, whoever it led to decides
    await world.authority.store.principal_links.revoke(world.tenant, world.user.ref, between.ref, world.now())
    await decide(world, evidence, by=world.user)


async def test_what_is_absent_or_a_neighbours_cannot_be_decided_on(world: World) -> None:
    evidence = await kept(await world.neighbour(), b"a log")
    with pytest.raises(NotThere):
        await decide(world, evidence)


async def test_the_operator_lists_evidence_page_by_page(world: World) -> None:
    # given pieces of evidence, of which one is approved, and a neighbour's
    await kept(await world.neighbour(), b"theirs")
    pieces = sorted([await kept(world, f"log {number}".encode()) for number in range(4)], key=lambda it: it.digest)
    await decide(world, pieces[1])
    reviews = world.authority.store.evidence_reviews

    # then pages go by digest, without content, by state where one is asked for
    first = await reviews.page(world.tenant, state=None, after=b"", size=3)
    assert [it.digest for it in first] == [it.digest for it in pieces[:3]]
    assert {it.content for it in first} == {b""}
    rest = await reviews.page(world.tenant, state=None, after=first[-1].digest, size=3)
    assert [it.digest for it in rest] == [pieces[3].digest]
    waiting = await reviews.page(world.tenant, state=EvidenceState.PENDING, after=b"", size=9)
    assert [it.digest for it in waiting] == [pieces[0].digest, pieces[2].digest, pieces[3].digest]


async def told(world: World) -> list[tuple[str, object, str, str]]:
    """What the audit log says of evidence, newest first."""
    events = await world.authority.store.audit_log.page(
        world.tenant, AuditFilter(), oldest_first=False, after="", size=99
    )
    of_evidence = (it.event for it in events if it.event.kind.startswith("evidence."))
    return [(it.kind, it.actor, it.previous_state, it.next_state) for it in of_evidence]
