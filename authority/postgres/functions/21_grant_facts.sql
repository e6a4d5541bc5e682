-- What is kept of grants, for every use of one. Both functions run with the rights of their caller and name the tenant for
-- their own statement only, as active_key does: one round trip each, in place of a transaction of four.

-- A kept grant and its ancestors, root first.
create or replace function authority.grant_chain(of_tenant text, of_digest bytea)
returns table (payload_type text, payload bytea, key_id bytea, signature bytea, revoke_time timestamptz)
language plpgsql volatile security invoker
set search_path = authority, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  perform set_config('authority.tenants', of_tenant, true);
  return query
  select g.payload_type, g.payload, g.key_id, g.signature, g.revoke_time
  from unnest((
    select o.chain from grant_record o where o.tenant = of_tenant and o.digest = of_digest)) with ordinality b(digest, place)
  cross join lateral (
    select o.payload_type, o.payload, o.key_id, o.signature, o.revoke_time from grant_record o
    where o.tenant = of_tenant and o.digest = b.digest limit 1) g
  order by b.place;
end $$;

-- Of a chain's blocks, whoever it names, their keys and its subject, in one moment: one row.
create or replace function authority.grant_chain_facts(
  of_tenant text, digests bytea[], named text[], keys bytea[], of_subject text)
returns table (
  met bytea[], has_revoked_block boolean, has_revoked_key boolean, active_principals bigint, tenant text, principal text,
  kind text, rights text[])
language plpgsql volatile security invoker
set search_path = authority, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  perform set_config('authority.tenants', of_tenant, true);
  return query
  select g.met, coalesce(g.has_revoked, false),
    exists (
      select 1 from unnest(keys) n(key_id)
      cross join lateral (
        select o.state from principal_key o
        where o.tenant = of_tenant and o.key_id between n.key_id and n.key_id order by o.key_id limit 1) k
      where k.state = 'revoked'),
    (select count(*) from unnest(named) n(principal)
      cross join lateral (
        select o.state from principal o where o.tenant = of_tenant and o.principal = n.principal limit 1) p
      where p.state = 'active'),
    s.tenant, s.principal, s.kind, s.rights
  from (
    select coalesce(array_agg(b.digest), '{}') as met, bool_or(b.state = 'revoked') as has_revoked
    from unnest(digests) n(digest)
    cross join lateral (
      select o.digest, o.state from grant_record o
      where o.tenant = of_tenant and o.digest = n.digest limit 1) b) g
  left join lateral (
    select o.tenant, o.principal, o.kind, o.rights from principal o
    where o.tenant = of_tenant and o.principal = of_subject and o.state = 'active' limit 1) s on true;
end $$;

revoke all on function authority.grant_chain(text, bytea) from public;
revoke all on function authority.grant_chain_facts(text, bytea[], text[], bytea[], text) from public;
grant execute on function authority.grant_chain(text, bytea) to authority_issue;
grant execute on function authority.grant_chain_facts(text, bytea[], text[], bytea[], text) to authority_issue;
