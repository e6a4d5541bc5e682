"""The feed of revocations: what every store tells of withdrawals, and the watch over it, as verifiers see it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import pytest

from authority.domain import limits
from authority.domain.decision import ApprovalVerdict
from authority.domain.identity import PrincipalKind
from authority.domain.reasons import Reason
from authority.domain.references import SECOND
from authority.domain.references import TenantRef as TenantOf
from authority.domain.refusal import Refusal
from authority.domain.revocation import FeedItem, RevokedKind
from authority.domain.statement import KeyPurpose, Statement
from authority.signing.rotation import Scope, generate
from authority.usecases.ports import FeedNews
from authority.usecases.ports import RevocationFeed as Feed
from authority.usecases.watch_revocations import FeedTidings, RevocationWatch
from capability_authority.offline import FeedBroken, RevocationFeed, Withdrawn, parse_statement, verify_as
from capability_authority.v1.statements_pb2 import (
    CommitCapability,
    Revocation,
    RevocationHeartbeat,
    Signature,
    SignedStatement,
)
from capability_authority.v1.types_pb2 import TenantRef
from tests.world.granting import Granting
from tests.world.world import Person, World, must, reason_of


async def items(world: World, after: int = 0) -> list[FeedItem]:
    """The feed of the tenant, but for what other tests' tenants have withdrawn of the authority's keys."""
    news = must(await world.authority.store.revocation_feed.news(world.tenant, after, 100_000))
    return [item for item in news.items if item.revoked.tenant == world.tenant]


async def last(world: World) -> int:
    """The sequence of the last item."""
    news = must(await world.authority.store.revocation_feed.news(world.tenant, 0, 100_000))
    return news.items[-1].sequence if news.items else 0


async def opened(world: World, cursor: int | None = None, by: Person | None = None) -> RevocationWatch:
    """A watch of the agent, from now on unless told otherwise."""
    cursor = await last(world) if cursor is None else cursor
    return await world.authority.do.open_revocation_watch((by or world.agent).calls(), cursor)


async def told(watch: RevocationWatch) -> FeedTidings:
    """What the watch tells next."""
    with watch.listening() as woken:
        return must(await watch.next(woken))


def signed(statement: Statement) -> SignedStatement:
    """As it goes over the wire."""
    signature = Signature(key_id=statement.key_id, signature=statement.signature)
    return SignedStatement(payload_type=statement.payload_type, payload=statement.payload, signature=signature)


# --- what is told -----------------------------------------------------------------------------------------------------


async def capability(world: World) -> tuple[RevokedKind, str]:
    issued = await world.issued()
    must(await world.revoke(issued))
    must(await world.revoke(issued, by=world.admin))
    return RevokedKind.CAPABILITY, issued.capability.terms.capability_id


async def record(world: World) -> tuple[RevokedKind, str]:
    _, answer = await world.committed()
    must(await world.revoke_record(answer.receipt.record_id))
    return RevokedKind.RECORD, answer.receipt.record_id


async def approval(world: World) -> tuple[RevokedKind, str]:
    kept = await world.validated()
    reference = must(await world.approve(kept)).reference
    must(await world.approve(kept, ApprovalVerdict.REVOKE))
    must(await world.approve(kept, ApprovalVerdict.REJECT))
    return RevokedKind.APPROVAL, reference


async def principal(world: World) -> tuple[RevokedKind, str]:
    person = await world.register(PrincipalKind.TOOL, "new")
    await world.authority.store.administration.revoke_principal(world.tenant, person.ref, world.now())
    return RevokedKind.PRINCIPAL, str(person.ref)


async def principal_key(world: World) -> tuple[RevokedKind, str]:
    await world.authority.store.administration.revoke_principal_key(world.tenant, world.user.key_id, world.now())
    return RevokedKind.PRINCIPAL_KEY, world.user.key_id


async def grant(world: World) -> tuple[RevokedKind, str]:
    granting = Granting(world)
    granted = await granting.issued(world.service)
    must(await granting.revoke(granted))
    must(await granting.revoke(granted, by=world.service))
    return RevokedKind.GRANT, f"sha256:{granted.grant.digest.hex()}"


WITHDRAWALS: dict[str, Callable[[World], Awaitable[tuple[RevokedKind, str]]]] = {
    "capability": capability,
    "record": record,
    "approval": approval,
    "grant": grant,
    "principal": principal,
    "principal key": principal_key,
}


@pytest.mark.parametrize("withdraw", WITHDRAWALS.values(), ids=WITHDRAWALS)
async def test_every_withdrawal_is_told_once(
    world: World, withdraw: Callable[[World], Awaitable[tuple[RevokedKind, str]]]
) -> None:
    kind, subject = await withdraw(world)
    (item,) = await items(world)
    assert (item.revoked.kind, item.revoked.subject, item.revoked.revoke_time) == (kind, subject, world.now())
    assert (item.revoked.content_digest is not None) == (kind is RevokedKind.RECORD)


async def test_a_key_of_the_authority_is_told_in_every_feed(world: World) -> None:
    # given feeds of two tenants
    neighbour, authority, now = await world.neighbour(), world.authority, world.now()
    before = [await last(one) for one in (world, neighbour)]
    must(await world.revoke(await world.issued()))
    must(await neighbour.revoke(await neighbour.issued()))
    key = generate(authority.folder, KeyPurpose.GRANT, now, Scope(world.tenant))
    await authority.store.administration.add_issuer_key(key, now)
    # when a key is withdrawn, then each tells of it after its own, and each item names the one before
    await authority.store.administration.revoke_issuer_key(key.key_id, None, now)
    for one, start in zip((world, neighbour), before, strict=True):
        news = must(await authority.store.revocation_feed.news(one.tenant, start, 100))
        own, everybodys = news.items
        assert (own.revoked.kind, everybodys.revoked.kind) == (RevokedKind.CAPABILITY, RevokedKind.ISSUER_KEY)
        assert everybodys.revoked.subject == key.key_id
        assert (own.previous_sequence, everybodys.previous_sequence) == (start, own.sequence)


async def test_parts_of_a_feed_follow_each_other(world: World) -> None:
    start = await last(world)
    for _ in range(4):
        must(await world.revoke(await world.issued()))
    whole = must(await world.authority.store.revocation_feed.news(world.tenant, start, 4))
    assert not whole.has_more
    found: list[FeedItem] = []
    after = start
    while (part := must(await world.authority.store.revocation_feed.news(world.tenant, after, 1))).items:
        found += part.items
        after = found[-1].sequence
        assert part.has_more == (len(found) < 4)
    assert found == whole.items


async def test_g02_a_feed_tells_nothing_of_other_tenants(world: World) -> None:
    neighbour = await world.neighbour()
    must(await neighbour.revoke(await neighbour.issued()))
    assert await items(world) == []


async def test_a_cursor_ahead_of_the_feed_is_refused(world: World) -> None:
    watch = await opened(world, cursor=await last(world) + 1)
    with watch.listening() as woken:
        refusal = await watch.next(woken)
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, refusal.facts["field"]) == (Reason.MALFORMED, "cursor")


# --- the watch --------------------------------------------------------------------------------------------------------


async def test_a_watch_tells_signed_items_that_an_offline_verifier_follows(world: World) -> None:
    # given a verifier that follows the feed, and a capability that it believes
    key_set = await world.authority.key_set()
    feed = RevocationFeed(TenantRef(namespace=world.tenant.namespace, id=world.tenant.id))
    watch = await opened(world, cursor=0)
    issued = await world.issued()
    capability = signed(issued.capability.statement)

    async def follow() -> list[Revocation]:
        taken: list[Revocation] = []
        while True:
            tidings = await told(watch)
            for statement in tidings.revocations:
                try:
                    taken.append(feed.take(signed(statement), key_set))
                except FeedBroken:  # pragma: no cover - tells which
                    raise AssertionError(statement) from None
            if tidings.heartbeat:
                feed.hear(signed(tidings.heartbeat), key_set)
                return taken

    await follow()
    view = feed.view(now_ms=world.now(), maximum_age_ms=SECOND)
    assert verify_as(capability, key_set, CommitCapability, revocations=view).capability_id

    # when it is revoked, then it is told, and the capability verifies no more
    must(await world.revoke(issued))
    (item,) = await follow()
    assert item.subject == issued.capability.terms.capability_id
    view = feed.view(now_ms=world.now(), maximum_age_ms=SECOND)
    with pytest.raises(Withdrawn, match=item.subject):
        verify_as(capability, key_set, CommitCapability, revocations=view)
    assert feed.as_of_ms == world.now()


async def test_no_heartbeat_vouches_for_a_part_of_what_there_is(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # given more items than one message has
    start = await last(world)
    for _ in range(3):
        must(await world.revoke(await world.issued()))
    monkeypatch.setattr(limits, "WATCH_EVENTS", 2)
    # when they are told, then only the message with the last of them says that there is nothing else
    watch = await opened(world, cursor=start)
    messages = [await told(watch), await told(watch)]
    assert [len(message.revocations) for message in messages] == [2, 1]
    assert [message.heartbeat is None for message in messages] == [True, False]


@dataclass(frozen=True)
class Interrupted:
    """A feed that something happens to after it was read, before what was read is told."""

    feed: Feed
    meanwhile: Callable[[], Awaitable[None]]

    async def news(self, tenant: TenantOf, after: int, size: int) -> FeedNews | Refusal:
        """What there was."""
        news = await self.feed.news(tenant, after, size)
        await self.meanwhile()
        return news


async def test_i11_a_heartbeat_vouches_for_no_moment_after_the_reading(world: World) -> None:
    # given a capability that is revoked a second after the feed was read
    issued, start, read_time = await world.issued(), await last(world), world.now()

    async def meanwhile() -> None:
        world.authority.clock.advance(SECOND)
        must(await world.revoke(issued))

    interrupted = Interrupted(world.authority.store.revocation_feed, meanwhile)
    watch = await replace(world.authority.do.open_revocation_watch, feed=interrupted)(world.agent.calls(), start)
    # when what was read is told, then as of when it was read, not as of when it is told
    tidings = await told(watch)
    assert tidings.heartbeat
    heartbeat = RevocationHeartbeat.FromString(tidings.heartbeat.payload)
    assert (tidings.revocations, heartbeat.as_of_time.ToMilliseconds()) == ([], read_time)


async def test_the_bytes_are_the_same_from_every_process(world: World) -> None:
    start = await last(world)
    must(await world.revoke(await world.issued()))
    other = await world.authority.replica()
    here = await told(await opened(world, cursor=start))
    there = await told(await other.do.open_revocation_watch(world.user.calls(), start))
    assert (here.revocations, here.heartbeat) == (there.revocations, there.heartbeat)
    assert parse_statement(signed(here.revocations[0]).SerializeToString()).signature.signature


async def test_a_watch_that_waits_is_woken(world: World) -> None:
    watch = await opened(world)
    assert (await told(watch)).revocations == []
    issued = await world.issued()
    waiting = asyncio.create_task(told(watch))
    must(await world.revoke(issued))
    tidings = await waiting
    while not tidings.revocations:
        tidings = await told(watch)
    assert len(tidings.revocations) == 1


@pytest.mark.parametrize("kind", PrincipalKind)
async def test_the_caller_column_any_principal_of_the_tenant_watches(world: World, kind: PrincipalKind) -> None:
    watch = await opened(world, by=await world.register(kind, "anybody"))
    assert (await told(watch)).heartbeat


async def test_i11_whoever_is_revoked_is_told_nothing_more(world: World) -> None:
    watch = await opened(world)
    await told(watch)
    await world.authority.store.administration.revoke_principal_key(world.tenant, world.agent.key_id, world.now())
    with watch.listening() as woken:
        assert reason_of(await watch.next(woken)) is Reason.CALLER_UNAUTHENTICATED
