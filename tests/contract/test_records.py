"""The port `Records`: what every store keeps to."""

from typing import Unpack

import pytest

from authority.domain.proposal import Visibility
from authority.domain.record import MemoryRecord
from authority.domain.references import HOUR, PrincipalRef, after
from authority.usecases.ports import Records
from tests.world.membership import CREW, PORT, join, of_visibility
from tests.world.world import NAMESPACE, PERMIT_ALL, Said, World


@pytest.fixture
def records(world: World) -> Records:
    return world.authority.store.records


async def recorded(world: World, content: bytes | None = None, **said: Unpack[Said]) -> str:
    """The id of a record of the user's that says this."""
    _, answer = await world.committed(content, **said)
    return answer.receipt.record_id


async def seen(world: World, record_id: str, reader: PrincipalRef | None = None) -> bool:
    """Whether the reader, the agent unless named, gets the record and finds it on a page: both or neither."""
    reader = reader or world.agent.ref
    found = await world.authority.store.records.get(world.tenant, record_id, reader, world.now())
    listed = record_id in [record.record_id for record in await page(world, reader=reader)]
    assert (found is not None) == listed
    return listed


async def page(world: World, **asked: object) -> list[MemoryRecord]:
    """A page for the agent with these filters, and no others."""
    filters = {
        "memory_namespace": NAMESPACE,
        "reader": world.agent.ref,
        "after": "",
        "size": 50,
        "now": world.now(),
    } | asked
    return list(await world.authority.store.records.page(world.tenant, **filters))  # type: ignore[arg-type]


@pytest.mark.parametrize("visibility", Visibility)
async def test_a_record_is_seen_by_whom_it_is_for_and_by_no_stranger(world: World, visibility: Visibility) -> None:
    # given a record of each visibility, its proposer in the scopes that are named
    await join(world, world.user, CREW, PORT)
    record_id = await recorded(world, **of_visibility(visibility))
    # then its proposer sees it, others what is the workspace's, and whoever is no principal of the tenant nothing
    assert await seen(world, record_id, world.user.ref)
    assert await seen(world, record_id, world.agent.ref) is (visibility is Visibility.WORKSPACE)
    assert not await seen(world, record_id, PrincipalRef("other", "user"))


async def test_a_record_is_valid_from_its_begin_until_before_its_end(world: World) -> None:
    record_id = await recorded(
        world, valid_from_time=after(world.now(), HOUR), valid_until_time=after(world.now(), 3 * HOUR)
    )
    seen_then = []
    for shift in (0, HOUR - 1, 1, 2 * HOUR - 1, 1):
        world.authority.clock.advance(shift)
        seen_then.append(await seen(world, record_id))
    assert seen_then == [False, False, True, True, False]


async def test_a_record_is_gone_at_its_expiry(world: World) -> None:
    record_id = await recorded(world, record_expire_time=after(world.now(), HOUR))
    assert await seen(world, record_id)
    world.authority.clock.advance(HOUR - 1)
    assert await seen(world, record_id)
    world.authority.clock.advance(1)
    assert not await seen(world, record_id)
    assert not await seen(world, record_id, world.user.ref)


async def test_g05_withdrawn_content_is_gone_at_once_and_its_receipt_stays(world: World) -> None:
    # given a record, and other content beside it
    issued, answer = await world.committed()
    other = await recorded(world)
    record_id = answer.receipt.record_id
    assert await seen(world, record_id)

    # when its content is withdrawn, then it is gone for everyone, and the receipt is history
    await world.authority.store.behind.bury(world.tenant, NAMESPACE, issued.ground.revision.content_digest)
    assert not await seen(world, record_id)
    assert not await seen(world, record_id, world.user.ref)
    assert await seen(world, other)
    receipts = world.authority.store.receipts
    assert await receipts.by_record(world.tenant, record_id) == answer.receipt


async def test_g07_content_decided_anew_is_a_record_of_its_own(world: World) -> None:
    # given withdrawn content
    issued, answer = await world.committed()
    content = issued.ground.proposal.content
    await world.authority.store.behind.bury(world.tenant, NAMESPACE, issued.ground.revision.content_digest)

    # when it is proposed and decided again, then the new record is seen, and the old one stays away
    again = await recorded(world, content)
    assert await seen(world, again)
    assert not await seen(world, answer.receipt.record_id)


async def test_g02_another_tenants_record_is_absent(world: World, records: Records) -> None:
    neighbour = await world.neighbour()
    theirs = await recorded(neighbour)
    assert await records.get(world.tenant, theirs, world.user.ref, world.now()) is None
    assert await page(world) == []


async def test_g01_a_page_is_of_one_memory_namespace(world: World) -> None:
    await world.make_namespace("ledger", PERMIT_ALL)
    mine, in_ledger = await recorded(world), await recorded(world, memory_namespace="ledger")
    assert [record.record_id for record in await page(world)] == [mine]
    assert [record.record_id for record in await page(world, memory_namespace="ledger")] == [in_ledger]
    assert await page(world, memory_namespace="") == []


async def test_pages_go_on_after_the_last_id_in_the_order_of_ids_and_end(world: World) -> None:
    # given five records, of which the reader must not see the third
    ids = [
        await recorded(world, visibility=Visibility.PRIVATE if number == 2 else Visibility.WORKSPACE)
        for number in range(5)
    ]
    visible = [ids[0], ids[1], ids[3], ids[4]]

    # then pages are full of what can be seen, and the filter comes before the limit
    assert [record.record_id for record in await page(world, size=3)] == visible[:3]
    assert [record.record_id for record in await page(world, size=3, after=visible[2])] == visible[3:]
    assert await page(world, after=visible[3]) == []
