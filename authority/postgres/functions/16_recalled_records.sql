-- What a reader is given of what it may see: once a memory namespace enforces, nothing that was never validated, unless
-- it is asked for. Planned as if its text stood where it is called, like 12_visible_records.sql.
create or replace function authority.recalled_records(
  of_tenant text, reader text, at_time timestamptz, with_unvalidated boolean)
returns setof authority.memory_record
language sql stable as $$
  select r.* from authority.visible_records(of_tenant, reader, at_time) r
  where r.receipt_id is not null
    or with_unvalidated
    or exists (
      select 1 from authority.memory_namespace n
      where n.tenant = r.tenant and n.name = r.memory_namespace and n.mode <> 'enforce')
$$;
