"""Every span, metric and attribute by name, in one list: what is not here cannot be told.

Names are OpenTelemetry's, with dots; Prometheus shows them with underscores, the unit, and `_total` after counters.
No label has more values than the contract, the configuration or the code name: never a tenant, a principal or an id,
of which strangers could make any number (case G16). Attributes of spans hold ids, and never content, statements,
request bytes, secrets or the text of a database statement (semantics §9).
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final


class SpanKind(Enum):
    """OpenTelemetry's kinds, by its names."""

    SERVER = "SERVER"
    INTERNAL = "INTERNAL"
    CLIENT = "CLIENT"
    PRODUCER = "PRODUCER"


@dataclass(frozen=True, slots=True)
class Attribute:
    """What may be said of a span."""

    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of work. `{}` in a name stands for a word of the code or the contract, never for a caller's."""

    name: str
    kind: SpanKind
    meaning: str

    def of(self, word: str) -> "Span":
        """The span of one of the words that the name stands for."""
        return Span(self.name.format(word), self.kind, self.meaning)


class MetricKind(Enum):
    """What the numbers do."""

    COUNTER = "counter"
    """They only grow, from the start of the process."""
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """A number, or one for each combination of the labels. `unit` is UCUM's, as OpenTelemetry asks; '' for counts."""

    name: str
    kind: MetricKind
    meaning: str
    labels: tuple[str, ...] = ()
    unit: str = ""
    buckets: tuple[float, ...] = ()
    """Upper bounds, of a histogram."""

    @property
    def in_prometheus(self) -> str:
        """The name there; a histogram's has `_bucket`, `_sum` and `_count` after it."""
        name = self.name.replace(".", "_") + ("_seconds" if self.unit == "s" else "")
        return f"{name}_total" if self.kind is MetricKind.COUNTER else name


# --- attributes ------------------------------------------------------------------------------------------------------

RPC_SYSTEM: Final = Attribute("rpc.system", "always `grpc`")
RPC_METHOD: Final = Attribute("rpc.method", "the full name of the RPC, `package.Service/Method`")
USER_AGENT: Final = Attribute("user_agent.original", "what the client says of its version and its contract")
RPC_CODE: Final = Attribute("rpc.response.status_code", "the status code by its name")
REASON: Final = Attribute("authority.reason", "why it was refused; a refusal is no error")
INCIDENT: Final = Attribute("authority.incident_id", "the id under which the log says what went wrong")
TENANT: Final = Attribute("authority.tenant", "the caller's tenant, once the caller is known")
PRINCIPAL: Final = Attribute("authority.principal", "the caller, once it is known")
ITEMS: Final = Attribute("authority.items", "how many items a batch or a gathered call has")
REFUSED_ITEMS: Final = Attribute("authority.refused_items", "how many of a batch's items were refused")
REPLAYED: Final = Attribute("authority.replayed", "whether the first result was answered again")
RECEIPT: Final = Attribute("authority.receipt_id", "the receipt, once its commit is known")
RECORD: Final = Attribute("authority.record_id", "the memory record, once its commit is known")
CAPABILITY: Final = Attribute("authority.capability_id", "the capability that was issued")
DATABASE: Final = Attribute("db.system.name", "`postgresql` or `redis`")
ENDED_BY: Final = Attribute("authority.ended_by", "the class of the exception that left it, never its text")
ERROR_KIND: Final = Attribute("error.type", "of a span that is an error: the status code, or the class of the fault")
EVENT: Final = Attribute("authority.event_id", "the outbox event: the same however often it is delivered")
EVENT_TYPE: Final = Attribute("authority.event_type", "for example `memory.committed.v1`")

ATTRIBUTES: Final = (
    RPC_SYSTEM,
    RPC_METHOD,
    USER_AGENT,
    RPC_CODE,
    REASON,
    INCIDENT,
    TENANT,
    PRINCIPAL,
    ITEMS,
    REFUSED_ITEMS,
    REPLAYED,
    RECEIPT,
    RECORD,
    CAPABILITY,
    DATABASE,
    ENDED_BY,
    ERROR_KIND,
    EVENT,
    EVENT_TYPE,
)

# --- spans -----------------------------------------------------------------------------------------------------------

RPC: Final = Span("{}", SpanKind.SERVER, "one call, named as its RPC; the caller's span is its parent")
USE_CASE: Final = Span("use case {}", SpanKind.INTERNAL, "what the RPC asks for, for example `use case commit`")
STREAM_ITEM: Final = Span("stream item", SpanKind.INTERNAL, "one item of a stream, from its reading to its outcome")
GATHER_WAIT: Final = Span(
    "wait for {}",
    SpanKind.INTERNAL,
    "what one caller waits for a gathered call; linked to the calls that carried it",
)
GATHERED_CALL: Final = Span(
    "gathered {}",
    SpanKind.INTERNAL,
    "one call for many callers: in the trace of the first of them, and linked to the waits of all",
)
DATABASE_CALL: Final = Span("postgresql {}", SpanKind.CLIENT, "a function, a transaction or a statement of PostgreSQL")
REDIS_ASK: Final = Span("redis {}", SpanKind.CLIENT, "a command whose reply is waited for, with its wait for its turn")
PUBLISH: Final = Span("publish {}", SpanKind.PRODUCER, "an event on its way to the sink, in the trace of its commit")
DELIVERY: Final = Span(
    "deliver events",
    SpanKind.CLIENT,
    "one batch at the sink: in the trace of its first event, and linked with the publishing of all",
)

