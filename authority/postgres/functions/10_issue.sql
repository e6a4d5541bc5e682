-- Many offers in, one outcome each out, in order: the writer of capabilities (semantics 4). What comes out is what would
-- if one offer were asked after the other.
--
-- Both functions run with the rights of their caller, as active_key does: the tenants are named for this statement only,
-- and the role that issues needs no right for them that it did not have. As in commit every statement below is a new
-- snapshot, and every lookup is lateral and limited. It seeks besides, as in issuing_facts.
--
-- The constraints carry the guarantee: one live capability for each key of a holder, one use of each request id. Nothing
-- is inserted and later deleted: where somebody else was faster, the whole call is undone (40001) and asked again.
-- Lock order: request ids, then capabilities, each sorted. An outdated capability that a commit holds is not waited for.

-- What request id and commit key of the offers in `whose` stand for, and what is carried where they stand for nothing.
-- standing: 'conflict' (`field` was used for something else) | 'committed' (`receipt_id`) | 'live' (`capability_id`)
-- | 'revoked' (under a request id that was used before) | 'refused' (as carried) | 'late' (what is offered has expired)
-- | 'outdated' (`capability_id` has expired and still stands as issued) | null: nothing.
-- is_used, is_settled: no other offer can change what the request id, or the key, of this one stands for.
-- request_number, key_number: the same for those that share it.
create or replace function authority.issue_standing(
  offers authority.issue_offer[], whose boolean[], judged_at timestamptz)
returns table (
  ordinal bigint, standing text, field text, receipt_id uuid, capability_id uuid, is_used boolean, is_settled boolean,
  request_number bigint, key_number bigint)
language plpgsql volatile security invoker
set search_path = authority, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with asked as materialized (select o.* from unnest(offers) with ordinality o where whose[o.ordinality])
  select a.ordinality,
    case
      when request.digest <> a.request_digest then 'conflict'
      when issued.fingerprint <> a.fingerprint or own.fingerprint <> a.fingerprint then 'conflict'
      when own.receipt_id is not null then 'committed'
      when live.expire_time > judged_at then 'live'
      when live.capability_id = a.capability_id then 'live' -- its own, kept when it was asked before
      when revoked.capability_id is not null
        and coalesce(reason_rank(a.carried) > reason_rank('REVOKED'), true) then 'revoked'
      when a.carried is not null then 'refused'
      when other.receipt_id is not null then 'committed'
      when a.expire_time <= judged_at then 'late'
      when live.capability_id is not null then 'outdated'
    end,
    case when request.digest <> a.request_digest then 'request_id' else 'commit_idempotency_key' end,
    coalesce(own.receipt_id, other.receipt_id),
    live.capability_id,
    request.digest is not null,
    own.receipt_id is not null or coalesce(issued.fingerprint <> a.fingerprint, false)
      or coalesce(live.expire_time > judged_at, false),
    dense_rank() over (order by a.tenant, a.principal, a.request_id),
    dense_rank() over (order by a.tenant, a.holder, a.idempotency_key)
  from asked a
  left join lateral (
    select o.digest from request o
    where o.tenant = a.tenant and o.principal = a.principal and o.request_id = a.request_id limit 1) request on true
  left join lateral ( -- any of them: a key stands for one fingerprint for ever
    select o.fingerprint from capability o
    where o.tenant = a.tenant
      and (o.holder, o.idempotency_key) between (a.holder, a.idempotency_key) and (a.holder, a.idempotency_key)
    order by o.holder, o.idempotency_key limit 1) issued on true
  left join lateral (
    select o.capability_id, o.expire_time from capability o
    where o.tenant = a.tenant and o.state = 'issued'
      and (o.holder, o.idempotency_key) between (a.holder, a.idempotency_key) and (a.holder, a.idempotency_key)
    order by o.holder, o.idempotency_key limit 1) live on true
  left join lateral ( -- no retry undoes a revocation
    select o.capability_id from capability o
    where request.digest is not null and o.tenant = a.tenant and o.state = 'revoked'
      and (o.holder, o.idempotency_key) between (a.holder, a.idempotency_key) and (a.holder, a.idempotency_key)
    order by o.holder, o.idempotency_key limit 1) revoked on true
  left join lateral (
    select o.receipt_id, o.fingerprint from commit_receipt o
    where o.tenant = a.tenant
      and (o.holder, o.idempotency_key) between (a.holder, a.idempotency_key) and (a.holder, a.idempotency_key)
    order by o.holder, o.idempotency_key limit 1) own on true
  left join lateral (
    select o.receipt_id from commit_receipt o
    where o.tenant = a.tenant and o.proposal_id between a.proposal_id and a.proposal_id
    order by o.proposal_id limit 1) other on true
  order by a.ordinality;
