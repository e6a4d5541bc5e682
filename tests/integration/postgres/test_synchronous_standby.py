"""Under synchronous replication nothing is told of that a new primary might lack (case I18)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import asyncpg
import pytest

from authority.domain.audit import AuditFilter
from authority.domain.decision import ApprovalVerdict
from authority.domain.plan import StoredReceipt
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.embedded import start_postgres
from authority.postgres.connections import Power
from authority.postgres.migrate import migrate
from authority.postgres.relay_wake import OUTBOX_CHANNEL, RelayWake
from authority.usecases.ports import DependencyUnavailable
from tests.integration.postgres.superuser import Superuser, until
from tests.world.authority import Authority
from tests.world.evidence import put
from tests.world.stores import connected, postgres_store
from tests.world.withdrawing import withdraw
from tests.world.world import NAMESPACE, Issued, World, all_are, must


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of this module's own: what is set here holds up everybody on it, autovacuum included."""
    settings = {"fsync": "off", "autovacuum": "off"}
    with start_postgres(tmp_path_factory.mktemp("waits-for-standby") / "data", settings=settings) as server:
        migrate(server.url)
        yield server.url


@pytest.fixture
async def superuser(url: str) -> AsyncIterator[Superuser]:
    connection = await asyncpg.connect(url)
    yield connection
    await connection.close()


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with connected(url) as databases:
        yield await World.begin(Authority.open(tmp_path / "keys", partial(postgres_store, databases)))


@asynccontextmanager
async def standby_away(superuser: Superuser, url: str) -> AsyncIterator[None]:
    """Commits wait for a standby that is not there, for as long as the block lasts."""
    await configure(superuser, "alter system set synchronous_standby_names = 'nobody'")
    try:
        await _commits_wait(superuser, url)
        yield
    finally:
        await configure(superuser, "alter system reset synchronous_standby_names")


async def configure(superuser: Superuser, statement: str) -> None:
    """Changes the server's settings, and returns when they hold."""
    before = await superuser.fetchval("select current_setting('synchronous_standby_names')")
    await superuser.execute(statement)
    await superuser.execute("select pg_reload_conf()")

    async def holds() -> bool:
        return bool(await superuser.fetchval("select current_setting('synchronous_standby_names')") != before)

    await until(holds)


async def _commits_wait(superuser: Superuser, url: str) -> None:
    """Returns once a commit waits: that a standby is named is told to those who commit by another process, later."""
    probe = await asyncpg.connect(url)
    try:
        process = probe.get_server_pid()
        while True:
            writing = asyncio.create_task(probe.execute("select pg_logical_emit_message(true, 'probe', '')"))
            while not writing.done() and not await _waits_for_standby(superuser, process):
                pass
            if not writing.done():
                await superuser.execute("select pg_cancel_backend($1)", process)
                await writing
                return
            await writing
    finally:
        await probe.close()


async def _waits_for_standby(superuser: Superuser, process: int) -> bool:
    await superuser.execute("select pg_stat_clear_snapshot()")
    statement = "select wait_event = 'SyncRep' from pg_stat_activity where pid = $1"
    return bool(await superuser.fetchval(statement, process))


async def waiting(superuser: Superuser, *, other_than: int = 0) -> int:
    """The process that has committed here and waits for the standby, another one than that."""
    found: list[int] = []

    async def waits() -> bool:
        await superuser.execute("select pg_stat_clear_snapshot()")
        statement = "select pid from pg_stat_activity where wait_event = 'SyncRep' and pid <> $1"
        found.extend(row["pid"] for row in await superuser.fetch(statement, other_than))
        return bool(found)

    await until(waits)
    return found[0]


