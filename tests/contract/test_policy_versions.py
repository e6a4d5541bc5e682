"""The port `PolicyVersions`, and who is told what decides."""

import pytest

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.policy.bundle import bundle_version, default_bundle
from tests.world.world import NAMESPACE, PERMIT_ALL, World, must, reason_of

DEFAULT = bundle_version(default_bundle())


async def test_a_bundle_is_told_with_where_it_decides(world: World) -> None:
    found = must(await world.authority.do.get_policy_version(world.service.calls(), DEFAULT))

    assert (found.version, found.bundle, found.active_in) == (DEFAULT, default_bundle(), (NAMESPACE,))
    assert found.load_time <= world.now()


async def test_a_bundle_that_decided_once_is_told_for_ever(world: World) -> None:
    # given a bundle that decided, and another since
    await world.decide(await world.validated())
    version = await world.load(PERMIT_ALL)
    administration = world.authority.store.administration
    await administration.activate_policy(world.tenant, NAMESPACE, version, world.now())

    # then both are told, and where they decide now
    found = [must(await world.authority.do.get_policy_version(world.service.calls(), it)) for it in (DEFAULT, version)]
    assert [it.active_in for it in found] == [(), (NAMESPACE,)]


async def test_g02_a_bundle_that_decides_in_other_tenants_alone_is_answered_like_one_that_is_not_there(
    world: World,
) -> None:
    # given a bundle that decides in a neighbour's memory namespace, and one that is loaded and decides nowhere
    neighbour = await world.neighbour()
    theirs = await world.load(PERMIT_ALL + f"// of {world.tenant} and its neighbour\n")
    administration = world.authority.store.administration
    await administration.activate_policy(neighbour.tenant, NAMESPACE, theirs, world.now())
    idle = await world.load(PERMIT_ALL + f"// idle beside {world.tenant}\n")

    answers = [
        await world.authority.do.get_policy_version(world.service.calls(), it) for it in (theirs, idle, bytes(32))
    ]

    assert answers == [Refusal(Reason.NOT_FOUND)] * 3


@pytest.mark.parametrize(("who", "told"), [("agent", False), ("observer", False), ("user", True), ("service", True)])
async def test_a_bundle_is_told_to_who_asks_policy_judges_proposals_or_is_admin(
    world: World,
    who: str,
    told: bool,  # noqa: FBT001
) -> None:
    answer = await world.authority.do.get_policy_version(getattr(world, who).calls(), DEFAULT)

    assert reason_of(answer) == (None if told else Reason.NOT_ALLOWED)
