"""The port `Grants`: grants are made, handed on, shown and revoked; what is revoked takes its descendants along."""

from typing import Any

import pytest

from authority.domain.audit import AuditFilter
from authority.domain.identity import PrincipalKind
from authority.domain.reasons import Reason
from authority.domain.references import DAY, HOUR, PrincipalRef, after
from authority.domain.refusal import Refusal
from authority.domain.revocation import RevokedKind
from authority.usecases.grants.look_after import GrantState
from authority.usecases.ports import MadeGrant, RevokedGrant
from tests.world.granting import Granted, Granting
from tests.world.world import PERMIT_ALL, Person, World, must, reason_of


@pytest.fixture
def granting(world: World) -> Granting:
    return Granting(world)


@pytest.fixture
async def broker(world: World) -> Person:
    """Issues for others, and has no right of its own."""
    return await world.register(PrincipalKind.SERVICE, "broker", frozenset())


@pytest.fixture
async def helper(world: World) -> Person:
    """Another one, to whom grants are handed on."""
    return await world.register(PrincipalKind.SERVICE, "helper", frozenset())


async def test_a_root_says_what_was_asked_for(world: World, granting: Granting, broker: Person) -> None:
    # when an admin grants in the service's name
    granted = await granting.issued(broker, uses=7, correlation_id="story")
    # then the grant says so, for a day, under the one policy of the tenant
    terms = granted.grant.terms
    assert (terms.issuer, terms.subject, terms.holder) == ("authority.test", world.service.ref, broker.ref)
    assert (terms.actor_chain, terms.parent_digest, terms.uses, terms.delegation_depth) == ((), b"", 7, 4)
    assert (terms.not_before_time, terms.expire_time) == (world.now(), after(world.now(), DAY))
    assert (terms.holder_public_key, terms.correlation_id) == (broker.key.public_key.raw, "story")
    found = must(await granting.get(granted))
    assert (found.grant, found.ancestors, found.state) == (granted.grant, (), GrantState.ACTIVE)


async def test_e22_a_request_is_answered_once(granting: Granting, broker: Person, helper: Person) -> None:
    # given a root and a child
    root = must(await granting.issue(broker, request_id="root"))
    parent = Granted((root.grant,), broker)
    child = must(await granting.exchange(parent, helper, request_id="child"))
    # when the same is asked again, then the same grant is answered, also once it is revoked
    assert must(await granting.issue(broker, request_id="root")) == MadeGrant(root.grant, replayed=True)
    must(await granting.revoke(parent))
    assert must(await granting.exchange(parent, helper, request_id="child")) == MadeGrant(child.grant, replayed=True)
    # and another request of the id is a conflict
    for again in (
        await granting.issue(broker, request_id="root", uses=3),
        await granting.exchange(parent, helper, request_id="child", uses=3),
        await granting.revoke(parent, by=broker, request_id="child"),
    ):
        assert reason_of(again) is Reason.IDEMPOTENCY_CONFLICT


async def test_only_grantors_make_roots(world: World, granting: Granting, broker: Person) -> None:
    must(await granting.issue(broker, by=world.service))
    for nobody in (broker, world.agent, world.user):
        assert reason_of(await granting.issue(broker, by=nobody)) is Reason.NOT_ALLOWED


async def test_what_is_not_there_is_not_granted(world: World, granting: Granting, broker: Person) -> None:
    absent = Refusal(Reason.NOT_FOUND, {"field": "subject"})
    assert await granting.issue(broker, subject=PrincipalRef("test", "nobody")) == absent


async def test_a_child_is_no_wider_than_its_parent(granting: Granting, broker: Person, helper: Person) -> None:
    # given a root
    root = await granting.issued(broker, uses=10)
    # when its holder exchanges it for something wider, then the dimension is named
    wider_in: dict[str, Any] = {"uses": 11, "write_memory_namespaces": ("notes", "other"), "tools": None}
    for dimension, wider in wider_in.items():
        refusal = await granting.exchange(root, helper, **{dimension: wider})
        assert refusal == Refusal(Reason.GRANT_EXCEEDED, {"dimension": dimension})
    # and for something narrower, subject and actors are kept apart
    child = await granting.exchanged(root, helper, uses=3)
    assert child.grant.terms.subject == root.grant.terms.subject
    assert child.grant.terms.actor_chain == (broker.ref,)
    # also without its ancestors, which the authority keeps
    must(await granting.exchange(child, broker, presented=child.alone))


async def test_only_the_holder_exchanges(granting: Granting, broker: Person, helper: Person) -> None:
    root = await granting.issued(broker)
    assert reason_of(await granting.exchange(root, helper, by=helper)) is Reason.HOLDER_MISMATCH


async def test_the_new_holder_has_an_active_key(world: World, granting: Granting, broker: Person) -> None:
    root, other = await granting.issued(broker), world.user.key_id
    for refusal in (
        await granting.issue(broker, holder_key_id=other),
        await granting.exchange(root, broker, holder_key_id=other),
    ):
        assert reason_of(refusal) is Reason.NOT_ALLOWED


async def test_a_tenant_under_several_policies_says_which(world: World, granting: Granting, broker: Person) -> None:
    # given memory namespaces under two policies
    await world.make_namespace("other", PERMIT_ALL)
    version = await world.load(PERMIT_ALL)
    # when none is named, then one must be; and one that is not loaded is not found
    assert reason_of(await granting.issue(broker)) is Reason.MALFORMED
    assert reason_of(await granting.issue(broker, policy_version=bytes(32))) is Reason.NOT_FOUND
    assert must(await granting.issue(broker, policy_version=version)).grant.terms.policy_version == version


