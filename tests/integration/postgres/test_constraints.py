"""Every named constraint is tripped, and says its name."""

import json

import asyncpg
import pytest

from authority.domain.record import Mode
from authority.domain.tally import Counted, minute_of
from tests.integration.postgres.constraints import TRIPS, Trip
from tests.integration.postgres.parking import park_oldest_event
from tests.integration.postgres.superuser import Superuser
from tests.world.aggregating import aggregated
from tests.world.authority import Authority
from tests.world.clock import LATE
from tests.world.enveloping import proven_by_envelope
from tests.world.evidence import kept
from tests.world.external import configured
from tests.world.granting import Granting
from tests.world.guarded import LEAKED, LONG, judged, make_guarded
from tests.world.identities import TOKEN, bind, link
from tests.world.interop import named_and_reserved
from tests.world.membership import CREW, join
from tests.world.reviewing import approved_for_two_decisions
from tests.world.unvalidated import set_mode, write_unvalidated
from tests.world.world import World, must


@pytest.fixture(scope="module")
async def good_rows(authority: Authority) -> World:
    """A row in every table: an approved proposal, an unused capability, a tombstone, a token, a membership."""
    world = await World.begin(authority)
    issued, answer = await world.committed(by=world.agent)
    await world.issued()
    await world.authority.store.behind.bury(world.tenant, "elsewhere", issued.ground.revision.content_digest)
    must(await world.revoke(await world.issued()))
    await world.authority.store.refusals.add({Counted(world.tenant, minute_of(LATE), world.service.ref, "EXPIRED"): 1})
    await park_oldest_event(world)
    must(await world.cite(answer.receipt.record_id, "answer 1"))
    await join(world, world.user, CREW)
    await used_grants(world)
    await aggregated(world)
    await world.authority.store.stream_nonces.use(world.tenant, world.service.key_id, bytes(16))
    await named_and_reserved(world)
    await proven_by_envelope(world)
    await kept(world, b"a log")
    await make_guarded(world)
    await judged(world, f'{{"predicate":"said","value":"{LONG}"}}', media_type="application/json")
    await judged(world, LEAKED)
    await bind(world, world.service, TOKEN)
    await link(world, world.agent, world.user)
    await approved_for_two_decisions(world)
    await set_mode(world, Mode.OBSERVE)
    must(await write_unvalidated(world))
    await configured(world)
    correction = must(await world.correct((await world.committed())[1].receipt.record_id))
    must(await world.commit(await world.issued_on(await world.allow(correction))))
    return world


async def used_grants(world: World) -> None:
    """A root and a child, each used once, to issue for a proposal without costs; one to propose; and a revoked one."""
    granting = Granting(world)
    root = await granting.issued(world.service)
    await granting.issued_under(granting.delegated(root, world.service))
    to_propose = await granting.issued(world.agent, subject=world.user.ref, actions=("memory.propose",))
    must(await world.propose(by=world.agent, grant=to_propose.alone))
    must(await granting.revoke(await granting.issued(world.service)))


@pytest.mark.parametrize("name", TRIPS)
async def test_the_constraint_is_tripped(superuser: Superuser, good_rows: World, name: str) -> None:
    with pytest.raises(asyncpg.IntegrityConstraintViolationError) as caught:
        await superuser.execute(copying(TRIPS[name]), json.dumps(TRIPS[name].changes))
    assert caught.value.constraint_name == name


async def test_every_constraint_of_the_schema_is_tripped(superuser: Superuser) -> None:
    # given what the database knows: constraints, and unique indexes that stand for none
    found = await superuser.fetch(
        """
        select conname from pg_constraint
        where connamespace = 'authority'::regnamespace and contype in ('c', 'f', 'p', 'u')
        union
        select indexrelid::regclass::text from pg_index
        join pg_class c on c.oid = indexrelid
        where c.relnamespace = 'authority'::regnamespace and indisunique
          and not exists (select 1 from pg_constraint where conindid = indexrelid)
        """
    )
    assert {row["conname"].removeprefix("authority.") for row in found} == TRIPS.keys()


async def test_every_key_begins_with_the_tenant(superuser: Superuser) -> None:
    # given the keys, unique constraints and foreign keys of every table but the two that belong to no tenant
    found = await superuser.fetch(
        """
        select k.conname, a.attname from pg_constraint k
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
        where k.connamespace = 'authority'::regnamespace and k.contype in ('f', 'p', 'u')
          and k.conrelid not in ('authority.policy_version'::regclass, 'authority.issuer_key'::regclass)
          and k.confrelid <> 'authority.policy_version'::regclass
        """
    )
    assert {row["conname"] for row in found if row["attname"] != "tenant"} == set()
    assert len(found) > 20


def copying(trip: Trip) -> str:
    """Inserts a copy of a row with the changes of $1."""
    return f"""
        insert into authority.{trip.table} overriding system value
        select (jsonb_populate_record(original, $1::jsonb)).* from authority.{trip.table} original
        where {trip.copied} limit 1
        """  # noqa: S608 - names of our own
