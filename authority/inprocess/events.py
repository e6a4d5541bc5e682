"""What the outbox says of a record, in the words of the database's `memory_event`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from authority.domain.record import MemoryRecord
from authority.domain.references import Instant
from authority.inprocess.tables import Event, Tables

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Occasion:
    """What an event says that does not follow from its record. `source` names the authority."""

    event_id: str
    source: str
    traceparent: str
    time: Instant
    more: Mapping[str, object] = field(default_factory=dict)
    """What this type of event says beside the rest."""


def tell(tables: Tables, record: MemoryRecord, kind: str, sequence: int, occasion: Occasion) -> None:
    """Writes an event of the record, which is its first, its second, and so on."""
    data = {
        "tenant": str(record.tenant),
        "memoryNamespace": record.memory_namespace,
        "recordId": record.record_id,
        "recordVersion": sequence,
        "validated": record.validated,
        "receiptId": record.receipt_id or None,
        "memoryType": record.memory_type.value,
        "provenance": record.provenance.value,
        "visibility": record.visibility.value,
        "visibilityScope": record.visibility_scope,
        "mediaType": record.media_type,
        "contentDigest": f"sha256:{record.content_digest.hex()}",
        "correlationId": record.correlation_id,
    }
    payload = {
        "specversion": "1.0",
        "id": occasion.event_id,
        "source": occasion.source,
        "type": kind,
        "subject": record.record_id,
        "time": _rfc3339(occasion.time),
        "datacontenttype": "application/json",
        "data": {**data, **occasion.more},
    }
    tables.events.append(
        Event(
            record.tenant,
            occasion.event_id,
            kind,
            record.record_id,
            sequence=sequence,
            payload=payload,
            traceparent=occasion.traceparent,
            create_time=occasion.time,
        )
    )


def _rfc3339(instant: Instant) -> str:
    return (_EPOCH + timedelta(milliseconds=instant)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
