"""The port `Likenesses`."""

from collections.abc import Iterator
from dataclasses import dataclass

from authority.domain.likeness import Traits, similarity_permille
from authority.domain.material import Alike, NearRecord
from authority.domain.record import MemoryRecord
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.inprocess.tables import Tables


@dataclass(frozen=True, slots=True)
class InProcessLikenesses:
    """Implements `ports.Likenesses`."""

    tables: Tables

    async def alike(
        self,
        tenant: TenantRef,
        memory_namespace: str,
        traits: Traits,
        *,
        reader: PrincipalRef,
        now: Instant,
        corrects: str = "",
    ) -> Alike:
        """Compares with every record of the memory namespace."""
        near, contradicted = [], []
        for record, other in self._compared(tenant, memory_namespace, reader, now, corrects):
            if set(traits.bands) & set(other.bands):
                near.append(NearRecord(record.record_id, similarity_permille(traits.signature, other.signature)))
            said = {(one.about, one.value) for one in traits.assertions}
            if any(one.about == about and one.value != value for one in other.assertions for about, value in said):
                contradicted.append(record.record_id)
        return Alike(tuple(near), tuple(contradicted))

    def _compared(
        self, tenant: TenantRef, memory_namespace: str, reader: PrincipalRef, now: Instant, corrects: str
    ) -> Iterator[tuple[MemoryRecord, Traits]]:
        for record in self.tables.visible_records(tenant, reader, now):
            if record.memory_namespace == memory_namespace and record.record_id != corrects:
                yield record, self.tables.traits.get((tenant, record.proposal_id, record.proposal_revision), Traits())
