-- What a visible record is, once for everyone who reads memory: get, list, recall, export and the validators.
--
-- Each stands in a `from` and is planned as if its text stood there, with the reader's own rights and tenant wall: it is
-- one `select`, stable, not strict, and sets nothing. Whoever adds to it keeps it so.
--
-- Living: neither withdrawn (no tombstone of its content is later than the decision that allowed it) nor superseded.
create or replace function authority.living_records(of_tenant text) returns setof authority.memory_record
language sql stable as $$
  select r.* from authority.memory_record r
  where r.tenant = of_tenant
    and r.superseded_by is null
    and not exists (
      select 1 from authority.tombstone t
      where t.tenant = r.tenant and t.memory_namespace = r.memory_namespace and t.content_digest = r.content_digest
        and t.sequence > r.decision_sequence)
$$;

-- Visible: living, unexpired and valid now, and visible to the whole workspace or the reader's own. Until membership of
-- teams and channels is known, narrower records are their proposer's alone: unknown shows nothing.
create or replace function authority.visible_records(of_tenant text, reader text, at_time timestamptz)
returns setof authority.memory_record
language sql stable as $$
  select r.* from authority.living_records(of_tenant) r
  where (r.visibility = 'workspace' or r.proposer = reader)
    and (r.expire_time is null or r.expire_time > at_time)
    and (r.valid_from_time is null or r.valid_from_time <= at_time)
    and (r.valid_until_time is null or r.valid_until_time > at_time)
$$;
