-- name: wake_relay
-- Tells whoever listens on the channel that there is something in the outbox. A transaction of nothing else waits for no
-- disk and no standby.
select pg_notify($1, '')

-- name: claim_events
-- Pending events for the claim of this token, for so long.
select c.tenant, c.id::text as event_id, c.aggregateid, c.sequence, c.type, c.payload, c.traceparent, c.create_time,
  c.attempts
from authority.claim_events($1, $2, $3) c
order by c.create_time

-- name: mark_delivered
-- Whoever lost its claim meanwhile marks nothing: another delivers it, or has.
update authority.outbox o
set delivered_time = now(), claim_token = null, claim_until_time = null, last_error = ''
from unnest($2::text[], $3::uuid[]) as d(tenant, id)
where o.tenant = d.tenant and o.id = d.id and o.claim_token = $1
returning o.id::text as event_id

-- name: put_events_back
-- Free again at once, with nothing noted against them.
update authority.outbox o set claim_token = null, claim_until_time = null
from unnest($2::text[], $3::uuid[]) as d(tenant, id)
where o.tenant = d.tenant and o.id = d.id and o.claim_token = $1
returning o.id::text as event_id

-- name: retry_events
-- Free again after a while.
update authority.outbox o
set claim_token = null, claim_until_time = null, attempts = o.attempts + 1, last_error = d.why,
  retry_time = now() + d.after
from unnest($2::text[], $3::uuid[], $4::text[], $5::interval[]) as d(tenant, id, why, after)
where o.tenant = d.tenant and o.id = d.id and o.claim_token = $1
returning o.id::text as event_id

-- name: park_events
-- Free no more, until they are replayed.
with parked as (
  update authority.outbox o
  set claim_token = null, claim_until_time = null, attempts = o.attempts + 1, last_error = d.why, parked = true
  from unnest($2::text[], $3::uuid[], $4::text[]) as d(tenant, id, why)
  where o.tenant = d.tenant and o.id = d.id and o.claim_token = $1
  returning o.tenant, o.id, o.attempts, o.last_error)
insert into authority.outbox_parked (tenant, id, attempts, last_error, park_time)
select p.tenant, p.id, p.attempts, p.last_error, now() from parked p
returning id::text as event_id

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
-- Deletes up to so many that were delivered so long ago. Another relay that prunes takes others.
delete from authority.outbox o
where o.ctid = any(array(
  select d.ctid from authority.outbox d
  where d.delivered_time < now() - $1::interval
  order by d.delivered_time
  limit $2
  for update skip locked))
returning o.id::text as event_id

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
