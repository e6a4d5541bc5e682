"""The function that commits by envelopes: what it writes, with which other plans, and when it is asked again."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import asyncpg
from structlog.testing import capture_logs

from authority.domain.action_envelope import ActionParty
from authority.domain.plan import CommitPlan, Committed
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from tests.integration.postgres.superuser import Superuser
from tests.world.enveloping import ACTOR, SUBJECT, envelope_for, envelope_of, plan_by, signed
from tests.world.world import World, all_are, reason_of, soon


async def proofs(superuser: Superuser, world: World) -> Sequence[asyncpg.Record]:
    """The envelopes that are kept of the tenant."""
    return await superuser.fetch("select * from authority.upstream_proof where tenant = $1", str(world.tenant))


async def committed_at(superuser: Superuser, plan: CommitPlan) -> object:
    """The commit time of the plan's own receipt."""
    return await superuser.fetchval(
        "select commit_time from authority.commit_receipt where receipt_id = $1", plan.receipt_id
    )


async def enveloped(world: World, name: str | None = None) -> CommitPlan:
    """A plan that an envelope proves, which calls the service's key so."""
    issued = await world.issued()
    return await plan_by(world, issued, signed(envelope_for(world, issued), world.service.key, name))


@asynccontextmanager
async def name_taken_back_amid(superuser: Superuser, alias: str) -> AsyncIterator[None]:
    """As long as the block lasts, a name stands for its key when it is looked up first, and for none after that."""
    name = "authority.called_key(text, text)"
    whole = await superuser.fetchval("select pg_get_functiondef($1::regprocedure)", name)
    key = await superuser.fetchval("select key_id from authority.key_alias where alias = $1", alias)
    await superuser.execute(
        f"""
        create sequence authority.looked_up;
        create or replace function authority.called_key(of_tenant text, called text) returns bytea language plpgsql
        volatile security definer as $$ begin
          return case when nextval('authority.looked_up') = 1 then '\\x{key.hex()}'::bytea end;
        end $$;
        """
    )
    try:
        yield
    finally:
        await superuser.execute(whole)
        await superuser.execute("drop sequence authority.looked_up")


async def test_it_keeps_an_envelope_whole_and_once_however_often_its_plan_is_asked(
    world: World, superuser: Superuser
) -> None:
    # given a plan that was carried out, when its answer is lost and it is asked again, after its name was taken back
    await world.authority.store.key_aliases.add(world.tenant, "lost/1", world.service.key_id, world.now())
    plan = await enveloped(world, "lost/1")
    first = await world.carry_out(plan)
    await world.authority.store.key_aliases.revoke(world.tenant, "lost/1", world.now())
    second = await world.carry_out(plan)

    # then it is its own success both times, and the envelope is there as it came
    assert first == second
    assert isinstance(first, Committed)
    assert not first.replayed
    [kept] = await proofs(superuser, world)
    assert plan.action_proof is not None
    envelope = plan.action_proof.envelope
    assert (str(kept["receipt_id"]), kept["envelope"], kept["digest"]) == (
        plan.receipt_id,
        envelope.presented,
        envelope.digest,
    )
    assert (kept["key_name"], kept["key_id"].hex()) == ("lost/1", world.service.key.public_key.thumbprint.hex())
    assert (kept["subject_namespace"], kept["subject_id"]) == (SUBJECT.namespace, SUBJECT.id)
    assert (kept["actor_namespace"], kept["actor_id"]) == (ACTOR.namespace, ACTOR.id)
    assert kept["create_time"] == await committed_at(superuser, plan)


async def test_it_is_told_of_the_envelope_as_of_the_commit_with_its_trace_and_correlation(
    world: World, superuser: Superuser
) -> None:
    # given two plans of one call, each with its own envelope, trace and correlation
    plans = [replace(await enveloped(world), traceparent=f"00-{n * 32}-00f067aa0ba902b7-01") for n in "ab"]
    await world.authority.store.committer.commit_together(plans, soon(30))

    # then each is told once, beside what tells of the commit itself
    for plan, trace in zip(plans, ("a" * 32, "b" * 32), strict=True):
        query = """select actor, subject, correlation_id, trace_id, create_time from authority.audit_event
            where tenant = $1 and subject = $2 and kind = $3"""
        about = (str(world.tenant), plan.record_id)
        [told] = await superuser.fetch(query, *about, "memory.prove")
        assert plan.action_proof is not None
        assert tuple(told) == (
            str(world.service.ref),
            plan.record_id,
            plan.capability.terms.correlation_id,
            trace,
            await committed_at(superuser, plan),
        )


async def test_an_envelope_without_an_actor_is_kept_without(world: World, superuser: Superuser) -> None:
    issued = await world.issued()
    await world.carry_out(await plan_by(world, issued, envelope_of(world, issued, actor=None)))

    [kept] = await proofs(superuser, world)
    assert (kept["actor_namespace"], kept["actor_id"]) == (None, None)


