-- name: append_audit_event
-- One state change; in the transaction that makes it, or not at all.
insert into authority.audit_event (
  tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)

-- name: plan_for_these_values
-- Conditions that are not set must not keep an index from being used for those that are.
select set_config('plan_cache_mode', 'force_custom_plan', true)

-- name: audit_page_newest_first
-- Events of a tenant before an id; a null condition holds for all.
select event_id, tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time
from authority.audit_event
where tenant = $1
  and ($2::text is null or kind = $2) and ($3::text is null or actor = $3) and ($4::text is null or subject = $4)
  and ($5::text is null or correlation_id = $5 and correlation_id <> '')
  and ($6::timestamptz is null or create_time >= $6) and ($7::timestamptz is null or create_time < $7)
  and event_id < $8
order by event_id desc
limit $9

-- name: audit_page_oldest_first
-- Events of a tenant after an id; a null condition holds for all.
select event_id, tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time
from authority.audit_event
where tenant = $1
  and ($2::text is null or kind = $2) and ($3::text is null or actor = $3) and ($4::text is null or subject = $4)
  and ($5::text is null or correlation_id = $5 and correlation_id <> '')
  and ($6::timestamptz is null or create_time >= $6) and ($7::timestamptz is null or create_time < $7)
  and event_id > $8
order by event_id
limit $9

-- name: audit_place
-- Which database this is, and whether it was restored to a point in time or promoted since; and the time.
select (pg_control_system()).system_identifier::text as cluster,
  ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as timeline,
  clock_timestamp() as read_time

-- name: audit_snapshot
-- Which transactions are visible.
select pg_current_snapshot()::text

-- name: audit_news
-- Events that the snapshot $9 shows and $8 does not ($8 null: nothing was seen), of transactions [$10, $11), after the
-- event $13 of transaction $12. What comes between reading the snapshot and this statement $9 does not show.
select event_id, xid::text::bigint as xid, tenant, kind, actor, subject, previous_state, next_state, costs,
  correlation_id, trace_id, create_time
from authority.audit_event
where tenant = $1
  and ($2::text is null or kind = $2) and ($3::text is null or actor = $3) and ($4::text is null or subject = $4)
  and ($5::text is null or correlation_id = $5 and correlation_id <> '')
  and ($6::timestamptz is null or create_time >= $6) and ($7::timestamptz is null or create_time < $7)
  and xid >= $10::text::xid8 and xid < $11::text::xid8
  and (xid > $12::text::xid8 or xid = $12::text::xid8 and event_id > $13)
  and pg_visible_in_snapshot(xid, $9::text::pg_snapshot)
  and ($8::text is null or not pg_visible_in_snapshot(xid, $8::text::pg_snapshot))
order by xid, event_id
limit $14

-- name: audit_changed
-- Which of the tenants have events that a snapshot, with its least transaction, does not show.
select t.tenant from unnest($1::text[]) t(tenant)
where exists (
  select 1 from authority.audit_event e
  where e.tenant = t.tenant and e.xid >= $3::bigint::text::xid8
    and not pg_visible_in_snapshot(e.xid, $2::text::pg_snapshot))
