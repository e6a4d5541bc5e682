"""What a commit makes of leases: they refuse another request early, and never say less than the database would."""

from dataclasses import replace
from pathlib import Path

import pytest

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from capability_authority.offline import sha256
from tests.world.authority import Authority
from tests.world.stores import inprocess_store
from tests.world.world import Presented, World, must

OTHER: Presented = {"content": b"other", "content_digest": sha256(b"other")}


@pytest.fixture
async def world(tmp_path: Path) -> World:
    return await World.begin(Authority.open(tmp_path / "keys", inprocess_store))


async def test_a18_a_key_that_runs_for_another_request_is_refused_without_asking_the_database(world: World) -> None:
    # given a process that died while it committed
    issued = await world.issued()
    world.authority.leases.take(world.plan(issued).claim, "of the dead")

    # then another request under its key is a conflict, and its own goes on
    assert await world.commit(issued, **OTHER) == Refusal(Reason.IDEMPOTENCY_CONFLICT)
    must(await world.commit(issued))


async def test_a15_a_lease_that_outlived_its_commit_does_not_hide_what_differs(world: World) -> None:
    # given a process that died after its commit and before it gave its lease back, and a retry of the same request
    issued = await world.issued()
    world.authority.leases.take(world.plan(issued).claim, "of the dead")
    must(await world.commit(issued))
    assert (await world.authority.leases.sight(world.plan(issued).claim)).running_fingerprint is not None

    # when another request comes under its key, then it is told in what it differs from the settled one
    assert await world.commit(issued, **OTHER) == Refusal(Reason.IDEMPOTENCY_CONFLICT, {"differs": "content_digest"})


async def test_a12_a_lease_of_one_holder_is_in_no_other_holders_way(world: World) -> None:
    issued = await world.issued(key="k")
    claim = replace(world.plan(issued).claim, holder=world.user.ref, fingerprint=bytes(32))
    world.authority.leases.take(claim, "of another")
    must(await world.commit(issued))
