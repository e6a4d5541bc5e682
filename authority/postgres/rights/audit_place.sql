-- Which transactions wrote events means something in one cluster alone: in another, to which a dump was restored, events
-- from before are older than anything (xid 0). The comment says in which they were written; a dump brings it along.
do $$
declare
  here constant text := (select system_identifier::text from pg_control_system());
  there constant text := obj_description('authority.audit_event'::regclass, 'pg_class');
begin
  if there is distinct from here then
    if there is not null then
      -- The wall stands between tenants for the table's owner as well, and is opened for this one statement.
      alter table authority.audit_event no force row level security;
      update authority.audit_event set xid = '0' where xid <> '0';
      alter table authority.audit_event force row level security;
    end if;
    execute format('comment on table authority.audit_event is %L', here);
  end if;
end $$;
