"""The stage on a real PostgreSQL and a real Valkey."""

from collections import Counter
from functools import partial
from pathlib import Path

import psycopg

from authority.domain.revocation import AUTHORITY_ITSELF
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.redis.connection import connect
from authority.redis.leases import RedisLeases
from authority.redis.link import RedisLink
from authority.redis.names import KeyNames
from authority.redis.nonces import RedisNonces
from authority.usecases.ports import DatabaseGeneration
from tests.model.notes import Told
from tests.model.stages import Books, Stage
from tests.redis_room import PATIENT
from tests.world.authority import LEASE_MS, REPLAY_MS, Authority
from tests.world.stores import postgres_store

_DATABASE_OF_OURS = 11
"""Of the sixteen that Valkey has: this one is flushed, and no other test's."""
_BOOKS = {
    "consumed": "select capability_id::text from authority.capability where tenant = %s and state = 'consumed'",
    "receipts": "select r.receipt_id::text, r.record_id::text, c.capability_id::text, r.signature"
    " from authority.commit_receipt r"
    " left join authority.capability c using (tenant, receipt_id) where tenant = %s",
    "records": "select record_id::text, receipt_id::text, content from authority.memory_record where tenant = %s",
    "events": "select case when o.payload #>> '{data,receiptId}' = r.receipt_id::text then o.aggregateid else '' end"
    " from authority.outbox o"
    " left join authority.memory_record r on r.tenant = o.tenant and r.record_id::text = o.aggregateid"
    " where o.tenant = %s and type = 'memory.committed.v1'",
    "endings": "select aggregateid, type, sequence from authority.outbox"
    " where tenant = %s and type <> 'memory.committed.v1'",
}
_AUDIT = """
select kind, actor, subject, next_state, count(*) from authority.audit_event
where tenant = %(tenant)s or (tenant = %(itself)s and subject in (
  select 'sha256:' || encode(key_id, 'hex') from authority.issuer_key where tenant = %(tenant)s))
group by kind, actor, subject, next_state
"""


class RealStage(Stage):
    """Each process has connections of its own; `postgres_url` is the superuser's, who sees behind the tenant wall."""

    lease_ms = None  # A lease ends by Valkey's own clock: for an example's few seconds, never.

    def __init__(self, folder: Path, postgres_url: str, redis_url: str) -> None:
        super().__init__(folder)
        self._postgres_url = postgres_url
        self._redis_url = f"{redis_url}/{_DATABASE_OF_OURS}"
        self._behind = psycopg.connect(postgres_url, autocommit=True)
        self._operator = connect(self._redis_url)
        self._databases: dict[Power, Database] = {}
        self._link: RedisLink

    async def begin(self) -> None:
        """The first process, and a new tenant."""
        await self.flush_redis()
        await super().begin()

    async def _start(self) -> Authority:
        for power in Power:
            pool = await connect_pool(PoolSettings(self._postgres_url, power, most=2))
            self._databases[power] = Database(pool)
        names = KeyNames(DatabaseGeneration("model", "1"))
        self._link = RedisLink(connect(self._redis_url), names, self.clock, PATIENT)
        return Authority.open(
            self.folder,
            partial(self.mortally, partial(postgres_store, self._databases)),
            clock=self.clock,
            ids=self.ids,
            leases=RedisLeases(self._link, names, lease_ms=LEASE_MS, replay_ms=REPLAY_MS),
            nonces=RedisNonces(self._link, names),
        )

    async def _kill(self) -> None:
        """Connections are cut, not closed."""
        for database in self._databases.values():
            database.pool.terminate()
        await self._link.aclose()

    async def flush_redis(self) -> None:
        """Redis forgets everything."""
        await self._operator.flushdb()

    def books(self) -> Books:
        """What is stored of commits."""
        tenant = (str(self.world.tenant),)
        found = {name: sorted(self._behind.execute(query, tenant)) for name, query in _BOOKS.items()}
        return Books(
            consumed=[row[0] for row in found["consumed"]],
            receipts=found["receipts"],
            records=found["records"],
            events=[row[0] for row in found["events"]],
            endings=found["endings"],
        )

    def audit(self) -> Counter[Told]:
        """What the audit log tells."""
        tenants = {"tenant": str(self.world.tenant), "itself": str(AUTHORITY_ITSELF)}
        rows = self._behind.execute(_AUDIT, tenants)
        return Counter({(kind, actor, subject, state): count for kind, actor, subject, state, count in rows})

    async def end(self) -> None:
        """Lets go of the servers."""
        await super().end()
        await self._operator.aclose()
        self._behind.close()
