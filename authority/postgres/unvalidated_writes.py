"""Records that are written without validation, each in one transaction by a function with rights of its own."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from authority.domain.reasons import Reason
from authority.domain.record import MemoryNamespace, MemoryRecord, Mode
from authority.domain.references import TenantRef
from authority.domain.refusal import Refusal
from authority.domain.search_text import SearchText
from authority.domain.unvalidated import Observation, UnvalidatedRecord, unvalidated_refusal
from authority.postgres import rows
from authority.postgres.connections import Connection, Database, Refused
from authority.postgres.proposals import FIRST_ID, searched_text
from authority.postgres.relay_wake import RelayWake
from authority.postgres.requests import claim_request, find_request
from authority.postgres.sql import query
from authority.usecases.ports import NewUnvalidated, Observe, RequestMark, UnvalidatedCounts, WrittenUnvalidated


@dataclass(frozen=True, slots=True)
class PostgresUnvalidatedWrites:
    """Implements `ports.UnvalidatedWrites`.

    `source` names this authority in events; `relay` is woken after a write, when given. What was begun for a caller who
    went away goes on, and `close` waits for it.
    """

    database: Database
    source: str
    relay: RelayWake | None = None
    running: "set[asyncio.Task[WrittenUnvalidated | Refusal]]" = field(default_factory=set)

    async def write(self, mark: RequestMark, new: NewUnvalidated, observe: Observe) -> WrittenUnvalidated | Refusal:
        """The write in a task of its own: its caller may go, and it is committed, or not, all the same."""
        task = asyncio.create_task(self._write(mark, new, observe))
        self.running.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    async def made_by(self, mark: RequestMark) -> WrittenUnvalidated | Refusal | None:
        """What this request wrote when it came before."""

        async def work(connection: Connection) -> WrittenUnvalidated | None:
            earlier = await find_request(connection, mark)
            return await _written_first(connection, mark.tenant, earlier) if earlier else None

        return await self.database.attempt(mark.tenant, work)

    async def close(self) -> None:
        """Waits for what is under way."""
        if self.running:
            await asyncio.wait(self.running)

    def _ended(self, task: "asyncio.Task[WrittenUnvalidated | Refusal]") -> None:
        self.running.discard(task)
        if not task.cancelled():
            # The caller may be gone, and nobody else asks: an exception that nobody takes is no news of the log's.
            task.exception()

    async def _write(self, mark: RequestMark, new: NewUnvalidated, observe: Observe) -> WrittenUnvalidated | Refusal:
        """Mode, bundle and tombstones are read once the tenant's lock is shared: no withdrawal comes between.

        When the connection is lost during COMMIT it may have happened: the same request id finds out.
        """
        record = new.record
        searched = await searched_text(record.content, record.media_type)

        async def work(connection: Connection) -> WrittenUnvalidated:
            await connection.execute(query("share_tenant_lock"), str(mark.tenant))
            earlier = await claim_request(connection, mark, record.record_id, record.create_time)
            if earlier:
                return await _written_first(connection, mark.tenant, earlier)
            namespace, observation = await _observed(connection, new, observe)
            reason = await self._insert(connection, new, searched, namespace.mode, observation)
            if reason:
                raise Refused(unvalidated_refusal(Reason[reason]))
            return WrittenUnvalidated(
                UnvalidatedRecord(record=record, mode=namespace.mode, observation=observation), replayed=False
            )

        answer = await self.database.attempt(mark.tenant, work)
        if self.relay and isinstance(answer, WrittenUnvalidated) and not answer.replayed:
            self.relay.wake()
        return answer

    async def _insert(
        self,
        connection: Connection,
        new: NewUnvalidated,
        searched: SearchText,
        mode: Mode,
        observation: Observation | None,
    ) -> str | None:
        record = new.record
        reason: str | None = await connection.fetchval(
            query("write_unvalidated"),
            str(record.tenant),
            str(record.proposer),
            record.record_id,
            record.memory_namespace,
            record.memory_type.value,
            record.provenance.value,
            record.content,
            record.content_digest,
            record.media_type,
            list(record.source_refs),
            list(record.subject_refs),
            record.visibility.value,
            record.visibility_scope,
            record.valid_from_time,
            record.valid_until_time,
            record.expire_time,
            record.correlation_id,
            rows.cost_documents(record.costs),
            searched.said,
            searched.names,
            new.event_id,
            self.source,
            new.traceparent,
            record.create_time,
            mode.value,
            *_columns(observation),
        )
        return reason


@dataclass(frozen=True, slots=True)
class PostgresUnvalidatedReports:
    """Implements `ports.UnvalidatedReports`."""

    database: Database

    async def would_refuse(
        self, tenant: TenantRef, memory_namespace: str, *, after: str, size: int
    ) -> Sequence[UnvalidatedRecord]:
        """What enforcement would have refused."""
        key = (str(tenant), memory_namespace, after or FIRST_ID, size)
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(query("unvalidated_that_would_be_refused"), *key)
        return [_written(row) for row in found]

    async def count(self, tenant: TenantRef, memory_namespace: str) -> UnvalidatedCounts:
        """How many there are."""
        async with self.database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("unvalidated_counts"), str(tenant), memory_namespace)
        assert row is not None  # It is an aggregate.
        return UnvalidatedCounts(**row)


async def _observed(
    connection: Connection, new: NewUnvalidated, observe: Observe
) -> tuple[MemoryNamespace, Observation | None]:
    """The memory namespace as it is now, and what enforcement would say there when it is observed."""
    key = (str(new.record.tenant), new.record.memory_namespace)
    row = await connection.fetchrow(query("bundle_of_namespace"), *key)
    if row is None:
        raise Refused(unvalidated_refusal(Reason.NOT_FOUND))
    namespace = rows.memory_namespace(row)
    if namespace.mode is not Mode.OBSERVE or namespace.privileged:
        return namespace, None
    observation = observe(namespace, row["bundle"])
    if isinstance(observation, Refusal):
        raise Refused(observation)
    return namespace, observation


async def _written_first(connection: Connection, tenant: TenantRef, record_id: str) -> WrittenUnvalidated:
    row = await connection.fetchrow(query("unvalidated_by_id"), str(tenant), record_id)
    if row is None:
        raise Refused(Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"}))
    return WrittenUnvalidated(_written(row), replayed=True)


def _columns(observation: Observation | None) -> tuple[object, ...]:
    if observation is None:
        return (None, [], [], "", "", None)
    return (
        observation.would_refuse.name if observation.would_refuse else "",
        list(observation.validators),
        list(observation.policies),
        observation.validator_profile,
        observation.validator_profile_version,
        observation.policy_version,
    )


def _written(row: rows.Row) -> UnvalidatedRecord:
    record: MemoryRecord = rows.memory_record(row)
    observation = None
    if row["would_refuse"] is not None:
        observation = Observation(
            would_refuse=Reason[row["would_refuse"]] if row["would_refuse"] else None,
            validators=tuple(row["validators"]),
            policies=tuple(row["policies"]),
            validator_profile=row["validator_profile"],
            validator_profile_version=row["validator_profile_version"],
            policy_version=row["policy_version"],
        )
    return UnvalidatedRecord(record=record, mode=Mode(row["mode"]), observation=observation)
