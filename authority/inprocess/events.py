"""What the outbox says of a record, in the words of the database's `memory_event`."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from authority.domain.record import MemoryRecord
from authority.domain.references import Instant
from authority.inprocess.tables import Event, Tables

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def tell(  # the columns of an event that do not follow from the record
    tables: Tables,
    record: MemoryRecord,
    kind: str,
    *,
    event_id: str,
    source: str,
    traceparent: str,
    now: Instant,
    more: Mapping[str, object] | None = None,
) -> None:
    """Writes the record's next event. `more` is what this type of event says beside the rest."""
    tables.versions[record.tenant, record.record_id] += 1
    sequence = tables.versions[record.tenant, record.record_id]
    data = {
        "tenant": str(record.tenant),
        "memoryNamespace": record.memory_namespace,
        "recordId": record.record_id,
        "recordVersion": sequence,
        "receiptId": record.receipt_id,
        "memoryType": record.memory_type.value,
        "provenance": record.provenance.value,
        "visibility": record.visibility.value,
        "mediaType": record.media_type,
        "contentDigest": f"sha256:{record.content_digest.hex()}",
        "correlationId": record.correlation_id,
    }
    payload = {
        "specversion": "1.0",
        "id": event_id,
        "source": source,
        "type": kind,
        "subject": record.record_id,
        "time": _rfc3339(now),
        "datacontenttype": "application/json",
        "data": {**data, **(more or {})},
    }
    tables.events.append(
        Event(
            record.tenant,
            event_id,
            kind,
            record.record_id,
            sequence=sequence,
            payload=payload,
            traceparent=traceparent,
            create_time=now,
        )
    )


def _rfc3339(instant: Instant) -> str:
    return (_EPOCH + timedelta(milliseconds=instant)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
