-- Many offers in, one outcome each out, in order: the writer of capabilities (semantics 4). What comes out is what would
-- if one offer were asked after the other.
--
-- Both functions run with the rights of their caller, as active_key does: the tenants are named for this statement only,
-- and the role that issues needs no right for them that it did not have. As in commit every statement below is a new
-- snapshot, and every lookup is lateral and limited. It seeks besides, as in issuing_facts.
--
-- The constraints carry the guarantee: one live capability for each key of a holder, one use of each request id. Nothing
-- is inserted and later deleted: where somebody else was faster, the whole call is undone (40001) and asked again.
-- Lock order: counters of grants, request ids, then capabilities, each sorted. An outdated capability that a commit holds
-- is not waited for.

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
-- | 'ungranted' (`field` is what stands against the grant's chain) | 'spent' (`field` is the dimension of which a grant of
-- the chain has too little left) | 'busy' (ask again).
-- `traces` are the trace ids of the offers, for what is told of them; or null. `spends` are those of the offers that are
-- made under grants: what is issued is spent along the whole chain, what is found is free.
create or replace function authority.issue(
  offers authority.issue_offer[], judged_at timestamptz, clock_bound interval, traces text[],
  spends authority.grant_spend[])
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
  -- By the offer: under which grant it is made, what it costs beside one use, and the counters of the chain in words.
  grants bytea[] := array_fill(null::bytea, array[cardinality(offers)]);
  costs_tokens bigint[];
  costs_usd_micros bigint[];
  chains text[];
  -- By the counter, of which each grant of a chain has one: what was spent, with what is spent here.
  counters record;
  uses bigint[];
  tokens bigint[];
  usd_micros bigint[];
  live bigint[];
  -- What is spent in a round: by whom, from which counter, and its sums then.
  spent_by bigint[];
  spent_of integer[];
  spent_uses bigint[];
  spent_tokens bigint[];
  spent_usd_micros bigint[];
  against text;
  n integer;
