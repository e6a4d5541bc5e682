-- Which evidence a reader may know of, by the same rule as records: private is its putter's alone, channel and team their
-- live members', workspace everybody's. It stands in a `from` and is planned as if its text stood there.
create or replace function authority.visible_evidence(of_tenant text, reader text) returns setof authority.evidence
language sql stable as $$
  select e.* from authority.evidence e
  where e.tenant = of_tenant
    and exists (select 1 from authority.principal p
      where p.tenant = of_tenant and p.principal = reader and p.state = 'active')
    and (e.visibility = 'workspace' or (e.visibility = 'private' and e.put_by = reader)
      or (e.visibility, e.visibility_scope) in (
        select m.scope_kind, m.scope_id from authority.live_memberships(of_tenant, reader) m))
$$;