end $$;

-- outcome: 'issued' (as offered) | 'live' (the capability that the key stands for) | 'conflict' (`field` was used for
-- something else) | 'committed' (`receipt_id`) | 'revoked' | 'refused' (as carried) | 'late' (what is offered has expired)
-- | 'busy' (ask again).
-- `traces` are the trace ids of the offers, for what is told of them; or null.
create or replace function authority.issue(
  offers authority.issue_offer[], judged_at timestamptz, clock_bound interval, traces text[])
returns table (
  ordinal bigint, outcome text, field text, receipt_id uuid, capability_id uuid, payload_type text, payload bytea,
  key_id bytea, signature bytea)
language plpgsql volatile security invoker
set search_path = authority, pg_temp
set lock_timeout = '250ms'
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  most_rounds constant integer := 16;
  nobody constant boolean[] := array_fill(false, array[cardinality(offers)]);
  everybody constant boolean[] := array_fill(true, array[cardinality(offers)]);
  locked uuid[];
  is_open boolean[] := everybody;
  outcomes text[] := array_fill(null::text, array[cardinality(offers)]);
  fields text[] := outcomes;
  receipts uuid[] := array_fill(null::uuid, array[cardinality(offers)]);
  capabilities uuid[] := receipts;              -- what lives, or is outdated, under the key of each
  has_taken boolean[] := nobody;                -- whose request id is used since this call
  taking boolean[];
  claiming boolean[];
  entitled boolean[];
  won boolean[];
  ids_taken boolean[];
  keys_taken boolean[];
  takes boolean;
  waits boolean;
  s record;
