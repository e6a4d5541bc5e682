"""Where the machine plays: one process of the service after another, over servers that outlive each of them."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from authority.domain.identity import Caller
from authority.domain.invocation import Call
from authority.domain.plan import Claim, CommitOutcome, CommitPlan, StoredReceipt
from authority.domain.refusal import Refusal
from authority.inprocess.leases import InProcessLeases
from authority.inprocess.nonces import InProcessNonces
from authority.inprocess.tables import Tables
from authority.usecases.authenticate import Authenticate, Shown
from authority.usecases.ports import Clock, Committer, Sighting, Statements
from capability_authority.offline import make_invocation, sha256
from capability_authority.v1 import types_pb2
from tests.model.notes import Told
from tests.world.authority import HERE, LEASE_MS, REPLAY_MS, Authority
from tests.world.clock import NumberedIds, SetClock
from tests.world.stores import OpenStore, Store, store_over
from tests.world.world import Person, World

METHOD = "/capability_authority.v1.CapabilityService/CommitValidated"
_COMMITTED = "memory.committed.v1"
BEFORE, AFTER = "before the commit function", "after COMMIT"


class ServiceDied(Exception):
    """The process is gone in the middle of a commit."""


@dataclass(slots=True)
class Mortal:
    """A committer whose process dies when it is told to: right before the database is asked, or before it hears."""

    committer: Committer
    dies: str = ""

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        """The outcome, unless the process is gone."""
        if self.dies == BEFORE:
            raise ServiceDied
        outcome = await self.committer.commit(plan, deadline)
        if self.dies == AFTER:
            raise ServiceDied
        return outcome

    async def commit_together(self, plans: Sequence[CommitPlan], deadline: float) -> list[CommitOutcome | Exception]:
        """The outcomes, unless the process is gone. What was known without the database cannot be interrupted there."""
        if plans and self.dies == BEFORE:
            raise ServiceDied
        outcomes = await self.committer.commit_together(plans, deadline)
        if plans and self.dies == AFTER:
            raise ServiceDied
        return outcomes


@dataclass(frozen=True, slots=True)
class Books:
    """What is stored of commits, each list in order."""

    consumed: list[str]
    """Ids of consumed capabilities."""
    receipts: list[tuple[str, str, str, bytes]]
    """Receipt, record, the capability that was consumed for them, and the signature over all its bytes."""
    records: list[tuple[str, str, bytes]]
    """Record, its receipt, and its content."""
    events: list[str]
    """The records of whose commit the outbox tells."""
    endings: list[tuple[str, str, int]]
    """What the outbox tells of records beside: record, type, and place among the record's events."""


class Stage(ABC):
    """A service that can be killed and started again. Its leases live for `lease_ms` of the clock that is set."""

    lease_ms: int | None = LEASE_MS

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = SetClock()
        self.ids = NumberedIds()
        self.world: World
        self.mortal: Mortal
        self._nonces = iter(range(2**32))

    async def begin(self) -> None:
        """The first process, and a new tenant."""
        self.world = await World.begin(await self._start())

    async def crash(self) -> None:
        """Loses the process with everything that was only there; another one starts and learns the keys."""
        await self._kill()
        authority = await self._start()
        authority.tenants.add(self.world.tenant)
        self.world = replace(self.world, authority=authority)
        await authority.learn_keys()

    async def knock(self, person: Person) -> Caller | Refusal:
        """Whether a call that the person signs now is let in."""
        tenant, ref = person.principal.tenant, person.ref
        proof = make_invocation(
            private_key=person.key,
            tenant=types_pb2.TenantRef(namespace=tenant.namespace, id=tenant.id),
            principal=types_pb2.PrincipalRef(namespace=ref.namespace, id=ref.id),
            audience=HERE.audience,
            method=METHOD,
            request_bytes=b"",
            nonce=next(self._nonces).to_bytes(16, "big"),
            issued_ms=self.clock.now(),
        )
        authority = self.world.authority
        authenticate = Authenticate(authority.reader, authority.store.registry, self.clock)
        return await authenticate(Shown(proofs=[proof]), Call(HERE.audience, METHOD, sha256(b""), is_read=False))

    def mortally(self, open_store: OpenStore, clock: Clock, statements: Statements) -> Store:
        """The store, with a committer that can die."""
        store = open_store(clock, statements)
        self.mortal = Mortal(store.committer)
        return replace(store, committer=self.mortal)

    @abstractmethod
    async def _start(self) -> Authority:
        """A new process."""

    @abstractmethod
    async def _kill(self) -> None:
        """Ends the process as kill -9 does."""

    @abstractmethod
    async def flush_redis(self) -> None:
        """Redis forgets everything."""

    @abstractmethod
    def books(self) -> Books:
        """What is stored of commits in this tenant."""

    @abstractmethod
    def audit(self) -> Counter[Told] | None:
        """What the audit log tells of this tenant and its keys; None where no log is kept."""

    async def end(self) -> None:
        """Lets go of the servers."""
        await self._kill()


