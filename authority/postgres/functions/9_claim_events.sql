-- Takes up to so many pending events for one relay until the lease ends, the oldest first: pending by what is written of
-- them, never by a cursor over ids or transactions, for a row may be seen long after those that were numbered later (case
-- H01). An event waits while an earlier one of its record is pending or parked, so that no two of a call are of one
-- record and a record's events are delivered in order, by however many relays (case H06).
--
-- What another relay is just claiming is skipped; what it claimed and never settled is free once its lease has ended, by
-- the database's clock, which all relays share (case H09).
--
-- It looks into the index of pending events in its order, and at one record by its key, whatever the planner believes of
-- sizes (case H11). It runs with its caller's rights.
create or replace function authority.claim_events(token uuid, lease interval, most integer)
returns table (
  tenant text, id uuid, aggregateid text, sequence bigint, type text, payload jsonb, traceparent text,
  create_time timestamptz, attempts integer)
language plpgsql volatile
set search_path = authority, pg_temp
set lock_timeout = '250ms'
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with free as materialized (
    select o.tenant, o.id from outbox o
    where o.delivered_time is null and not o.parked
      and (o.claim_until_time is null or o.claim_until_time <= now())
      and (o.retry_time is null or o.retry_time <= now())
      -- not "not exists": the planner would make a join of it
      and coalesce((
        select false from outbox e
        where e.tenant = o.tenant and e.aggregateid = o.aggregateid and e.sequence < o.sequence
          and e.delivered_time is null
        limit 1), true)
    order by o.create_time
    limit most
    for no key update of o skip locked)
  update outbox o set claim_token = token, claim_until_time = now() + lease
  from free f
  where o.tenant = f.tenant and o.id = f.id
  returning o.tenant, o.id, o.aggregateid, o.sequence, o.type, o.payload, o.traceparent, o.create_time, o.attempts;
end $$;

revoke all on function authority.claim_events(uuid, interval, integer) from public;
grant execute on function authority.claim_events(uuid, interval, integer) to authority_relay;