begin
  perform require_clock(judged_at, clock_bound);
  perform set_config(
    'authority.tenants', array_to_string(array(select distinct o.tenant from unnest(offers) o), ','), true);

  -- 1. Lock what has expired and still stands as issued, where no commit holds it.
  with outdated as materialized (
    select distinct o.tenant, l.capability_id from unnest(offers) o
    cross join lateral (
      select c.capability_id, c.expire_time from capability c
      where c.tenant = o.tenant and c.state = 'issued'
        and (c.holder, c.idempotency_key) between (o.holder, o.idempotency_key) and (o.holder, o.idempotency_key)
      order by c.holder, c.idempotency_key limit 1) l
    where l.expire_time <= judged_at
    order by 1, 2)
  select coalesce(array_agg(l.capability_id), '{}') into locked from outdated d
  cross join lateral (
    select c.capability_id from capability c
    where c.tenant = d.tenant and c.capability_id = d.capability_id and c.state = 'issued'
    for update skip locked) l;

  -- Offers that share neither request id nor key are answered in one round; twins in the round after the first of them.
  for round in 1 .. most_rounds loop
    -- 2. Look, in a new snapshot, and in order: whoever shares an id or a key that is taken in this round, or with one
    -- who waits, waits for the next. Who is answered by what stands is done; the others take their request ids.
    taking := nobody;
    claiming := nobody;
    ids_taken := nobody;
    keys_taken := nobody;
    for s in select l.* from issue_standing(offers, is_open, judged_at) l loop
      takes := s.standing is null or s.standing = 'live' or s.standing = 'outdated' and s.capability_id = any (locked);
      waits := ids_taken[s.request_number] and not s.is_used or keys_taken[s.key_number] and not s.is_settled;
      if waits or takes then
        ids_taken[s.request_number] := true;
        keys_taken[s.key_number] := true;
      end if;
      continue when waits;
      capabilities[s.ordinal] := s.capability_id;
      if takes then
        taking[s.ordinal] := true;
        claiming[s.ordinal] := s.standing is distinct from 'live';
        has_taken[s.ordinal] := has_taken[s.ordinal] or not s.is_used;
      elsif has_taken[s.ordinal] then
        -- Its request id would be used up for nothing.
        raise exception 'another call was faster' using errcode = 'serialization_failure';
      else
        is_open[s.ordinal] := false;
        outcomes[s.ordinal] := case when s.standing = 'outdated' then 'busy' else s.standing end;
        fields[s.ordinal] := s.field;
        receipts[s.ordinal] := s.receipt_id;
      end if;
    end loop;

    insert into request (tenant, principal, request_id, digest, answer, create_time)
    select o.tenant, o.principal, o.request_id, o.request_digest, o.idempotency_key, judged_at
    from unnest(offers) with ordinality o
    where taking[o.ordinality]
    order by o.tenant, o.principal, o.request_id
    on conflict do nothing;

    -- 3. Whose request id stands for its request goes on; for the others it was taken meanwhile.
    with holding as materialized (
      select o.ordinality from unnest(offers) with ordinality o
      cross join lateral (
        select r.digest from request r
        where r.tenant = o.tenant and r.principal = o.principal and r.request_id = o.request_id limit 1) r
      where taking[o.ordinality] and r.digest = o.request_digest)
    select array_agg(o.ordinality in (select h.ordinality from holding h) order by o.ordinality)
    into entitled
    from unnest(offers) with ordinality o;

    -- 4. What has expired gives way; then the insertion is the claim. The constraint has the last word.
    if locked <> '{}' then
      with outdated as materialized (
        select o.tenant, capabilities[o.ordinality] as capability_id from unnest(offers) with ordinality o
        where claiming[o.ordinality] and entitled[o.ordinality] and capabilities[o.ordinality] is not null)
      update capability c set state = 'expired'
      from outdated d where c.tenant = d.tenant and c.capability_id = d.capability_id;
    end if;

    with claim as materialized (
      select o.* from unnest(offers) with ordinality o where claiming[o.ordinality] and entitled[o.ordinality]),
    claimed as (
      insert into capability (
        tenant, capability_id, digest, holder, idempotency_key, fingerprint, proposal_id, revision, state, payload_type,
        payload, key_id, signature, not_before_time, expire_time, issue_time)
      select c.tenant, c.capability_id, c.capability_digest, c.holder, c.idempotency_key, c.fingerprint, c.proposal_id,
        c.revision, 'issued', c.payload_type, c.payload, c.capability_key, c.signature, c.not_before_time,
        c.expire_time, judged_at
      from claim c
      order by c.tenant, c.holder, c.idempotency_key
      on conflict do nothing
      returning capability.tenant, capability.capability_id)
    -- Asked by `in` and as a value, which is hashed; as a condition it would be a join, which is quadratic here.
    select array_agg(
      o.ordinality in (select c.ordinality from claim c) -- one offer may be given twice
        and (o.tenant, o.capability_id) in (select w.tenant, w.capability_id from claimed w) order by o.ordinality)
    into won
    from unnest(offers) with ordinality o;

    insert into audit_event (
      tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time)
    select o.tenant, 'capability.issue', o.principal, o.capability_id::text, '', 'issued', '[]'::jsonb,
      o.correlation_id, coalesce(traces[o.ordinality], ''), judged_at
    from unnest(offers) with ordinality o
    where won[o.ordinality];

    -- A key that was committed, or issued for something else, since we looked stands for that; no constraint says so.
    perform 1
    from unnest(offers) with ordinality o
    left join lateral (
      select r.receipt_id from commit_receipt r
      where r.tenant = o.tenant
        and (r.holder, r.idempotency_key) between (o.holder, o.idempotency_key) and (o.holder, o.idempotency_key)
      order by r.holder, r.idempotency_key limit 1) own on true
    left join lateral (
      select c.capability_id from capability c
      where c.tenant = o.tenant and c.fingerprint <> o.fingerprint
        and (c.holder, c.idempotency_key) between (o.holder, o.idempotency_key) and (o.holder, o.idempotency_key)
      order by c.holder, c.idempotency_key limit 1) other on true
    where won[o.ordinality] and (own.receipt_id is not null or other.capability_id is not null);
    if found then
      raise exception 'another call was faster' using errcode = 'serialization_failure';
    end if;

    -- 5. Whoever is open still is a twin, or lost to another call, and looks again.
    select
      array_agg(case
        when won[o.ordinality] then 'issued'
        when taking[o.ordinality] and entitled[o.ordinality] and not claiming[o.ordinality] then 'live'
        else outcomes[o.ordinality]
      end order by o.ordinality)
    into outcomes
    from unnest(offers) with ordinality o;
    select array_agg(o.outcome is null order by o.ordinality) into is_open
    from unnest(outcomes) with ordinality o(outcome);
    exit when not true = any (is_open);
  end loop;

  if true = any (select t.has_taken from unnest(has_taken, is_open) t(has_taken, is_open) where t.is_open) then
    raise exception 'another call was faster' using errcode = 'serialization_failure';
  end if;

  -- What is found, not made, holds on a new primary only if the commit it was found in is there: as in commit (case I18).
  if current_setting('synchronous_standby_names') <> '' and exists (
    select 1 from unnest(outcomes) o(outcome) where o.outcome in ('live', 'conflict', 'committed'))
  then
    perform pg_logical_emit_message(true, 'authority.issue', '');
  end if;

  return query
  select o.ordinality, coalesce(outcomes[o.ordinality], 'busy'),
    case when outcomes[o.ordinality] = 'conflict' then fields[o.ordinality] end,
    case when outcomes[o.ordinality] = 'committed' then receipts[o.ordinality] end,
    c.capability_id, c.payload_type, c.payload, c.key_id, c.signature
  from unnest(offers) with ordinality o
  left join lateral (
    select c.capability_id, c.payload_type, c.payload, c.key_id, c.signature from capability c
    where outcomes[o.ordinality] = 'live' and c.tenant = o.tenant and c.capability_id = capabilities[o.ordinality]
    limit 1) c on true
  order by o.ordinality;
end $$;

revoke all on function authority.issue_standing(authority.issue_offer[], boolean[], timestamptz) from public;
-- For processes of an earlier version, which send no traces.
create or replace function authority.issue(
  offers authority.issue_offer[], judged_at timestamptz, clock_bound interval)
returns table (
  ordinal bigint, outcome text, field text, receipt_id uuid, capability_id uuid, payload_type text, payload bytea,
  key_id bytea, signature bytea)
language sql volatile security invoker
set search_path = authority, pg_temp
as $$ select i.* from issue(offers, judged_at, clock_bound, null) i $$;

revoke all on function authority.issue(authority.issue_offer[], timestamptz, interval, text[]) from public;
revoke all on function authority.issue(authority.issue_offer[], timestamptz, interval) from public;
grant execute on function authority.issue_standing(authority.issue_offer[], boolean[], timestamptz) to authority_issue;
grant execute on function authority.issue(authority.issue_offer[], timestamptz, interval, text[]) to authority_issue;
grant execute on function authority.issue(authority.issue_offer[], timestamptz, interval) to authority_issue;
