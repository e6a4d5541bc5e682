-- Who holds an active key: asked by every call, so in one round trip instead of a transaction of four. It runs with the
-- rights of its caller and names the tenant for its own statement only, so both tenant walls stand as elsewhere.
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
