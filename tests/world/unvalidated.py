"""Verbs of a world about memory that nobody validates, and the modes that take it."""

from authority.domain.proposal import MemoryType, Visibility
from authority.domain.recall import RecallQuery
from authority.domain.record import MemoryRecord, Mode
from authority.domain.references import TenantRef
from authority.domain.refusal import Refusal
from authority.usecases.paging import PageRequest
from authority.usecases.ports import WrittenUnvalidated
from authority.usecases.recall_records import RecallRequest
from authority.usecases.said_memory import SaidMemory
from authority.usecases.write_unvalidated import UnvalidatedRequest
from tests.world.membership import CREW
from tests.world.world import NAMESPACE, TRACE_ID, Person, World, must


async def set_mode(world: World, mode: Mode, namespace: str = NAMESPACE) -> None:
    """The operator sets the mode of a memory namespace."""
    await world.authority.store.administration.set_mode(world.tenant, namespace, mode, world.now())


async def write_unvalidated(  # noqa: PLR0913  # what a writer may say, by name
    world: World,
    content: bytes = b"Ann drinks tea",
    *,
    by: Person | None = None,
    request_id: str | None = None,
    namespace: str = NAMESPACE,
    tenant: TenantRef | None = None,
    memory_type: MemoryType = MemoryType.SNAPSHOT,
    visibility: Visibility | None = None,
    cites: tuple[str, ...] = (),
) -> WrittenUnvalidated | Refusal:
    """One call of WriteUnvalidatedRecord; by the service unless somebody else is named."""
    by = by or world.service
    request = UnvalidatedRequest(
        mark=world.mark(by, request_id, content, namespace, tenant, memory_type),
        tenant=tenant,
        memory_namespace=namespace,
        memory_type=memory_type,
        said=SaidMemory(
            content=content,
            media_type="text/plain",
            source_refs=("old/1", *(f"record:{it}" for it in cites)),
            subject_refs=(),
            visibility=visibility,
            visibility_scope=CREW.id if visibility is CREW.kind else "",
            valid_from_time=None,
            valid_until_time=None,
            record_expire_time=None,
            correlation_id="migration-1",
            costs=(),
        ),
        traceparent=f"00-{TRACE_ID}-00f067aa0ba902b7-01",
    )
    return await world.authority.do.write_unvalidated(by.calls(), request)


async def recalled(world: World, query: str = "tea", *, with_unvalidated: bool = False) -> list[MemoryRecord]:
    """What the user recalls."""
    asked = RecallQuery(memory_namespace=NAMESPACE, text=query, with_unvalidated=with_unvalidated)
    page = await world.authority.do.recall(world.user.calls(), RecallRequest(asked, PageRequest(20, ""), ""))
    return [hit.record for hit in must(page).items]