async def test_i18_a_commit_that_the_standby_may_lack_is_not_told_of(
    world: World, superuser: Superuser, url: str
) -> None:
    issued = await world.issued()
    async with standby_away(superuser, url):
        # given a commit that the server stops waiting for: it answers with success and a warning
        first = asyncio.create_task(world.commit(issued, within_s=4.0))
        process = await waiting(superuser)
        await superuser.execute("select pg_cancel_backend($1)", process)

        # when it is asked for again, then that waits for the standby too, though the commit is there for all to see
        process = await waiting(superuser, other_than=process)
        assert await world.counts() == all_are(1)
        assert not first.done()

        # and when its caller's time is over, then no receipt is told of
        await asyncio.wait([first], timeout=4.0)
        await superuser.execute("select pg_cancel_backend($1)", process)
        assert await first == Refusal(Reason.DEPENDENCY_UNAVAILABLE)

        # and when its holder comes again, while another transaction has its rows locked, then that waits as well
        transaction = superuser.transaction()
        await transaction.start()
        await superuser.execute("select 1 from authority.proposal_head for update")
        second = asyncio.create_task(world.commit(issued))
        await waiting(superuser, other_than=process)
        assert not second.done()
        await transaction.rollback()

    # then it is answered once the standby has what was committed
    assert must(await second).replayed
    assert await world.counts() == all_are(1)


async def test_i18_a_capability_that_the_standby_may_lack_is_not_told_of(
    world: World, superuser: Superuser, url: str
) -> None:
    ground = await world.allowed()
    async with standby_away(superuser, url):
        # given a capability whose issuing the server stops waiting for: it answers with success and a warning
        first = asyncio.create_task(world.issue(ground, "k", request_id="r", within_s=1.0))
        process = await waiting(superuser)
        await superuser.execute("select pg_cancel_backend($1)", process)

        # when it is asked for again, then that waits for the standby too; and when its caller's time is over, then no
        # capability is told of
        process = await waiting(superuser, other_than=process)
        await asyncio.wait([first], timeout=1.0)
        await superuser.execute("select pg_cancel_backend($1)", process)
        assert await first == Refusal(Reason.DEPENDENCY_UNAVAILABLE)

        # and when the same request comes again, which has nothing left to write, then it waits as well
        second = asyncio.create_task(world.issue(ground, "k", request_id="r"))
        await waiting(superuser, other_than=process)
        assert not second.done()

    # then it is answered once the standby has what was issued
    assert must(await second).replayed


Act = Callable[[World, Issued, str], Coroutine[None, None, object]]
ACTS: dict[str, Act] = {
    "revoke": lambda world, issued, _: world.revoke(issued, request_id="r"),
    "withdraw a proposal": lambda world, issued, _: withdraw(world, issued.ground.proposal, request_id="r"),
    "put evidence": lambda world, *_: put(world, b"three tests failed", request_id="r"),
    "revoke a record": lambda world, _, record_id: world.revoke_record(record_id, request_id="r"),
    "reject": lambda world, issued, _: world.approve(issued.ground.proposal, ApprovalVerdict.REJECT, request_id="r"),
    "decide": lambda world, issued, _: world.decide(issued.ground.proposal, request_id="r"),
    "cite": lambda world, _, record_id: world.cite(record_id, "answer 1", request_id="r"),
    "propose": lambda world, *_: world.propose(b"tea", request_id="r"),
}
"""What is done with a capability, or with a record."""


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
async def test_i18_i11_a_change_that_the_standby_may_lack_is_not_acknowledged(
    world: World, superuser: Superuser, url: str, act: Act
) -> None:
    issued, (_, committed) = await world.issued(), await world.committed()
    record_id = committed.receipt.record_id
    async with standby_away(superuser, url):
        # given a withdrawal, or another change, that the server stops waiting for: it says success, and warns
        first = asyncio.create_task(act(world, issued, record_id))
        process = await waiting(superuser)
        await superuser.execute("select pg_cancel_backend($1)", process)

        # then it is not acknowledged
        with pytest.raises(DependencyUnavailable):
            await first

        # and when the same request comes again, which has nothing left to write, then it waits as well
        second = asyncio.create_task(act(world, issued, record_id))
        await waiting(superuser, other_than=process)
        assert not second.done()

    # then it is answered once the standby has what was changed
    must(await second)