@dataclass(slots=True)
class RedisOfDicts:
    """Leases and nonces that outlive the process and can be flushed."""

    clock: SetClock
    leases: InProcessLeases = field(init=False)
    nonces: InProcessNonces = field(init=False)

    def __post_init__(self) -> None:
        self.flush()

    def flush(self) -> None:
        """Forgets everything."""
        self.leases = InProcessLeases(self.clock, lease_ms=LEASE_MS, replay_ms=REPLAY_MS)
        self.nonces = InProcessNonces(self.clock)

    async def sight(self, claim: Claim) -> Sighting:
        """As `ports.Leases`."""
        return await self.leases.sight(claim)

    def take(self, claim: Claim, token: str) -> None:
        """As `ports.Leases`."""
        self.leases.take(claim, token)

    def settle(self, claim: Claim, token: str, receipt: StoredReceipt | None) -> None:
        """As `ports.Leases`."""
        self.leases.settle(claim, token, receipt)

    async def heard(self) -> None:
        """As `ports.Leases`."""
        await self.leases.heard()

    async def use(self, key_id: str, nonce: bytes) -> Refusal | None:
        """As `ports.Nonces`."""
        return await self.nonces.use(key_id, nonce)


OpenOverTables = Callable[[Tables, Clock, Statements], Store]


class InProcessStage(Stage):
    """Dicts for PostgreSQL and for Redis."""

    def __init__(self, folder: Path, open_store: OpenOverTables = store_over) -> None:
        super().__init__(folder)
        self.tables = Tables()
        self.redis = RedisOfDicts(self.clock)
        self._open_store = open_store

    async def _start(self) -> Authority:
        open_store = partial(self.mortally, partial(self._open_store, self.tables))
        return Authority.open(
            self.folder, open_store, clock=self.clock, ids=self.ids, leases=self.redis, nonces=self.redis
        )

    async def _kill(self) -> None:
        """Nothing holds on to anything."""

    async def flush_redis(self) -> None:
        """Redis forgets everything."""
        self.redis.flush()

    def books(self) -> Books:
        """What is stored of commits."""
        tables = self.tables
        return Books(
            consumed=sorted(it for (_, it), kept in tables.capabilities.items() if kept.state == "consumed"),
            receipts=sorted(
                (it, kept.stored.record_id, kept.capability_id, kept.stored.statement.signature)
                for (_, it), kept in tables.receipts.items()
            ),
            records=sorted(
                (it, kept.record.receipt_id, kept.record.content) for (_, it), kept in tables.records.items()
            ),
            events=sorted(it.record_id for it in tables.events if it.kind == _COMMITTED),
            endings=sorted((it.record_id, it.kind, it.sequence) for it in tables.events if it.kind != _COMMITTED),
        )

    def audit(self) -> None:
        """Dicts keep no log."""
