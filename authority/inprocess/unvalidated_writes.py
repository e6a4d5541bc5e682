"""The ports `UnvalidatedWrites` and `UnvalidatedReports`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from authority.domain.audit import AuditEvent
from authority.domain.record import Mode
from authority.domain.references import TenantRef
from authority.domain.refusal import Refusal
from authority.domain.unvalidated import UnvalidatedRecord, refuse_unvalidated
from authority.inprocess.events import Occasion, tell
from authority.inprocess.tables import KeptRecord, Tables
from authority.usecases.ports import NewUnvalidated, Observe, RequestMark, UnvalidatedCounts, WrittenUnvalidated


@dataclass(frozen=True, slots=True)
class InProcessUnvalidatedWrites:
    """Implements `ports.UnvalidatedWrites`. `source` is the name in events."""

    tables: Tables
    source: str

    async def write(self, mark: RequestMark, new: NewUnvalidated, observe: Observe) -> WrittenUnvalidated | Refusal:
        """The write, whole, between two awaits of others."""
        answered = self.tables.answered(mark, WrittenUnvalidated)
        if answered is not None:
            return answered if isinstance(answered, Refusal) else replace(answered, replayed=True)
        written = self._judged(new, observe)
        if isinstance(written, Refusal):
            return written
        self._keep(mark, new, written)
        return self.tables.answer(mark, WrittenUnvalidated(written, replayed=False))

    async def made_by(self, mark: RequestMark) -> WrittenUnvalidated | Refusal | None:
        """What this request wrote when it came before."""
        answered = self.tables.answered(mark, WrittenUnvalidated)
        return replace(answered, replayed=True) if isinstance(answered, WrittenUnvalidated) else answered

    def _judged(self, new: NewUnvalidated, observe: Observe) -> UnvalidatedRecord | Refusal:
        tables, record = self.tables, new.record
        namespace = tables.namespaces.get((record.tenant, record.memory_namespace))
        content = (record.tenant, record.memory_namespace, record.content_digest)
        refusal = refuse_unvalidated(
            namespace,
            is_writer_active=tables.active_principal(record.tenant, record.proposer) is not None,
            is_withdrawn=content in tables.tombstones,
        )
        if refusal:
            return refusal
        assert namespace is not None  # Absent, it was refused.
        if namespace.mode is not Mode.OBSERVE:
            return UnvalidatedRecord(record=record, mode=namespace.mode, observation=None)
        observation = observe(namespace, tables.policies[namespace.policy_version][1])
        if isinstance(observation, Refusal):
            return observation
        return UnvalidatedRecord(record=record, mode=namespace.mode, observation=observation)

    def _keep(self, mark: RequestMark, new: NewUnvalidated, written: UnvalidatedRecord) -> None:
        tables, record = self.tables, new.record
        key = (record.tenant, record.record_id)
        tables.records[key] = KeptRecord(record, tables.next_sequence())
        tables.unvalidated[key] = written
        occasion = Occasion(new.event_id, self.source, new.traceparent, record.create_time)
        tell(tables, record, "memory.unvalidated.v1", 1, occasion)
        tables.tell(_event(mark, written, "memory.write_unvalidated", ("", written.mode.value)))
        observation = written.observation
        if observation and observation.would_refuse:
            why = " ".join((*observation.validators[:8], *observation.policies[:8]))
            states = (why, observation.would_refuse.name)
            tables.tell(replace(_event(mark, written, "memory.would_refuse", states), costs=()))


@dataclass(frozen=True, slots=True)
class InProcessUnvalidatedReports:
    """Implements `ports.UnvalidatedReports`."""

    tables: Tables

    async def would_refuse(
        self, tenant: TenantRef, memory_namespace: str, *, after: str, size: int
    ) -> Sequence[UnvalidatedRecord]:
        """What enforcement would have refused."""
        found = [
            replace(it, record=replace(it.record, content=b""))
            for (_, record_id), it in sorted(self._of(tenant, memory_namespace), key=lambda kept: kept[0][1])
            if record_id > after and it.observation and it.observation.would_refuse
        ]
        return found[:size]

    async def count(self, tenant: TenantRef, memory_namespace: str) -> UnvalidatedCounts:
        """How many there are."""
        kept = [it for _, it in self._of(tenant, memory_namespace)]
        observed = [it.observation for it in kept if it.observation]
        return UnvalidatedCounts(
            legacy=len(kept) - len(observed),
            observed=len(observed),
            would_refuse=sum(it.would_refuse is not None for it in observed),
        )

    def _of(self, tenant: TenantRef, memory_namespace: str) -> list[tuple[tuple[TenantRef, str], UnvalidatedRecord]]:
        kept = self.tables.unvalidated.items()
        return [item for item in kept if (item[0][0], item[1].record.memory_namespace) == (tenant, memory_namespace)]


def _event(mark: RequestMark, written: UnvalidatedRecord, kind: str, states: tuple[str, str]) -> AuditEvent:
    record = written.record
    return mark.event(
        kind,
        record.record_id,
        states,
        record.create_time,
        correlation_id=record.correlation_id,
        costs=record.costs,
    )
