-- name: record_parties
-- Whose the record is, whatever became of it: who wrote it without validation is who answers for it.
select r.proposer, coalesce(c.holder, r.proposer) as holder
from authority.memory_record r
left join authority.commit_receipt c on c.tenant = r.tenant and c.receipt_id = r.receipt_id
where r.tenant = $1 and r.record_id = $2

-- name: first_withdrawal
-- What the record says, by its digest, and the first tombstone that is later than its decision, if there is one.
select r.memory_namespace, r.content_digest, t.sequence, t.create_time
from authority.memory_record r
left join lateral (
  select o.sequence, o.create_time from authority.tombstone o
  where o.tenant = r.tenant and o.memory_namespace = r.memory_namespace and o.content_digest = r.content_digest
    and o.sequence > r.decision_sequence
  order by o.sequence limit 1) t on true
where r.tenant = $1 and r.record_id = $2

-- name: tell_revoked
-- Event, audit event and a fact of the feed for every record of the content that no tombstone withdrew yet; before this
-- one is written. The caller is alone under the tenant's lock, so no record gets another event meanwhile: it was
-- committed (1), perhaps corrected (2), and this is its last. The record that was named has the tombstone's sequence.
with withdrawn as materialized (
  select r.tenant, r.record_id, r.receipt_id, r.memory_namespace, r.memory_type, r.provenance, r.visibility,
    r.visibility_scope, r.media_type, r.content_digest, r.correlation_id, r.superseded_by, gen_random_uuid() as event_id,
    2 + (r.superseded_by is not null)::integer as version
  from authority.memory_record r
  where r.tenant = $1 and (r.memory_namespace, r.content_digest) between ($2, $3) and ($2, $3)
    and not exists (
      select 1 from authority.tombstone t
      where t.tenant = r.tenant and t.memory_namespace = r.memory_namespace and t.content_digest = r.content_digest
        and t.sequence > r.decision_sequence)),
event as (
  insert into authority.outbox (
    tenant, id, aggregatetype, aggregateid, sequence, type, payload, traceparent, create_time)
  select w.tenant, w.event_id, 'memory_record', w.record_id::text, w.version, 'memory.revoked.v1',
    authority.memory_event(
      w.event_id, $4, 'memory.revoked.v1', w.version, $5, w.tenant, w.memory_namespace, w.record_id, w.receipt_id,
      w.memory_type, w.provenance, w.visibility, w.media_type, w.content_digest, w.correlation_id,
      jsonb_build_object('visibilityScope', w.visibility_scope, 'revocationSequence', $6::bigint)),
    $7, $5
  from withdrawn w),
fact as (
  insert into authority.revocation (tenant, sequence, kind, subject, memory_namespace, content_digest, revoke_time)
  select w.tenant, case when w.record_id = $10 then $6::bigint else nextval('authority.decision_sequence') end,
    'record', w.record_id::text, w.memory_namespace, w.content_digest, $5
  from withdrawn w)
insert into authority.audit_event (
  tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time)
select w.tenant, 'memory.revoke', $8, w.record_id::text,
  case when w.superseded_by is null then 'live' else 'superseded' end, 'revoked', '[]', w.correlation_id,
  $9, $5
from withdrawn w

-- name: insert_tombstone
insert into authority.tombstone (tenant, memory_namespace, content_digest, sequence, note, create_time)
values ($1, $2, $3, $4, $5, $6)
