-- The second tenant wall: whatever a query forgets, a row of a tenant that the transaction did not name is not there.
-- The subselect is mandatory: it is evaluated once for each statement instead of once for each row.
do $$
declare walled text;
begin
  foreach walled in array array[
    'memory_namespace', 'principal', 'principal_key', 'request', 'proposal_head', 'proposal', 'validation_receipt',
    'approval_decision', 'decision_receipt', 'capability', 'commit_receipt', 'memory_record', 'tombstone', 'outbox',
    'audit_event']
  loop
    execute format('alter table authority.%I enable row level security', walled);
    execute format('alter table authority.%I force row level security', walled);
    execute format('drop policy if exists tenant_wall on authority.%I', walled);
    execute format(
      'create policy tenant_wall on authority.%I using (tenant = any ((select string_to_array('
      'current_setting(''authority.tenants'', true), '',''))::text[]))', walled);
  end loop;
end $$;

-- The relay delivers for every tenant.
drop policy if exists relay_reads_all on authority.outbox;
create policy relay_reads_all on authority.outbox for select to authority_relay using (true);
