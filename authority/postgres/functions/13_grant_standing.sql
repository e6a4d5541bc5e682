-- What stands against the chain of a kept grant now: 'KEY_REVOKED' (the key that signed one of its blocks, or that a
-- holder of it is bound to), 'EXPIRED', 'REVOKED' (one of its blocks, its subject, or a holder of it), or null. It runs
-- with the rights of its caller, who has named the tenant. Nothing is asked about a capability without a grant.
--
-- The principals of a block are its own and its ancestors': the last one tells of all.
create or replace function authority.grant_refusal(of_tenant text, of_grant bytea, judged_at timestamptz)
returns text
language plpgsql stable security invoker
set search_path = authority, pg_temp
as $$
declare
  found record;
begin
  select
    bool_or(exists (select 1 from issuer_key k where k.key_id = block.key_id and k.state = 'revoked')
      or exists (
        select 1 from principal_key k where k.tenant = of_tenant and k.key_id = block.holder_key
          and k.state = 'revoked')) as has_revoked_key,
    bool_or(block.state = 'revoked') as is_revoked,
    min(block.expire_time) as expire_time
  into found
  from unnest((select g.chain from grant_record g where g.tenant = of_tenant and g.digest = of_grant)) as one(digest)
  cross join lateral (
    select g.key_id, g.holder_key, g.state, g.expire_time from grant_record g
    where g.tenant = of_tenant and g.digest = one.digest limit 1) block;
  return case
    when found.has_revoked_key then 'KEY_REVOKED'
    when found.expire_time <= judged_at then 'EXPIRED'
    when found.is_revoked or exists (
      select 1
      from unnest((
        select g.principals from grant_record g where g.tenant = of_tenant and g.digest = of_grant)) as named(principal)
      where not exists (
        select 1 from principal p
        where p.tenant = of_tenant and p.principal = named.principal and p.state = 'active')) then 'REVOKED'
  end;
end $$;

revoke all on function authority.grant_refusal(text, bytea, timestamptz) from public;
grant execute on function authority.grant_refusal(text, bytea, timestamptz)
  to authority_committer, authority_issue, authority_read, authority_spender;
