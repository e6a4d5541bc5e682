-- Who holds active keys. Both functions run with the rights of their caller and name the tenants that are asked for their
-- own statement only, so both tenant walls stand as elsewhere.

-- One key: what processes of an earlier version ask for, which run on while the database is migrated.
create or replace function authority.active_key(of_tenant text, of_key bytea, of_principal text)
returns table (tenant text, principal text, kind text, rights text[], public_key bytea)
language plpgsql volatile security invoker
set search_path = authority, pg_temp
as $$
#variable_conflict use_column
begin
  perform set_config('authority.tenants', of_tenant, true);
  return query
  select p.tenant, p.principal, p.kind, p.rights, k.public_key
  from principal_key k
  join principal p on p.tenant = k.tenant and p.principal = k.principal
  where k.tenant = of_tenant and k.key_id = of_key and k.principal = of_principal and k.state = 'active' and p.state = 'active';
end $$;

revoke all on function authority.active_key(text, bytea, text) from public;
grant execute on function authority.active_key(text, bytea, text) to authority_read, authority_issue;

-- Many keys, for every call of the service asks for one. A row has the place of its lookup in the arrays; what is not
-- active has no row. Lateral and limited: for each lookup one probe of each index, whatever the planner believes of sizes,
-- and of keys in the order of the index by key, not of all that a principal has. It plans once, for it would believe that
-- planning again for each length of the arrays is worth it.
--
-- What signs nothing has an empty key. Where no principal is named whoever owns it is found, and of tokens, too: they
-- bind nobody, so that no holder has one. That is a statement of its own, for callers who sign are most of them.
create or replace function authority.active_keys(of_tenants text[], of_keys bytea[], of_principals text[])
returns table (ordinal bigint, tenant text, principal text, kind text, rights text[], public_key bytea)
language plpgsql volatile security invoker
set search_path = authority, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  perform set_config(
    'authority.tenants', array_to_string(array(select distinct t.tenant from unnest(of_tenants) t(tenant)), ','), true);
  return query
  select a.ordinality, p.tenant, p.principal, p.kind, p.rights, k.public_key
  from unnest(of_tenants, of_keys, of_principals) with ordinality a(tenant, key_id, principal, ordinality)
  cross join lateral (
    select o.public_key from principal_key o
    where o.tenant = a.tenant and o.key_id between a.key_id and a.key_id and o.principal = a.principal
      and o.state = 'active'
    order by o.key_id limit 1) k
  cross join lateral (
    select o.tenant, o.principal, o.kind, o.rights from principal o
    where o.tenant = a.tenant and o.principal = a.principal and o.state = 'active' limit 1) p;
  if array_position(of_principals, null) is null then
    return;
  end if;
  return query
  select a.ordinality, p.tenant, p.principal, p.kind, p.rights, k.public_key
  from unnest(of_tenants, of_keys, of_principals) with ordinality a(tenant, key_id, principal, ordinality)
  cross join lateral (
    (select o.principal, o.public_key from principal_key o
     where o.tenant = a.tenant and o.key_id between a.key_id and a.key_id and o.state = 'active'
     order by o.key_id limit 1)
    union all
    (select o.principal, ''::bytea from token_identity o
     where o.tenant = a.tenant and o.identity_id between a.key_id and a.key_id and o.state = 'active'
     order by o.identity_id limit 1)
    limit 1) k
  cross join lateral (
    select o.tenant, o.principal, o.kind, o.rights from principal o
    where o.tenant = a.tenant and o.principal = k.principal and o.state = 'active' limit 1) p
  where a.principal is null;
end $$;

revoke all on function authority.active_keys(text[], bytea[], text[]) from public;
grant execute on function authority.active_keys(text[], bytea[], text[]) to authority_read;
