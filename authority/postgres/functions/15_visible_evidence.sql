-- Which evidence a reader may know of: what the whole workspace may see, and the reader's own. Until membership of teams
-- and channels is known, narrower evidence is its putter's alone: unknown shows nothing. It stands in a `from` and is
-- planned as if its text stood there, as visible_records.
create or replace function authority.visible_evidence(of_tenant text, reader text) returns setof authority.evidence
language sql stable as $$
  select e.* from authority.evidence e
  where e.tenant = of_tenant and (e.visibility = 'workspace' or e.put_by = reader)
$$;
