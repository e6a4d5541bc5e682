"""VerifyGrant: the whole chain is judged each time, live state with it, and nothing is changed or spent (case E18)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from authority.domain.audit import AuditFilter, ToldEvent
from authority.domain.grant_use import GrantUse
from authority.domain.identity import PrincipalKind
from authority.domain.reasons import Reason
from authority.domain.references import DAY, HOUR, SECOND, PrincipalRef, TenantRef, after
from authority.domain.refusal import Refusal
from authority.signing.inspection import as_sent
from authority.usecases.watch_revocations import RevocationWatch
from capability_authority.offline import KeySet, RevocationFeed, Withdrawn, verify_grant_chain
from capability_authority.v1.types_pb2 import TenantRef as TenantMessage
from tests.world.authority import HERE
from tests.world.granting import Granted, Granting
from tests.world.world import Person, World, must, reason_of

USE = GrantUse(action="memory.commit-validated", audience=HERE.audience, write_memory_namespace="notes")


@pytest.fixture
def granting(world: World) -> Granting:
    return Granting(world)


@pytest.fixture
async def broker(world: World) -> Person:
    return await world.register(PrincipalKind.SERVICE, "broker", frozenset())


@pytest.fixture
async def helper(world: World) -> Person:
    return await world.register(PrincipalKind.AGENT, "helper", frozenset())


@pytest.fixture
async def chain(granting: Granting, broker: Person, helper: Person) -> Granted:
    """A root, and a child that its holder made offline, which the authority has not met."""
    return granting.delegated(await granting.issued(broker), helper)


async def told(world: World) -> Sequence[ToldEvent]:
    """What the audit log tells of the tenant."""
    log = world.authority.store.audit_log
    return await log.page(world.tenant, AuditFilter(), oldest_first=True, after="", size=100)


@pytest.mark.parametrize("kind", PrincipalKind)
async def test_the_caller_column_any_principal_of_the_tenant_verifies(
    world: World, granting: Granting, chain: Granted, kind: PrincipalKind
) -> None:
    anybody = await world.register(kind, f"a-{kind.value}", frozenset())

    assert await granting.verify(chain, USE, by=anybody) is None


async def test_a10_looking_changes_nothing_and_spends_nothing(world: World, granting: Granting, chain: Granted) -> None:
    before = await told(world)

    # when a chain is verified again and again, then nothing is told of it, and the child is not kept
    for _ in range(3):
        assert await granting.verify(chain, USE) is None
    assert await told(world) == before
    assert reason_of(await granting.get(chain)) is Reason.NOT_FOUND


async def test_ancestors_that_the_authority_keeps_may_be_left_out(
    granting: Granting, broker: Person, helper: Person
) -> None:
    # given a chain that the authority made, and a child of it that it has not met
    root = await granting.issued(broker)
    child = await granting.exchanged(root, helper)
    grandchild = granting.delegated(child, broker)

    # then its last block alone is enough, and of an offline one its parents are
    assert await granting.verify(child, USE, alone=True) is None
    assert await granting.verify(grandchild, USE, alone=True) is None
    grand_grandchild = granting.delegated(grandchild, helper)
    assert await granting.verify(grand_grandchild, USE) is None
    refusal = await granting.verify(grand_grandchild, USE, alone=True)
    assert refusal is not None
    assert refusal.reason is Reason.SIGNATURE_INVALID


@pytest.mark.parametrize(
    ("changes", "dimension"),
    [
        ({"action": "memory.recall"}, "actions"),
        ({"audience": "elsewhere"}, "audiences"),
        ({"write_memory_namespace": "notes2"}, "write_memory_namespaces"),
        ({"read_memory_namespace": "notes/.."}, "read_memory_namespaces"),
        ({"tool": "search"}, "tools"),
        ({"tokens": 1_000_001}, "tokens"),
        ({"network": True}, "network"),
    ],
)
async def test_a_use_that_no_block_may_allow_names_the_dimension(
    granting: Granting, chain: Granted, changes: dict[str, Any], dimension: str
) -> None:
    refusal = await granting.verify(chain, replace(USE, **changes))

    assert refusal == Refusal(Reason.GRANT_EXCEEDED, {"dimension": dimension})


async def test_e17_i15_a_forged_child_is_told_by_its_dimension(
    granting: Granting, broker: Person, helper: Person
) -> None:
    root = await granting.issued(broker)
    for changes, dimension in (
        ({"uses": 1_001}, "uses"),
        ({"tools": None}, "tools"),
        ({"actor_chain": ()}, "actor_chain"),
        ({"audiences": (HERE.audience, "elsewhere")}, "audiences"),
        ({"expire_time": after(root.grant.terms.expire_time, 1)}, "expire_time"),
        ({"subject": helper.ref}, "subject"),
        ({"delegation_depth": 4}, "delegation_depth"),
    ):
        forged: dict[str, Any] = changes
        refusal = await granting.verify(granting.delegated(root, helper, **forged))
        assert refusal == Refusal(Reason.GRANT_EXCEEDED, {"dimension": dimension})


async def test_e18_e21_a_chain_in_another_order_or_by_other_hands_is_refused(
    granting: Granting, broker: Person, helper: Person, chain: Granted
) -> None:
    # given another root of the same holder, and blocks in every wrong place
    other = await granting.issued(broker)
    for blocks in (
        chain.chain[::-1],
        (chain.chain[1], chain.chain[1]),
        (chain.chain[0], chain.chain[0]),
        (other.grant, chain.grant),
    ):
        refusal = await granting.verify(replace(chain, chain=blocks))
        assert refusal is not None
        assert refusal.reason in {Reason.GRANT_EXCEEDED, Reason.SIGNATURE_INVALID}
    # and a child that somebody else signed
    root = await granting.issued(broker)
    terms = granting.delegated(root, helper).grant.terms
    refusal = await granting.verify(Granted((root.grant, granting.signed(terms, helper)), helper))
    assert refusal == Refusal(Reason.SIGNATURE_INVALID)


async def test_e18_a_revoked_ancestor_is_told_at_once(granting: Granting, chain: Granted) -> None:
    assert await granting.verify(chain) is None

    must(await granting.revoke(replace(chain, chain=chain.chain[:1])))

    assert reason_of(await granting.verify(chain)) is Reason.REVOKED
    assert reason_of(await granting.verify(chain, USE, alone=True)) is Reason.REVOKED


@pytest.mark.parametrize("who", ["subject", "broker", "helper"])
async def test_a_withdrawn_principal_takes_along_what_rests_on_it(
    world: World, granting: Granting, chain: Granted, broker: Person, helper: Person, who: str
) -> None:
    person = {"subject": world.service, "broker": broker, "helper": helper}[who]

    await world.authority.store.administration.revoke_principal(world.tenant, person.ref, world.now())

    assert reason_of(await granting.verify(chain)) is Reason.REVOKED


async def test_an_expired_chain_is_told_without_a_use_too(world: World, granting: Granting, chain: Granted) -> None:
    world.authority.clock.advance(DAY - HOUR)
    assert await granting.verify(chain) is None
    world.authority.clock.advance(HOUR)
    assert reason_of(await granting.verify(chain)) is Reason.EXPIRED


async def test_what_this_authority_made_and_does_not_keep_is_not_believed(
    world: World, granting: Granting, broker: Person
) -> None:
    # given a grant by our own key that is not in the database, as after a restore to an earlier moment
    kept = await granting.issued(broker)
    lost = world.authority.signer.sign_grant(replace(kept.grant.terms, nonce=b"\x07" * 16))

    assert await granting.verify(kept) is None
    assert reason_of(await granting.verify(Granted((lost,), broker))) is Reason.NOT_FOUND


async def test_g02_of_another_tenants_chain_no_live_state_is_told(
    world: World, granting: Granting, broker: Person
) -> None:
    # given a grant that our key made in another tenant, which is not kept, and whose subject is nobody here
    terms = (await granting.issued(broker)).grant.terms
    other = TenantRef("other", world.tenant.id)
    await world.authority.make_keys(other)
    subject = PrincipalRef("users", "nobody")
    foreign = world.authority.signer.sign_grant(replace(terms, tenant=other, subject=subject, nonce=b"\x07" * 16))

    # then just what its statements say is judged, as anybody could
    assert await granting.verify(Granted((foreign,), broker), USE) is None
    refusal = await granting.verify(Granted((foreign,), broker), replace(USE, tool="search"))
    assert refusal == Refusal(Reason.GRANT_EXCEEDED, {"dimension": "tools"})


async def test_e18_a_verifier_without_a_server_learns_of_a_revoked_ancestor_by_the_feed(
    world: World, granting: Granting, chain: Granted
) -> None:
    # given a verifier with the key set and the feed, which believes a chain that the authority has never met
    key_set = await world.authority.key_set()
    feed = RevocationFeed(TenantMessage(namespace=world.tenant.namespace, id=world.tenant.id))
    watch = await world.authority.do.open_revocation_watch(world.agent.calls(), 0)
    sent = [as_sent(block.statement) for block in chain.chain]

    async def verify() -> None:
        await follow(watch, feed, key_set)
        view = feed.view(now_ms=world.now(), maximum_age_ms=SECOND)
        verify_grant_chain(sent, key_set, now_ms=world.now(), revocations=view)

    await verify()

    # when its root is revoked, then the next that the feed tells ends the child, whoever shows it
    must(await granting.revoke(replace(chain, chain=chain.chain[:1])))
    with pytest.raises(Withdrawn):
        await verify()


async def follow(watch: RevocationWatch, feed: RevocationFeed, key_set: KeySet) -> None:
    """Takes in what the feed tells, up to its next heartbeat."""
    while True:
        with watch.listening() as woken:
            tidings = must(await watch.next(woken))
        for statement in tidings.revocations:
            feed.take(as_sent(statement), key_set)
        if tidings.heartbeat:
            feed.hear(as_sent(tidings.heartbeat), key_set)
            return
