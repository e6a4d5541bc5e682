-- What the outbox says of a record, in one shape for all of its events: CloudEvents 1.0. The record's events are numbered
-- without a gap, and its version is the number of the last one: 1 it was committed, or written without validation (then it
-- has no receipt), then perhaps corrected, then perhaps revoked. `more` is what one type of event says beside the rest.
create or replace function authority.memory_event(
  id uuid, source text, type text, version integer, event_time timestamptz, tenant text, memory_namespace text,
  record_id uuid, receipt_id uuid, memory_type text, provenance text, visibility text, media_type text,
  content_digest bytea, correlation_id text, more jsonb)
returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'specversion', '1.0', 'id', id, 'source', source, 'type', type,
    'subject', record_id, 'time', to_char(event_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'datacontenttype', 'application/json',
    'data', jsonb_build_object(
      'tenant', tenant, 'memoryNamespace', memory_namespace, 'recordId', record_id, 'recordVersion', version,
      'validated', receipt_id is not null,
      'receiptId', receipt_id, 'memoryType', memory_type, 'provenance', provenance,
      'visibility', visibility, 'mediaType', media_type,
      'contentDigest', 'sha256:' || encode(content_digest, 'hex'), 'correlationId', correlation_id) || more)
$$;
