-- Every principal that is the same person as this one: itself, and whatever verified links lead to, however many there
-- are between (semantics 7). Links run in circles, too: `union` takes each principal once. The pure twin is `same_person`
-- in authority/domain/principal_link.py, and a contract test holds the two together.
--
-- It runs with the rights of its caller, who has named the tenant: the tenant wall stands as elsewhere. Links of a
-- revoked principal count on, for a person does not become two by losing one of its names.
create or replace function authority.same_person(of_tenant text, of_principal text) returns setof text
language sql stable security invoker
set search_path = authority, pg_temp
as $$
  with recursive person (principal) as (
    select of_principal
    union
    select l.linked from person p cross join lateral (
      select o.other from principal_link o
      where o.tenant = of_tenant and o.principal = p.principal and o.state = 'verified'
      union all
      select o.principal from principal_link o
      where o.tenant = of_tenant and o.other = p.principal and o.state = 'verified') l (linked))
  select principal from person
$$;

revoke all on function authority.same_person(text, text) from public;
grant execute on function authority.same_person(text, text) to
  authority_read, authority_propose, authority_issue, authority_committer, authority_admin;