async def test_i18_no_refusal_and_no_reader_is_told_of_a_receipt_that_the_standby_may_lack(
    world: World, superuser: Superuser, url: str
) -> None:
    issued = await world.issued()
    terms, store = issued.capability.terms, world.authority.store
    receipts = store.receipts

    async def export() -> StoredReceipt | None:
        (record,) = await store.records.page(
            world.tenant, memory_namespace=NAMESPACE, reader=world.user.ref, after="", size=9, now=world.now()
        )
        history = await store.histories.of_record(world.tenant, record.record_id, world.user.ref)
        return history.receipt if history else None

    asking: dict[str, Callable[[], Coroutine[None, None, object]]] = {
        "revoke": lambda: world.revoke(issued),
        "approve": lambda: world.approve(issued.ground.proposal),
        "by key": lambda: receipts.by_key(world.tenant, terms.holder, terms.commit_idempotency_key),
        "export": export,
        "list": lambda: receipts.page(world.tenant, memory_namespace=NAMESPACE, holder=None, after="", size=9),
    }
    async with standby_away(superuser, url):
        # given a commit that is there for all to see, and of which the standby knows nothing
        first = asyncio.create_task(world.commit(issued, within_s=1.0))
        process = await waiting(superuser)
        await superuser.execute("select pg_cancel_backend($1)", process)
        process = await waiting(superuser, other_than=process)
        await asyncio.wait([first], timeout=1.0)
        await superuser.execute("select pg_cancel_backend($1)", process)
        assert await first == Refusal(Reason.DEPENDENCY_UNAVAILABLE)

        # when somebody else meets its receipt, then that waits
        met = {name: asyncio.create_task(ask()) for name, ask in asking.items()}
        await until(lambda: are_waiting_for_standby(superuser, len(met)))
        assert not any(task.done() for task in met.values())

    # until the standby has it
    answers = {name: await task for name, task in met.items()}
    found = await receipts.by_key(world.tenant, terms.holder, terms.commit_idempotency_key)
    assert found
    settled = Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": found.receipt_id})
    assert answers == {"revoke": settled, "approve": settled, "by key": found, "export": found, "list": [found]}


async def test_i18_no_watch_tells_of_a_withdrawal_that_the_standby_may_lack(
    world: World, superuser: Superuser, url: str
) -> None:
    # given a withdrawal that is there for all to see, and of which the standby knows nothing
    issued, store = await world.issued(), world.authority.store
    start = await store.audit_log.now(world.tenant)
    subject = issued.capability.terms.capability_id
    of_it = AuditFilter(subject=subject)
    asking: dict[str, Callable[[], Coroutine[None, None, object]]] = {
        "feed": lambda: store.revocation_feed.news(world.tenant, 0, 9),
        "audit": lambda: store.audit_log.news(world.tenant, of_it, start, 9),
        "audit list": lambda: store.audit_log.page(world.tenant, of_it, oldest_first=False, after="", size=1),
    }
    async with standby_away(superuser, url):
        withdrawal = asyncio.create_task(world.revoke(issued))
        process = await waiting(superuser)
        await superuser.execute("select pg_cancel_backend($1)", process)
        with pytest.raises(DependencyUnavailable):
            await withdrawal

        # when somebody would be told of it, then that waits
        met = [asyncio.create_task(ask()) for ask in asking.values()]
        await until(lambda: are_waiting_for_standby(superuser, len(met)))
        assert not any(task.done() for task in met)

    # until the standby has it
    for task in met:
        assert subject in repr(await task)


async def are_waiting_for_standby(superuser: Superuser, number: int) -> bool:
    """Whether so many have committed here and wait for the standby."""
    await superuser.execute("select pg_stat_clear_snapshot()")
    statement = "select count(*) from pg_stat_activity where wait_event = 'SyncRep'"
    return bool(await superuser.fetchval(statement) == number)


async def test_waking_the_relay_waits_for_no_standby(url: str, superuser: Superuser) -> None:
    # given somebody who listens, and commits that wait for a standby which is not there
    woken = asyncio.Event()
    await superuser.add_listener(OUTBOX_CHANNEL, lambda *_: woken.set())
    async with standby_away(superuser, url), connected(url) as databases:
        # when the relay is woken, then the notification arrives
        relay = RelayWake(databases[Power.COMMIT])
        relay.wake()
        await asyncio.wait_for(woken.wait(), 20)
        await relay.close()
