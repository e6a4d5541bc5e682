-- The counters of grants, for whoever is about to spend: one for each grant of the chains of `spends`, numbered in the order
-- in which they are locked. Whoever spends next waits for our end, and reads after it.
--
-- It runs with the rights of its caller, who has named the tenants, plans nothing anew and seeks, as issue does.
-- live: capabilities that are issued and can be committed still. against: as grant_refusal, of the grants that are spent
-- themselves; of their ancestors it tells nothing.
create or replace function authority.lock_grant_counters(spends authority.grant_spend[], judged_at timestamptz)
returns table (
  number bigint, tenant text, digest bytea, uses bigint, tokens bigint, usd_micros bigint, live bigint, most_uses bigint,
  most_tokens bigint, most_usd_micros bigint, most_live bigint, against text)
language plpgsql volatile security invoker
set search_path = authority, pg_temp
as $$
#variable_conflict use_column
declare
  tenants text[];
  digests bytea[];
begin
  with met as materialized (
    select distinct s.tenant, b.digest
    from unnest(spends) s
    cross join lateral (
      select g.chain from grant_record g where g.tenant = s.tenant and g.digest = s.grant_digest limit 1) g
    cross join lateral unnest(g.chain) b(digest)
    order by 1, 2)
  select array_agg(l.tenant order by l.tenant, l.digest), array_agg(l.digest order by l.tenant, l.digest)
  into tenants, digests
  from met m
  cross join lateral (
    select g.tenant, g.digest from grant_record g
    where g.tenant = m.tenant and g.digest = m.digest for no key update) l;

  -- What the locks protect is read by a statement of its own, in a new snapshot.
  return query
  select m.number, m.tenant, m.digest, coalesce(u.uses, 0), coalesce(u.tokens, 0), coalesce(u.usd_micros, 0), l.live,
    g.uses, g.tokens, g.usd_micros, g.concurrency,
    case when (m.tenant, m.digest) in (select s.tenant, s.grant_digest from unnest(spends) s)
      then grant_refusal(m.tenant, m.digest, judged_at) end
  from unnest(tenants, digests) with ordinality m(tenant, digest, number)
  cross join lateral (
    select o.uses, o.tokens, o.usd_micros, o.concurrency from grant_record o
    where o.tenant = m.tenant and o.digest = m.digest limit 1) g
  left join lateral (
    select o.uses, o.tokens, o.usd_micros from grant_use o
    where o.tenant = m.tenant and o.grant_digest between m.digest and m.digest
    order by o.grant_digest desc, o.uses desc limit 1) u on true
  cross join lateral (
    select count(*) as live from grant_use o
    cross join lateral (
      select from capability c
      where c.tenant = o.tenant and c.capability_id between o.capability_id and o.capability_id and c.state = 'issued'
      order by c.capability_id limit 1) c
    where o.tenant = m.tenant and o.grant_digest = m.digest and o.expire_time > judged_at) l
  order by m.number;
end $$;

revoke all on function authority.lock_grant_counters(authority.grant_spend[], timestamptz) from public;
grant execute on function authority.lock_grant_counters(authority.grant_spend[], timestamptz)
  to authority_issue, authority_spender;