async def test_revoking_takes_the_descendants_along(
    world: World, granting: Granting, broker: Person, helper: Person
) -> None:
    # given a chain of a root, a child that the authority made, and one that its holder made offline
    root = await granting.issued(broker)
    child = await granting.exchanged(root, helper)
    offline = granting.delegated(child, broker)
    issued = await granting.issued_under(offline)
    # when the root is revoked
    assert must(await granting.revoke(root)) == RevokedGrant(world.now(), replayed=False)
    # then none of them is good for anything
    for dead in (root, child, offline):
        assert (
            reason_of(await granting.issue_under(dead, await world.allowed(), f"k-{dead.grant.digest.hex()}"))
            is Reason.REVOKED
        )
        assert reason_of(await granting.exchange(dead, helper)) is Reason.REVOKED
        assert must(await granting.get(dead)).state is GrantState.REVOKED
    assert reason_of(await world.commit(issued)) is Reason.REVOKED


async def test_revoking_is_answered_with_the_first_time(world: World, granting: Granting, broker: Person) -> None:
    root, first = await granting.issued(broker), world.now()
    must(await granting.revoke(root, request_id="r"))
    world.authority.clock.advance(HOUR)
    for again in (await granting.revoke(root, request_id="r"), await granting.revoke(root, by=world.service)):
        assert must(again) == RevokedGrant(first, replayed=True)


async def test_whose_business_a_grant_is(world: World, granting: Granting, broker: Person, helper: Person) -> None:
    # given a child in the user's name
    root = await granting.issued(broker, subject=world.user.ref)
    child = await granting.exchanged(root, helper)
    # when others ask for it, then there is none, as for what there is not
    for stranger in (world.agent, world.observer, (await world.neighbour()).admin):
        for asked in (child, bytes(32)):
            assert reason_of(await granting.get(asked, by=stranger)) is Reason.NOT_FOUND
            assert reason_of(await granting.revoke(asked, by=stranger)) is Reason.NOT_FOUND
        # and whoever shows it is told no more: not even an admin of another tenant
        assert reason_of(await granting.revoke(child, by=stranger, presented=child.presented)) is Reason.NOT_FOUND
    # and the child's holder has no business with the parent
    assert reason_of(await granting.get(root, by=helper)) is Reason.NOT_FOUND
    # when those ask whose business it is, then it is shown and revoked
    for party in (world.user, broker, helper, world.service, world.admin):
        assert must(await granting.get(child, by=party)).ancestors == root.chain
        must(await granting.revoke(await granting.exchanged(root, helper), by=party))


async def test_what_was_never_met_is_revoked_by_whoever_presents_it(
    world: World, granting: Granting, broker: Person, helper: Person
) -> None:
    # given a child made offline that nobody has used
    root = await granting.issued(broker)
    child = granting.delegated(root, helper)
    assert reason_of(await granting.revoke(child)) is Reason.NOT_FOUND
    # when its maker presents it to be revoked, then it is kept to stay so
    must(await granting.revoke(child, by=broker, presented=child.presented))
    assert reason_of(await granting.issue_under(child, await world.allowed(), "k")) is Reason.REVOKED
    assert must(await granting.get(child)).state is GrantState.REVOKED
    # and its parent is as good as before
    await granting.issued_under(root)


async def test_what_is_no_grant_of_ours_is_not_kept(granting: Granting, broker: Person, helper: Person) -> None:
    # given a child wider than its parent, and one that somebody else signed
    root = await granting.issued(broker, uses=1)
    wider = granting.delegated(root, helper, uses=2)
    forged = Granted((*root.chain, granting.signed(granting.delegated(root, helper).grant.terms, helper)), helper)
    # when they are presented to be revoked, then they are refused and nothing is kept
    for bad, reason in ((wider, Reason.GRANT_EXCEEDED), (forged, Reason.SIGNATURE_INVALID)):
        assert reason_of(await granting.revoke(bad, presented=bad.presented)) is reason
        assert reason_of(await granting.get(bad)) is Reason.NOT_FOUND


async def test_every_change_is_told(world: World, granting: Granting, broker: Person, helper: Person) -> None:
    # given a life of grants
    root = await granting.issued(broker, correlation_id="story")
    child = await granting.exchanged(root, helper)
    offline = granting.delegated(child, broker)
    await granting.issued_under(offline)
    must(await granting.revoke(child))
    # then the log tells of each, once
    names = {
        f"sha256:{it.grant.digest.hex()}": word for it, word in ((root, "root"), (child, "child"), (offline, "offline"))
    }
    told = await world.authority.store.audit_log.page(
        world.tenant, AuditFilter(), oldest_first=True, after="", size=100
    )
    assert [
        (it.event.kind, names[it.event.subject], it.event.actor, it.event.correlation_id)
        for it in told
        if it.event.kind.startswith("grant.")
    ] == [
        ("grant.issue", "root", world.admin.ref, "story"),
        ("grant.exchange", "child", broker.ref, "story"),
        ("grant.meet", "offline", broker.ref, ""),
        ("grant.revoke", "child", world.admin.ref, "story"),
    ]
    # and so does the feed, which also tells every tenant of issuer keys
    news = await world.authority.store.revocation_feed.news(world.tenant, 0, 100)
    assert not isinstance(news, Refusal)
    own = [it.revoked for it in news.items if it.revoked.tenant == world.tenant]
    assert [(it.kind, names[it.subject]) for it in own] == [(RevokedKind.GRANT, "child")]