SPANS: Final = (RPC, USE_CASE, STREAM_ITEM, GATHER_WAIT, GATHERED_CALL, DATABASE_CALL, REDIS_ASK, PUBLISH, DELIVERY)

# --- metrics ---------------------------------------------------------------------------------------------------------

_COUNTER, _GAUGE, _HISTOGRAM = MetricKind.COUNTER, MetricKind.GAUGE, MetricKind.HISTOGRAM
_SECONDS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_ITEMS: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)

COMMITS: Final = Metric(
    "authority.commits",
    _COUNTER,
    "Commits that were asked for, alone, in batches and on streams: `outcome` is committed, replayed, conflict,"
    " refused or failed, and `reason` why",
    ("outcome", "reason"),
)
ISSUES: Final = Metric(
    "authority.issues",
    _COUNTER,
    "Capabilities that were asked for: `outcome` is issued, replayed, conflict, refused or failed, and `reason` why",
    ("outcome", "reason"),
)
REFUSALS: Final = Metric(
    "authority.refusals",
    _COUNTER,
    "Calls that were refused, and items of batches and streams, with those of callers who proved nothing",
    ("method", "reason"),
)
RPC_DURATION: Final = Metric(
    "authority.rpc.duration",
    _HISTOGRAM,
    "How long calls took here, from their first byte to their answer; a stream's life is not a duration",
    ("method", "code"),
    "s",
    _SECONDS,
)
STREAMS_OPEN: Final = Metric("authority.streams.open", _GAUGE, "Streams that are open in this process")
GATHERING_WAITING: Final = Metric(
    "authority.gathering.waiting", _GAUGE, "Items that wait for a gathered call, or are in one", ("gathering",)
)
GATHERING_WAIT: Final = Metric(
    "authority.gathering.wait",
    _HISTOGRAM,
    "How long the first item of each gathered call had waited for it",
    ("gathering",),
    "s",
    _SECONDS,
)
GATHERING_ITEMS: Final = Metric(
    "authority.gathering.items", _HISTOGRAM, "Items in each gathered call", ("gathering",), buckets=_ITEMS
)
GATHERING_CALL: Final = Metric(
    "authority.gathering.call.duration",
    _HISTOGRAM,
    "How long gathered calls took, connection and database together",
    ("gathering",),
    "s",
    _SECONDS,
)
GATHERING_AGAIN: Final = Metric(
    "authority.gathering.again",
    _COUNTER,
    "Items that had to be asked again: `why` is BUSY, COLLIDED, AWAY or UNKNOWN",
    ("gathering", "why"),
)
CONNECTIONS: Final = Metric(
    "authority.database.connections",
    _GAUGE,
    "Connections to PostgreSQL by role: `state` is used or idle",
    ("power", "state"),
)
CONNECTIONS_MOST: Final = Metric(
    "authority.database.connections.most", _GAUGE, "How many connections this process may open by role", ("power",)
)
REDIS_AVAILABLE: Final = Metric("authority.redis.available", _GAUGE, "1 while Redis is used, 0 while it is left alone")
REDIS_FAILURES: Final = Metric("authority.redis.failures", _COUNTER, "Round trips to Redis that failed")
REDIS_UNANSWERED: Final = Metric(
    "authority.redis.unanswered", _COUNTER, "Commands that were answered as if there were no Redis"
)
LEASES: Final = Metric(
    "authority.leases",
    _COUNTER,
    "Leases by what was told to Redis: `act` is taken, or settled: given back, or found settled",
    ("act",),
)
OUTBOX_PENDING: Final = Metric(
    "authority.outbox.pending",
    _GAUGE,
    "Events that are not delivered yet; told by relays alone, so that its absence says that none runs",
)
OUTBOX_AGE: Final = Metric(
    "authority.outbox.age", _GAUGE, "How long the oldest of them has waited; 0 when none waits", unit="s"
)
OUTBOX_PARKED: Final = Metric(
    "authority.outbox.parked", _GAUGE, "Events that were given up, and hold back those of their record"
)
DELIVERIES: Final = Metric(
    "authority.outbox.deliveries",
    _COUNTER,
    "Events by what became of them: `outcome` is delivered, refused by the sink, parked, or lost: claimed by another"
    " relay before they were marked, and so perhaps delivered twice",
    ("outcome",),
)
KEYS: Final = Metric(
    "authority.keys", _GAUGE, "Issuer keys by purpose and state, as this process knows them", ("purpose", "state")
)
KEY_AGE: Final = Metric(
    "authority.key.age",
    _GAUGE,
    "The age of the oldest key that still signs, by purpose",
    ("purpose",),
    "s",
)
CLOCK_DIFFERENCE: Final = Metric(
    "authority.clock.difference",
    _GAUGE,
    "How far this machine's clock is ahead of PostgreSQL's, with half of the time the question took",
    unit="s",
)
BUILD: Final = Metric("authority.build", _GAUGE, "Always 1; its labels say what runs", ("version", "python"))

METRICS: Final = (
    COMMITS,
    ISSUES,
    REFUSALS,
    RPC_DURATION,
    STREAMS_OPEN,
    GATHERING_WAITING,
    GATHERING_WAIT,
    GATHERING_ITEMS,
    GATHERING_CALL,
    GATHERING_AGAIN,
    CONNECTIONS,
    CONNECTIONS_MOST,
    REDIS_AVAILABLE,
    REDIS_FAILURES,
    REDIS_UNANSWERED,
    LEASES,
    OUTBOX_PENDING,
    OUTBOX_AGE,
    OUTBOX_PARKED,
    DELIVERIES,
    KEYS,
    KEY_AGE,
    CLOCK_DIFFERENCE,
    BUILD,
)