begin
  perform require_clock(judged_at, clock_bound);
  perform set_config(
    'authority.tenants', array_to_string(array(select distinct o.tenant from unnest(offers) o), ','), true);

  -- 0. Of the grants that are spent, lock the counters of every block, before anything of them is read.
  if cardinality(spends) > 0 then
    select array_agg(c.tenant order by c.number) as tenants, array_agg(c.digest order by c.number) as digests,
      array_agg(c.most_uses order by c.number) as most_uses, array_agg(c.most_tokens order by c.number) as most_tokens,
      array_agg(c.most_usd_micros order by c.number) as most_usd_micros,
      array_agg(c.most_live order by c.number) as most_live, array_agg(c.against order by c.number) as against,
      array_agg(c.uses order by c.number) as uses, array_agg(c.tokens order by c.number) as tokens,
      array_agg(c.usd_micros order by c.number) as usd_micros, array_agg(c.live order by c.number) as live
    into counters
    from lock_grant_counters(spends, judged_at) c;
    uses := counters.uses;
    tokens := counters.tokens;
    usd_micros := counters.usd_micros;
    live := counters.live;
    for s in
      select p.ordinal, p.grant_digest, p.tokens, p.usd_micros, (
        select array_agg(array_position(counters.digests, b.digest) order by b.place)
        from unnest(g.chain) with ordinality b(digest, place))::text as chain
      from unnest(spends) p
      cross join lateral (
        select o.chain from grant_record o where o.tenant = p.tenant and o.digest = p.grant_digest limit 1) g
    loop
      grants[s.ordinal] := s.grant_digest;
      costs_tokens[s.ordinal] := s.tokens;
      costs_usd_micros[s.ordinal] := s.usd_micros;
      chains[s.ordinal] := s.chain;
    end loop;
  end if;

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
    spent_by := '{}';
    spent_of := '{}';
    spent_uses := '{}';
    spent_tokens := '{}';
    spent_usd_micros := '{}';
    for s in select l.* from issue_standing(offers, is_open, judged_at) l loop
      takes := s.standing is null or s.standing = 'live' or s.standing = 'outdated' and s.capability_id = any (locked);
      waits := ids_taken[s.request_number] and not s.is_used or keys_taken[s.key_number] and not s.is_settled;
      against := null;
      if takes and not waits and s.standing is distinct from 'live' and grants[s.ordinal] is not null then
        against := counters.against[array_position(counters.digests, grants[s.ordinal])];
        takes := against is null;
        foreach n in array chains[s.ordinal]::integer[] loop
          exit when not takes;
          against := case
            when uses[n] >= counters.most_uses[n] then 'uses'
            when costs_tokens[s.ordinal] > counters.most_tokens[n] - tokens[n] then 'tokens'
            when costs_usd_micros[s.ordinal] > counters.most_usd_micros[n] - usd_micros[n] then 'usd_micros'
            when live[n] >= counters.most_live[n] then 'concurrency'
          end;
          takes := against is null;
        end loop;
        if takes then
          foreach n in array chains[s.ordinal]::integer[] loop
            uses[n] := uses[n] + 1;
            tokens[n] := tokens[n] + costs_tokens[s.ordinal];
            usd_micros[n] := usd_micros[n] + costs_usd_micros[s.ordinal];
            live[n] := live[n] + 1;
            spent_by := spent_by || s.ordinal;
            spent_of := spent_of || n;
            spent_uses := spent_uses || uses[n];
            spent_tokens := spent_tokens || tokens[n];
            spent_usd_micros := spent_usd_micros || usd_micros[n];
          end loop;
        end if;
      end if;
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
        outcomes[s.ordinal] := case
          when against in ('uses', 'tokens', 'usd_micros', 'concurrency') then 'spent'
          when against is not null then 'ungranted'
          when s.standing = 'outdated' then 'busy'
          else s.standing
        end;
        fields[s.ordinal] := coalesce(against, s.field);
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
        payload, key_id, signature, not_before_time, expire_time, issue_time, grant_digest)
      select c.tenant, c.capability_id, c.capability_digest, c.holder, c.idempotency_key, c.fingerprint, c.proposal_id,
        c.revision, 'issued', c.payload_type, c.payload, c.capability_key, c.signature, c.not_before_time,
        c.expire_time, judged_at, grants[c.ordinality]
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

    -- What is issued is spent; the sums leave nobody out. The counters are ours, and the constraints have the last word.
    if cardinality(spent_by) > 0 then
      if exists (select 1 from unnest(spent_by) s(ordinal) where not won[s.ordinal]) then
        raise exception 'another call was faster' using errcode = 'serialization_failure';
      end if;
      insert into grant_use (
        tenant, grant_digest, uses, tokens, usd_micros, uses_before, tokens_before, usd_micros_before, tokens_spent,
        usd_micros_spent, most_uses, most_tokens, most_usd_micros, capability_id, expire_time, use_time)
      select counters.tenants[s.of], counters.digests[s.of], s.uses, s.tokens, s.usd_micros, nullif(s.uses - 1, 0),
        case when s.uses > 1 then s.tokens - costs_tokens[s.by] end,
        case when s.uses > 1 then s.usd_micros - costs_usd_micros[s.by] end,
        costs_tokens[s.by], costs_usd_micros[s.by], counters.most_uses[s.of], counters.most_tokens[s.of],
        counters.most_usd_micros[s.of], (offers[s.by]).capability_id, (offers[s.by]).expire_time, judged_at
      from unnest(spent_by, spent_of, spent_uses, spent_tokens, spent_usd_micros) s(by, of, uses, tokens, usd_micros);
    end if;

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
    case when outcomes[o.ordinality] in ('conflict', 'spent', 'ungranted') then fields[o.ordinality] end,
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
-- For processes of an earlier version, which send no traces, or know no grants.
create or replace function authority.issue(
  offers authority.issue_offer[], judged_at timestamptz, clock_bound interval, traces text[])
returns table (
  ordinal bigint, outcome text, field text, receipt_id uuid, capability_id uuid, payload_type text, payload bytea,
  key_id bytea, signature bytea)
language sql volatile security invoker
set search_path = authority, pg_temp
as $$ select i.* from issue(offers, judged_at, clock_bound, traces, '{}') i $$;

create or replace function authority.issue(
  offers authority.issue_offer[], judged_at timestamptz, clock_bound interval)
returns table (
  ordinal bigint, outcome text, field text, receipt_id uuid, capability_id uuid, payload_type text, payload bytea,
  key_id bytea, signature bytea)
language sql volatile security invoker
set search_path = authority, pg_temp
as $$ select i.* from issue(offers, judged_at, clock_bound, null, '{}') i $$;

revoke all on function
  authority.issue(authority.issue_offer[], timestamptz, interval, text[], authority.grant_spend[]) from public;
revoke all on function authority.issue(authority.issue_offer[], timestamptz, interval, text[]) from public;
revoke all on function authority.issue(authority.issue_offer[], timestamptz, interval) from public;
grant execute on function authority.issue_standing(authority.issue_offer[], boolean[], timestamptz) to authority_issue;
grant execute on function
  authority.issue(authority.issue_offer[], timestamptz, interval, text[], authority.grant_spend[]) to authority_issue;
grant execute on function authority.issue(authority.issue_offer[], timestamptz, interval, text[]) to authority_issue;
grant execute on function authority.issue(authority.issue_offer[], timestamptz, interval) to authority_issue;
