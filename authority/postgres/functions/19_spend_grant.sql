-- Spends what proposing and reading under a grant cost, with rights of its own: whoever proposes or reads may change
-- nothing of grants, and by these two can do no more than use one up (semantics 6). Their owner writes the ledger and
-- nothing else. Issuing, which has many offers to answer at once, writes the same ledger in 10_issue.sql; whoever spends
-- of a chain takes the locks of 14_grant_counters.sql first, and the constraints have the last word.
--
-- Lock order: counters of grants come before request ids and proposal heads, so what is to be spent on a revision is held
-- (`hold_grant`) before either, and spent (`spend_grant`) once the revision is there to be named.
grant create on schema authority to authority_spender;
set local role authority_spender;

-- Makes everybody who spends of the chain wait for the end of this transaction.
create or replace function authority.hold_grant(of_tenant text, of_grant bytea) returns void
language plpgsql volatile security definer
set search_path = authority, pg_temp
set lock_timeout = '2s'
as $$
begin
  perform 1 from grant_record g
  where g.tenant = of_tenant and g.digest in (
    select b.digest from grant_record o cross join lateral unnest(o.chain) b(digest)
    where o.tenant = of_tenant and o.digest = of_grant)
  order by g.tenant, g.digest
  for no key update;
end $$;

-- Spends one use, and what it costs beside, along the whole chain, in the caller's transaction. Null when that is done.
-- Otherwise nothing is spent, and it answers with why: the dimension of which a block has too little left, root first, or
-- what stands against the chain now (13_grant_standing.sql).
create or replace function authority.spend_grant(
  of_tenant text, of_grant bytea, for_action text, on_proposal uuid, on_revision integer, of_tokens bigint,
  of_usd_micros bigint, judged_at timestamptz)
returns text
language plpgsql volatile security definer
set search_path = authority, pg_temp
set lock_timeout = '2s'
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  blocks integer;
  why text;
begin
  with block as materialized (
    select b.digest, b.place from unnest((
      select g.chain from grant_record g where g.tenant = of_tenant and g.digest = of_grant limit 1))
      with ordinality b(digest, place)),
  counter as materialized (
    select c.*, b.place,
      case
        when c.uses >= c.most_uses then 'uses'
        when of_tokens > c.most_tokens - c.tokens then 'tokens'
        when of_usd_micros > c.most_usd_micros - c.usd_micros then 'usd_micros'
      end as lacking
    from lock_grant_counters(
      array[row(1, of_tenant, of_grant, of_tokens, of_usd_micros)::grant_spend], judged_at) c
    join block b on b.digest = c.digest),
  verdict as materialized (
    select count(*) as blocks,
      coalesce(max(c.against), (array_agg(c.lacking order by c.place) filter (where c.lacking is not null))[1]) as why
    from counter c),
  spent as (
    insert into grant_use (
      tenant, grant_digest, uses, tokens, usd_micros, uses_before, tokens_before, usd_micros_before, tokens_spent,
      usd_micros_spent, most_uses, most_tokens, most_usd_micros, action, proposal_id, revision, use_time)
    select c.tenant, c.digest, c.uses + 1, c.tokens + of_tokens, c.usd_micros + of_usd_micros, nullif(c.uses, 0),
      case when c.uses > 0 then c.tokens end, case when c.uses > 0 then c.usd_micros end, of_tokens, of_usd_micros,
      c.most_uses, c.most_tokens, c.most_usd_micros, for_action, on_proposal, on_revision, judged_at
    from counter c cross join verdict v
    where v.why is null)
  select v.blocks, v.why into blocks, why from verdict v;
  if blocks = 0 then
    raise exception 'the grant is not kept';
  end if;
  return why;
end $$;

revoke all on function authority.hold_grant(text, bytea) from public;
revoke all on function
  authority.spend_grant(text, bytea, text, uuid, integer, bigint, bigint, timestamptz) from public;
grant execute on function authority.hold_grant(text, bytea) to authority_propose;
grant execute on function
  authority.spend_grant(text, bytea, text, uuid, integer, bigint, bigint, timestamptz)
  to authority_propose, authority_issue;

reset role;
revoke create on schema authority from authority_spender;
