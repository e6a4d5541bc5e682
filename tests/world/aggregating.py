"""Aggregates of a world: figures of others' memory that an operator lets its tenant ask for."""

from authority.domain.aggregate import Aggregate
from authority.domain.references import TenantRef
from tests.world.world import NAMESPACE, World

OTHERS = tuple(TenantRef("test", name) for name in ("one", "two", "three"))


def aggregate_of(world: World, name: str, *tenants: TenantRef, least: int = 3) -> Aggregate:
    """What the world's tenant may ask of these."""
    return Aggregate(
        tenant=world.tenant,
        name=name,
        memory_namespace=NAMESPACE,
        of_tenants=tenants,
        least_tenants=least,
        reviewed_by="Ada Harbour",
        review="minutes:2027-01-31",
    )


async def aggregated(world: World, name: str = "trends", *tenants: TenantRef, least: int = 3) -> Aggregate:
    """The same, once the operator has made it."""
    new = aggregate_of(world, name, *(tenants or OTHERS), least=least)
    await world.authority.store.aggregate_administration.add_aggregate(new, world.now())
    return new
