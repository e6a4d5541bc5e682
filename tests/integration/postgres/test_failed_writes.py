"""All of a state change, or nothing: a write that fails in the middle leaves everything as it was."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import asyncpg
import pytest

from authority.domain import limits
from authority.domain.plan import Committed
from authority.domain.proposal import ProposalState
from authority.domain.reasons import Reason
from authority.domain.record import Mode
from authority.domain.refusal import Refusal
from authority.domain.statement import KeyPurpose
from authority.policy.bundle import bundle_version
from authority.signing.rotation import Scope, generate
from authority.usecases.ports import DependencyUnavailable
from tests.integration.postgres.superuser import Superuser, trigger
from tests.world.evidence import put
from tests.world.withdrawing import withdraw
from tests.world.world import NAMESPACE, PERMIT_ALL, Issued, World, all_are, must, reason_of

WRITTEN_BY_A_COMMIT = ("commit_receipt", "memory_record", "outbox", "audit_event")


def failing(sqlstate: str) -> str:
    """What makes an insert fail with this code."""
    return f"raise exception 'the disk says no' using errcode = '{sqlstate}';"


async def audit_events(superuser: Superuser, world: World) -> int:
    """How many there are of the tenant."""
    count = await superuser.fetchval("select count(*) from authority.audit_event where tenant = $1", str(world.tenant))
    assert isinstance(count, int)
    return count


async def untouched(world: World, issued: Issued) -> bool:
    """Whether neither the capability nor the proposal shows any trace of a commit."""
    store, terms = world.authority.store, issued.capability.terms
    proposal = await store.proposals.get(world.tenant, terms.proposal_id, 0)
    assert proposal
    fate = await store.capabilities.fate_of(world.tenant, terms.capability_id)
    assert fate
    return proposal.state is ProposalState.VALIDATED and fate.receipt_id is None


# --- a commit ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", WRITTEN_BY_A_COMMIT)
async def test_a05_g15_h10_a_write_that_fails_leaves_no_row_and_burns_nothing(
    world: World, superuser: Superuser, table: str
) -> None:
    # given a capability, and a disk that is full where one of the rows of its commit goes
    issued = await world.issued()
    events = await audit_events(superuser, world)
    async with trigger(superuser, table, failing("53100")):
        # when it is committed, then the caller may come again, and there is no row, no event and no audit event of it
        assert await world.commit(issued, within_s=0.3) == Refusal(Reason.DEPENDENCY_UNAVAILABLE)
        assert await world.counts() == all_are(0)
        assert await audit_events(superuser, world) == events
        assert await untouched(world, issued)

    # and once the fault is lifted, the retry succeeds
    assert not must(await world.commit(issued)).replayed
    assert await world.counts() == all_are(1)
    assert await audit_events(superuser, world) == events + 1


@pytest.mark.parametrize("table", WRITTEN_BY_A_COMMIT)
async def test_a05_a_row_that_cannot_be_stored_is_a_fault_of_ours_and_not_asked_again(
    world: World, superuser: Superuser, table: str
) -> None:
    # given a row that a constraint refuses, then that is told at once, as what it is, and nothing is burned
    issued = await world.issued()
    async with trigger(superuser, table, failing("23514")):
        with pytest.raises(asyncpg.CheckViolationError):
            await world.commit(issued)
        assert await world.counts() == all_are(0)
        assert await untouched(world, issued)
    must(await world.commit(issued))
    assert await world.counts() == all_are(1)


# --- every other change -----------------------------------------------------------------------------------------------


async def everything(superuser: Superuser) -> dict[str, str]:
    """What every table holds, as a digest: no world but one changes this database meanwhile."""
    tables = await superuser.fetch("select tablename from pg_tables where schemaname = 'authority' order by tablename")
    digest = "select md5(string_agg(t::text, ';' order by t::text)) from authority."
    return {name: await superuser.fetchval(f"{digest}{name} t") for (name,) in tables}


@dataclass(frozen=True)
class Given:
    """What there is to change: a capability, and a record."""

    issued: Issued
    record_id: str


ACTS: dict[str, Callable[[World, Given], Awaitable[object]]] = {
    "propose": lambda world, _: world.propose(request_id="r"),
    "correct a record": lambda world, given: world.correct(given.record_id, b"corrected", request_id="r"),
    "validate": lambda world, given: world.validate(given.issued.ground.proposal, request_id="r"),
    "approve": lambda world, given: world.approve(given.issued.ground.proposal, request_id="r"),
    "decide": lambda world, given: world.decide(given.issued.ground.proposal, request_id="r"),
    "issue": lambda world, given: world.issue(given.issued.ground, "another", request_id="r", within_s=0.5),
    "revoke a capability": lambda world, given: world.revoke(given.issued, request_id="r"),
    "revoke a record": lambda world, given: world.revoke_record(given.record_id, request_id="r"),
    "withdraw a proposal": lambda world, given: withdraw(world, given.issued.ground.proposal, request_id="r"),
    "put evidence": lambda world, _: put(world, b"three tests failed", request_id="r"),
    "revoke a principal": lambda world, _: world.authority.store.administration.revoke_principal(
        world.tenant, world.agent.ref, world.now()
    ),
    "revoke a key": lambda world, _: world.authority.store.administration.revoke_principal_key(
        world.tenant, world.agent.key_id, world.now()
    ),
    "register": lambda world, _: world.register(world.agent.principal.kind, "second"),
    "add an issuer key": lambda world, _: world.authority.store.administration.add_issuer_key(
        generate(world.authority.folder, KeyPurpose.GRANT, world.now(), Scope(world.tenant)), world.now()
    ),
    "revoke an issuer key": lambda world, given: world.authority.store.administration.revoke_issuer_key(
        given.issued.capability.statement.key_id, None, world.now()
    ),
    "make a memory namespace": lambda world, _: world.make_namespace("ledger", PERMIT_ALL),
    "set a mode": lambda world, _: world.authority.store.administration.set_mode(
        world.tenant, NAMESPACE, Mode.LEGACY, world.now()
    ),
    "load a policy": lambda world, _: world.load(f"{PERMIT_ALL}// for {world.tenant}\n"),
    "activate a policy": lambda world, _: world.authority.store.administration.activate_policy(
        world.tenant, NAMESPACE, bundle_version(PERMIT_ALL), world.now()
    ),
}
"""Every change but a commit, which has its tests above."""


async def is_unavailable(act: Awaitable[object]) -> bool:
    """Whether it fails for now: by a fault, or by the refusal of what was asked again until its time was up."""
    try:
        return reason_of(await act) is Reason.DEPENDENCY_UNAVAILABLE
    except DependencyUnavailable:
        return True


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
async def test_g15_what_cannot_be_audited_does_not_happen(
    world: World, superuser: Superuser, act: Callable[[World, Given], Awaitable[object]]
) -> None:
    # given an audit log that takes nothing
    await world.load(PERMIT_ALL)
    _, committed = await world.committed()
    given = Given(await world.issued(), committed.receipt.record_id)
    before = await everything(superuser)
    async with trigger(superuser, "audit_event", failing("53100")):
        # when anything is changed, then it fails, and nothing is changed
        assert await is_unavailable(act(world, given))
        assert await everything(superuser) == before

    # and the same request may come again
    assert not isinstance(await act(world, given), Refusal)
    assert await everything(superuser) != before


@pytest.mark.parametrize(
    ("table", "event"), [("request", "insert"), ("capability", "update"), ("audit_event", "insert")]
)
async def test_a05_a_revocation_that_fails_leaves_nothing_and_may_come_again(
    world: World, superuser: Superuser, table: str, event: str
) -> None:
    # given a disk that is full where one of the rows of a revocation goes
    issued, other = await world.issued(), await world.issued()
    events = await audit_events(superuser, world)
    async with trigger(superuser, table, failing("53100"), event):
        with pytest.raises(DependencyUnavailable):
            await world.revoke(issued, request_id="r")
    # then there is no trace of it: neither is the request id used up, nor the capability
    assert await audit_events(superuser, world) == events
    assert not must(await world.revoke(other, request_id="r")).replayed
    must(await world.commit(issued))
    assert await world.counts() == all_are(1)


WRITTEN: dict[str, tuple[Callable[[World, str], Awaitable[object]], tuple[str, ...]]] = {
    "revoke": (
        lambda world, record_id: world.revoke_record(record_id, request_id="r"),
        ("request", "outbox", "revocation", "tombstone", "audit_event"),
    ),
    "correct": (
        lambda world, record_id: world.correct(record_id, b"corrected", request_id="r"),
        ("request", "proposal_head", "proposal", "audit_event"),
    ),
    "cite": (lambda world, record_id: world.cite(record_id, "answer 1", request_id="r"), ("request", "citation")),
}
"""What may be done with a record, and the tables that it writes."""


@pytest.mark.parametrize(("verb", "table"), [(verb, table) for verb in WRITTEN for table in WRITTEN[verb][1]])
async def test_a05_what_is_done_with_a_record_and_fails_leaves_nothing_and_may_come_again(
    world: World, superuser: Superuser, verb: str, table: str
) -> None:
    # given a record, and a disk that is full where one of the rows goes
    act, _ = WRITTEN[verb]
    _, committed = await world.committed()
    record_id = committed.receipt.record_id
    before = await everything(superuser)
    async with trigger(superuser, table, failing("53100")):
        assert await is_unavailable(act(world, record_id))
    # then nothing is there of it, and the same request executes once the fault is lifted
    assert await everything(superuser) == before
    made = must(await act(world, record_id))
    assert not getattr(made, "replayed", False)
    changed = await everything(superuser)
    assert changed[table] != before[table]
    # and is answered with the first answer ever after
    again = must(await act(world, record_id))
    assert getattr(again, "replayed", True)
    assert await everything(superuser) == changed


async def test_every_change_is_audited_once(world: World, superuser: Superuser) -> None:
    # given a tenant, when one commit comes about by six requests, of which each is made twice
    before = await audit_events(superuser, world)
    proposal = await world.proposed(b"tea", by=world.agent, request_id="1")
    await world.proposed(b"tea", by=world.agent, request_id="1")
    for _ in range(2):
        must(await world.validate(proposal, request_id="2"))
        must(await world.approve(proposal, request_id="3"))
    ground = await world.allow(proposal)
    issued = await world.issued_on(ground, key="k")
    must(await world.issue(ground, "k"))
    for _ in range(2):
        must(await world.commit(issued))

    # then each change has one event with its actor, subject and states; replays have none
    rows = await superuser.fetch(
        "select kind, actor, subject, previous_state, next_state from authority.audit_event where tenant = $1"
        " order by event_id offset $2",
        str(world.tenant),
        before,
    )
    proposal_id = proposal.revision.proposal_id
    record = await superuser.fetchval(
        "select record_id::text from authority.memory_record where tenant = $1", str(world.tenant)
    )
    assert [tuple(row) for row in rows] == [
        ("proposal.create", "test|agent", f"{proposal_id}:1", "", "proposed"),
        ("proposal.validate", "test|service", proposal_id, "proposed", "validated"),
        ("proposal.approve", "test|admin", proposal_id, "validated", "approved"),
        ("proposal.validate", "test|service", proposal_id, "approved", "validated"),
        ("policy.decide", "test|service", f"{proposal_id}:1", "", "require_approval"),
        ("proposal.approve", "test|admin", proposal_id, "validated", "approved"),
        ("policy.decide", "test|service", f"{proposal_id}:1", "", "allow"),
        ("capability.issue", "test|service", issued.capability.terms.capability_id, "", "issued"),
        ("memory.commit", "test|service", record, "issued", "consumed"),
    ]


async def test_a_revocation_is_audited_once_with_the_state_before(world: World, superuser: Superuser) -> None:
    # given a live capability, and one that expired and gave way to another
    live, expired = await world.issued(), await world.issued(key="k")
    world.authority.clock.advance(limits.CAPABILITY_LIFETIME_DEFAULT_MS)
    await world.issued_on(expired.ground, key="k")
    world.authority.clock.advance(-limits.CAPABILITY_LIFETIME_DEFAULT_MS)
    before = await audit_events(superuser, world)

    # when each is revoked by two requests, of which one is made twice
    for name, issued in (("live", live), ("expired", expired)):
        for request_id in (f"{name}-1", f"{name}-1", f"{name}-2"):
            must(await world.revoke(issued, by=world.admin, request_id=request_id))

    # then each is told once, by whom, and what it was before
    rows = await superuser.fetch(
        "select kind, actor, subject, previous_state, next_state from authority.audit_event where tenant = $1"
        " order by event_id offset $2",
        str(world.tenant),
        before,
    )
    assert [tuple(row) for row in rows] == [
        ("capability.revoke", "test|admin", live.capability.terms.capability_id, "issued", "revoked"),
        ("capability.revoke", "test|admin", expired.capability.terms.capability_id, "expired", "revoked"),
    ]


async def test_h10_the_event_of_a_commit_says_what_was_committed(world: World, superuser: Superuser) -> None:
    # given a commit, then its event is in the outbox, in CloudEvents' words
    issued = await world.issued(correlation_id="run-1")
    plan = world.plan(issued)
    assert isinstance(await world.carry_out(plan), Committed)
    row = await superuser.fetchrow(
        "select id::text, aggregatetype, aggregateid, sequence, type, payload #>> '{}' as payload, traceparent"
        " from authority.outbox where tenant = $1",
        str(world.tenant),
    )
    assert row
    assert (row["id"], row["aggregatetype"], row["aggregateid"]) == (plan.event_id, "memory_record", plan.record_id)
    assert (row["sequence"], row["type"]) == (1, "memory.committed.v1")
    event = json.loads(row["payload"])
    assert event == {
        "specversion": "1.0",
        "id": plan.event_id,
        "source": "authority.test",
        "type": "memory.committed.v1",
        "subject": plan.record_id,
        "time": "2023-11-14T22:13:20.000Z",
        "datacontenttype": "application/json",
        "data": {
            "tenant": str(world.tenant),
            "memoryNamespace": NAMESPACE,
            "recordId": plan.record_id,
            "recordVersion": 1,
            "receiptId": plan.receipt_id,
            "memoryType": "durable_fact",
            "provenance": "user_claim",
            "visibility": "workspace",
            "visibilityScope": "",
            "validated": True,
            "mediaType": "text/plain",
            "contentDigest": "sha256:" + issued.ground.revision.content_digest.hex(),
            "correlationId": "run-1",
        },
    }