async def test_those_with_and_without_envelopes_go_together(world: World, superuser: Superuser) -> None:
    # given plans of both kinds in one call, one of a name that was taken back, and one that cannot be stored
    aliases = world.authority.store.key_aliases
    await aliases.add(world.tenant, "mixed/1", world.service.key_id, world.now())
    stale, good, plain = await enveloped(world, "mixed/1"), await enveloped(world), world.plan(await world.issued())
    await aliases.revoke(world.tenant, "mixed/1", world.now())
    made_up = await enveloped(world)
    assert made_up.action_proof is not None
    envelope = made_up.action_proof.envelope
    says = replace(envelope.says, subject=ActionParty("workload", "\0"))
    poison = replace(made_up, action_proof=replace(made_up.action_proof, envelope=replace(envelope, says=says)))

    committer = world.authority.store.committer
    outcomes = await committer.commit_together([stale, plain, poison, good], soon(30))

    # then each is answered for itself, and only the envelope of who won by it is kept
    assert [type(outcome) for outcome in (outcomes[1], outcomes[3])] == [Committed, Committed]
    assert reason_of(outcomes[0]) is Reason.PROOF_INVALID
    assert isinstance(outcomes[2], Exception)
    assert [str(kept["receipt_id"]) for kept in await proofs(superuser, world)] == [good.receipt_id]
    assert await world.counts() == all_are(2)


async def test_g02_a_name_is_looked_up_in_the_tenant_of_its_plan_also_beside_anothers(
    world: World, superuser: Superuser
) -> None:
    # given two tenants that call keys of theirs by the same name, and plans of both in one call
    neighbour, plans = await world.neighbour(), []
    for tenant in (world, neighbour):
        await tenant.authority.store.key_aliases.add(tenant.tenant, "same/1", tenant.service.key_id, tenant.now())
        plans.append(await enveloped(tenant, "same/1"))
    # and one of a name that only the other has
    await neighbour.authority.store.key_aliases.add(neighbour.tenant, "theirs", neighbour.service.key_id, world.now())
    borrowed = await enveloped(world)
    assert borrowed.action_proof is not None
    envelope = replace(borrowed.action_proof.envelope, key_name="theirs")
    key_id = neighbour.service.key_id
    plans.append(replace(borrowed, action_proof=replace(borrowed.action_proof, envelope=envelope, key_id=key_id)))

    outcomes = await world.authority.store.committer.commit_together(plans, soon(30))

    # then each is for its own
    assert [type(outcome) for outcome in outcomes[:2]] == [Committed, Committed]
    assert reason_of(outcomes[2]) is Reason.PROOF_INVALID
    kept = [proof["key_id"] for tenant in (world, neighbour) for proof in await proofs(superuser, tenant)]
    assert kept == [tenant.service.key.public_key.thumbprint for tenant in (world, neighbour)]


async def test_who_is_not_proven_is_told_so_whatever_else_the_service_has_against_the_commit(world: World) -> None:
    # given a plan that the service refuses for its time, whose name was taken back
    aliases = world.authority.store.key_aliases
    await aliases.add(world.tenant, "late/1", world.service.key_id, world.now())
    plan = replace(await enveloped(world, "late/1"), refusal=Refusal(Reason.EXPIRED))
    assert reason_of(await world.carry_out(plan)) is Reason.EXPIRED
    await aliases.revoke(world.tenant, "late/1", world.now())

    assert reason_of(await world.carry_out(plan)) is Reason.PROOF_INVALID


async def test_i11_a_name_that_is_taken_back_in_the_middle_commits_nothing(world: World, superuser: Superuser) -> None:
    # given a name that stands for its key when the function begins, and for none once it holds its locks
    await world.authority.store.key_aliases.add(world.tenant, "amid/1", world.service.key_id, world.now())
    plan = await enveloped(world, "amid/1")
    async with name_taken_back_amid(superuser, "amid/1"):
        with capture_logs() as logs:
            outcome = await world.carry_out(plan)

    # then all of it is undone, and asked again is refused
    assert reason_of(outcome) is Reason.PROOF_INVALID
    assert [entry["why"] for entry in logs if entry["event"] == "commit asked again"] == ["COLLIDED"]
    assert await world.counts() == all_are(0)
    assert await proofs(superuser, world) == []


async def test_g15_an_envelope_that_cannot_be_kept_takes_the_commit_along(world: World, superuser: Superuser) -> None:
    # given a database that keeps no envelopes
    issued = await world.issued()
    plan = await plan_by(world, issued, envelope_of(world, issued))
    name = "alter table authority.upstream_proof {} constraint of_none {}"
    await superuser.execute(name.format("add", "check (false) not valid"))
    try:
        [outcome] = await asyncio.gather(world.carry_out(plan), return_exceptions=True)
    finally:
        await superuser.execute(name.format("drop", ""))

    # then nothing is written, nothing is burned, and the same commit succeeds when it can
    assert isinstance(outcome, asyncpg.CheckViolationError)
    assert await world.counts() == all_are(0)
    assert isinstance(await world.carry_out(plan), Committed)
    assert len(await proofs(superuser, world)) == 1
