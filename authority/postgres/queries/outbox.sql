-- name: wake_relay
-- Tells whoever listens on the channel that there is something in the outbox. A transaction of nothing else waits for no
-- disk and no standby.
select pg_notify($1, '')

-- name: claim_events
-- Pending events for the claim of this token, for so long; those from before the last are left out.
select c.tenant, c.id::text as event_id, c.aggregateid, c.sequence, c.type, c.payload, c.traceparent, c.create_time,
  c.attempts
from authority.claim_events($1, $2, $3, $4) c
order by c.create_time

-- name: mark_delivered
-- Whoever lost its claim meanwhile marks nothing: another delivers it, or has.
select s::text as event_id from authority.settle_events($1, $2, $3, 'delivered', null, null) s

-- name: put_events_back
-- Free again at once, with nothing noted against them.
select s::text as event_id from authority.settle_events($1, $2, $3, 'put back', null, null) s

-- name: retry_events
-- Free again after a while.
select s::text as event_id from authority.settle_events($1, $2, $3, 'retry', $4, $5) s

-- name: park_events
-- Free no more, until they are replayed.
select s::text as event_id from authority.settle_events($1, $2, $3, 'parked', $4, null) s

-- name: replay_events
-- Parked events are pending again, as if they had never been tried: one of this id, or all; of a tenant, or of all.
with replayed as (
  delete from authority.outbox_parked p
  where ($1::uuid is null or p.id = $1) and ($2::text is null or p.tenant = $2)
  returning p.tenant, p.id)
update authority.outbox o set parked = false, attempts = 0, last_error = '', retry_time = null
from replayed r
where o.tenant = r.tenant and o.id = r.id
returning o.id::text as event_id

-- name: prune_delivered
-- Forgets up to so many that were delivered so long ago.
select p::text as event_id from authority.prune_events($1, $2) p

-- name: outbox_lag
-- What waits, what was given up, and how long the oldest that waits has been there, by the database's clock.
select
  (select count(*) from authority.outbox o where o.delivered_time is null and not o.parked) as pending,
  (select count(*) from authority.outbox_parked) as parked,
  (extract(epoch from clock_timestamp() - (
    select min(o.create_time) from authority.outbox o where o.delivered_time is null and not o.parked)) * 1000)::bigint
    as oldest_age_ms

-- name: pending_events
-- The oldest that wait; of a tenant, or of all.
select o.tenant, o.id::text as event_id, o.aggregateid, o.sequence, o.type, o.create_time, o.attempts, o.last_error,
  null::timestamptz as park_time
from authority.outbox o
where o.delivered_time is null and not o.parked and ($1::text is null or o.tenant = $1)
order by o.create_time, o.id
limit $2

-- name: parked_events
-- Those that were given up first; of a tenant, or of all.
select o.tenant, o.id::text as event_id, o.aggregateid, o.sequence, o.type, o.create_time, p.attempts, p.last_error,
  p.park_time
from authority.outbox_parked p
join authority.outbox o on o.tenant = p.tenant and o.id = p.id
where $1::text is null or p.tenant = $1
order by p.park_time, p.id
limit $2
