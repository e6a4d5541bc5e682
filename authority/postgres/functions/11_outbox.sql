-- Takes up to so many pending events for one relay until the lease ends, the oldest first: pending by what is written of
-- them, never by a cursor over ids or transactions, for a row may be seen long after those that were numbered later (case
-- H01). An event waits while an earlier one of its record is pending or parked, so that no two of a call are of one
-- record and a record's events are delivered in order, by however many relays (case H06).
--
-- What another relay is just claiming is skipped; what it claimed and never settled is free once its lease has ended, by
-- the database's clock, which all relays share (case H09).
--
-- It looks into the index of pending events in its order, at one record by that record's index, and at each row that it
-- claims by the row itself, whatever the planner believes of sizes: a table that was analysed while it seemed empty would
-- be read whole (case H11). While somebody holds an old snapshot, be it in another database, the index of pending events
-- keeps what was delivered since: `since` begins the look behind it. Null looks at all.
--
-- It runs with its caller's rights.
create or replace function authority.claim_events(token uuid, lease interval, most integer, since timestamptz)
returns table (
  tenant text, id uuid, aggregateid text, sequence bigint, type text, payload jsonb, traceparent text,
  create_time timestamptz, attempts integer)
language plpgsql volatile
set search_path = authority, pg_temp
set lock_timeout = '250ms'
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  free cursor for
    select o.tenant, o.id, o.aggregateid, o.sequence, o.type, o.payload, o.traceparent, o.create_time, o.attempts
    from outbox o
    where o.delivered_time is null and not o.parked
      and o.create_time >= coalesce(since, '-infinity')
      and (o.claim_until_time is null or o.claim_until_time <= now())
      and (o.retry_time is null or o.retry_time <= now())
      -- not "not exists": the planner would make a join of it
      and coalesce((
        select false from outbox e
        where e.tenant = o.tenant
          and (e.aggregateid, e.sequence) between (o.aggregateid, 1) and (o.aggregateid, o.sequence - 1)
          and e.delivered_time is null
        order by e.aggregateid, e.sequence
        limit 1), true)
    order by o.create_time
    limit most
    for no key update of o skip locked;
begin
  for event in free loop
    update outbox set claim_token = token, claim_until_time = now() + lease where current of free;
    tenant := event.tenant;
    id := event.id;
    aggregateid := event.aggregateid;
    sequence := event.sequence;
    type := event.type;
    payload := event.payload;
    traceparent := event.traceparent;
    create_time := event.create_time;
    attempts := event.attempts;
    return next;
  end loop;
end $$;

revoke all on function authority.claim_events(uuid, interval, integer, timestamptz) from public;
grant execute on function authority.claim_events(uuid, interval, integer, timestamptz) to authority_relay;

-- Notes what became of claimed events: 'delivered', 'put back', 'retry' (after so long) or 'parked'; why, where the sink
-- refused them. Only what the token still holds, with whose ids it answers. Each row is sought by its key, in the order of
-- the index that is meant, for the reason above.
create or replace function authority.settle_events(
  token uuid, tenants text[], ids uuid[], outcome text, whys text[], afters interval[])
returns setof uuid
language plpgsql volatile
set search_path = authority, pg_temp
set lock_timeout = '250ms'
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
declare
  held cursor (its_tenant text, its_id uuid) for
    select o.tenant, o.id, o.attempts from outbox o
    where o.tenant = its_tenant and o.id between its_id and its_id and o.claim_token = token
    order by o.id
    limit 1
    for no key update of o;
  was_refused constant integer := (outcome in ('retry', 'parked'))::integer;
begin
  for n in 1 .. cardinality(ids) loop
    for event in held(tenants[n], ids[n]) loop
      update outbox set
        claim_token = null, claim_until_time = null, attempts = outbox.attempts + was_refused,
        last_error = coalesce(whys[n], case outcome when 'delivered' then '' else outbox.last_error end),
        retry_time = case outcome when 'retry' then now() + afters[n] end,
        parked = outcome = 'parked',
        delivered_time = case outcome when 'delivered' then now() end
      where current of held;
      if outcome = 'parked' then
        insert into outbox_parked (tenant, id, attempts, last_error, park_time)
        values (event.tenant, event.id, event.attempts + 1, whys[n], now());
      end if;
      return next event.id;
    end loop;
  end loop;
end $$;

revoke all on function authority.settle_events(uuid, text[], uuid[], text, text[], interval[]) from public;
grant execute on function authority.settle_events(uuid, text[], uuid[], text, text[], interval[]) to authority_relay;

-- Deletes up to so many events that were delivered so long ago, the oldest first, and answers with their ids. Another
-- relay that prunes takes others. It looks as claim_events does.
create or replace function authority.prune_events(kept interval, most integer) returns setof uuid
language plpgsql volatile
set search_path = authority, pg_temp
set lock_timeout = '250ms'
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
declare
  old cursor for
    select o.id from outbox o
    where o.delivered_time is not null and o.delivered_time < now() - kept
    order by o.delivered_time
    limit most
    for update of o skip locked;
begin
  for event in old loop
    delete from outbox where current of old;
    return next event.id;
  end loop;
end $$;

revoke all on function authority.prune_events(interval, integer) from public;
grant execute on function authority.prune_events(interval, integer) to authority_relay;
