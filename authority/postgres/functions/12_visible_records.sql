-- What a visible record is, once for everyone who reads memory: get, list, recall, export, citations and the validators.
--
-- Each stands in a `from` and is planned as if its text stood there, with the reader's own rights and tenant wall: it is
-- one `select`, stable, not strict, and sets nothing. Whoever adds to it keeps it so.
--
-- The channels and teams that a principal is a member of now; none of a principal that is revoked.
create or replace function authority.live_memberships(of_tenant text, reader text) returns setof authority.membership
language sql stable as $$
  select m.* from authority.membership m
  where m.tenant = of_tenant and m.principal = reader and m.state = 'active'
    and exists (select 1 from authority.principal p
      where p.tenant = of_tenant and p.principal = reader and p.state = 'active')
$$;

-- Shown: of a visibility that includes the reader now, whatever became of the record. Private is the proposer's alone;
-- channel and team are their live members', the proposer too only while it is one; workspace is every principal's of the
-- tenant. A reader that is revoked or unknown is shown nothing. What is asked once for a whole query, and not for each
-- record, is who the reader is: an `or` keeps its memberships a hashed set, which workspace records never ask for.
create or replace function authority.shown_records(of_tenant text, reader text) returns setof authority.memory_record
language sql stable as $$
  select r.* from authority.memory_record r
  where r.tenant = of_tenant
    and exists (select 1 from authority.principal p
      where p.tenant = of_tenant and p.principal = reader and p.state = 'active')
    and (r.visibility = 'workspace' or (r.visibility = 'private' and r.proposer = reader)
      or (r.visibility, r.visibility_scope) in (
        select m.scope_kind, m.scope_id from authority.membership m
        where m.tenant = of_tenant and m.principal = reader and m.state = 'active'))
$$;

-- Living: shown, and neither withdrawn (no tombstone of its content is later than the decision that allowed it) nor
-- superseded.
create or replace function authority.living_records(of_tenant text, reader text) returns setof authority.memory_record
language sql stable as $$
  select r.* from authority.shown_records(of_tenant, reader) r
  where r.superseded_by is null
    and not exists (
      select 1 from authority.tombstone t
      where t.tenant = r.tenant and t.memory_namespace = r.memory_namespace and t.content_digest = r.content_digest
        and t.sequence > r.decision_sequence)
$$;
drop function if exists authority.living_records(text); -- of all readers at once: what nobody may ask for

-- Visible: living, unexpired and valid now.
create or replace function authority.visible_records(of_tenant text, reader text, at_time timestamptz)
returns setof authority.memory_record
language sql stable as $$
  select r.* from authority.living_records(of_tenant, reader) r
  where (r.expire_time is null or r.expire_time > at_time)
    and (r.valid_from_time is null or r.valid_from_time <= at_time)
    and (r.valid_until_time is null or r.valid_until_time > at_time)
$$;
