"""The port `Receipts`: what every store keeps to."""

import pytest

from authority.domain.identity import PrincipalKind
from authority.domain.plan import StoredReceipt
from authority.domain.statement import KeyPurpose
from authority.usecases.ports import Receipts
from tests.world.world import NAMESPACE, PERMIT_ALL, World, must

NO_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"


@pytest.fixture
def receipts(world: World) -> Receipts:
    return world.authority.store.receipts


async def page(world: World, **asked: object) -> list[StoredReceipt]:
    """A page with these filters, and no others."""
    filters = {"memory_namespace": NAMESPACE, "holder": None, "after": "", "size": 50} | asked
    return list(await world.authority.store.receipts.page(world.tenant, **filters))  # type: ignore[arg-type]


async def test_c13_a_receipt_is_found_by_its_id_its_record_and_its_key_byte_for_byte(
    world: World, receipts: Receipts
) -> None:
    # given a committed capability
    issued, answer = await world.committed(key="k")
    committed = answer.receipt

    # then each way leads to the same bytes, which still verify
    assert await receipts.by_receipt(world.tenant, committed.receipt_id) == committed
    assert await receipts.by_record(world.tenant, committed.record_id) == committed
    found = await receipts.by_key(world.tenant, world.service.ref, "k")
    assert found == committed
    reader = world.authority.reader
    assert reader.judge_signature(found.statement, KeyPurpose.RECEIPT, world.tenant, NAMESPACE) is None
    assert must(reader.open_receipt(found.statement)).capability == issued.capability.terms


async def test_g02_what_is_absent_or_another_tenants_is_absent(world: World, receipts: Receipts) -> None:
    # given a receipt next door, and one here under the same key of a holder of the same name
    neighbour = await world.neighbour()
    _, theirs = await neighbour.committed(key="k")
    _, mine = await world.committed(key="k")

    # then no id of theirs, and none of nobody's, leads to anything here
    for receipt_id in (NO_ID, theirs.receipt.receipt_id):
        assert await receipts.by_receipt(world.tenant, receipt_id) is None
    for record_id in (NO_ID, theirs.receipt.record_id):
        assert await receipts.by_record(world.tenant, record_id) is None
    assert await receipts.by_key(world.tenant, world.service.ref, "k") == mine.receipt
    assert await receipts.by_key(neighbour.tenant, world.service.ref, "k") == theirs.receipt


async def test_a12_a_key_is_its_holders_own_byte_for_byte(world: World, receipts: Receipts) -> None:
    await world.committed(key="k")
    assert await receipts.by_key(world.tenant, world.user.ref, "k") is None
    assert await receipts.by_key(world.tenant, world.service.ref, "K") is None


async def test_pages_go_on_after_the_last_id_in_the_order_of_ids_and_end(world: World) -> None:
    committed = [(await world.committed())[1].receipt for _ in range(5)]
    await (await world.neighbour()).committed()
    assert await page(world) == committed
    assert await page(world, size=2) == committed[:2]
    assert await page(world, after=committed[1].receipt_id, size=2) == committed[2:4]
    assert await page(world, after=committed[3].receipt_id, size=2) == committed[4:]
    assert await page(world, after=committed[4].receipt_id) == []


async def test_g01_a_page_is_of_one_memory_namespace_and_of_one_holder_if_one_is_named(world: World) -> None:
    await world.make_namespace("ledger", PERMIT_ALL)
    other = await world.register(PrincipalKind.SERVICE, "other")
    _, mine = await world.committed()
    _, others = await world.committed(holder=other)
    _, in_ledger = await world.committed(memory_namespace="ledger")
    assert await page(world) == [mine.receipt, others.receipt]
    assert await page(world, holder=other.ref) == [others.receipt]
    assert await page(world, memory_namespace="ledger") == [in_ledger.receipt]
    assert await page(world, memory_namespace="ledger", holder=other.ref) == []
    assert await page(world, memory_namespace="") == []
