-- The second tenant wall: whatever a query forgets, a row of a tenant that the transaction did not name is not there.
-- The subselect is mandatory: it is evaluated once for each statement instead of once for each row.
-- A policy is never changed in place, but by a numbered migration.
do $$
declare walled text;
begin
  foreach walled in array array[
    'grant_record', 'grant_use',
    'memory_namespace', 'principal', 'principal_key', 'request', 'proposal_head', 'proposal', 'validation_receipt',
    'approval_decision', 'decision_receipt', 'capability', 'commit_receipt', 'memory_record', 'tombstone', 'outbox',
    'outbox_parked', 'audit_event', 'stream_nonce', 'revocation', 'refusal_count', 'citation', 'evidence',
    'token_identity', 'principal_link', 'membership', 'content_signature', 'content_band',
    'content_assertion', 'content_to_erase', 'aggregate', 'approval_use', 'unvalidated_write',
    'external_authority', 'external_key', 'key_alias', 'replay_reservation', 'upstream_proof']
  loop
    -- Only what is missing: each of these locks out everybody who is at work on the table.
    if not (select c.relrowsecurity and c.relforcerowsecurity from pg_class c
            where c.oid = format('authority.%I', walled)::regclass) then
      execute format('alter table authority.%I enable row level security, force row level security', walled);
    end if;
    if not exists (select 1 from pg_policies p
                   where p.schemaname = 'authority' and p.tablename = walled and p.policyname = 'tenant_wall') then
      execute format(
        'create policy tenant_wall on authority.%I using (tenant = any ((select string_to_array('
        'current_setting(''authority.tenants'', true), '',''))::text[]))', walled);
    end if;
  end loop;
end $$;

-- The relay delivers for every tenant; what was not delivered it can never delete. The aggregator counts every tenant's.
do $$
declare wanted record;
begin
  for wanted in
    select * from (values
      ('relay_reads_all', 'outbox', 'for select to authority_relay using (true)'),
      ('relay_marks_all', 'outbox', 'for update to authority_relay using (true)'),
      ('relay_forgets_all', 'outbox', 'for delete to authority_relay using (true)'),
      ('only_what_was_delivered_is_forgotten', 'outbox',
       'as restrictive for delete using (delivered_time is not null)'),
      ('relay_parks_all', 'outbox_parked', 'for all to authority_relay using (true)'),
      ('aggregator_counts_all', 'memory_record', 'for select to authority_aggregator using (true)')) as p (name, walled, rule)
  loop
    if not exists (select 1 from pg_policies p where p.schemaname = 'authority' and p.tablename = wanted.walled
                     and p.policyname = wanted.name) then
      execute format('create policy %I on authority.%I %s', wanted.name, wanted.walled, wanted.rule);
    end if;
  end loop;
end $$;

-- A proof that could still be fresh is never forgotten, so that nobody can open a stream with it again.
do $$
begin
  if not exists (select 1 from pg_policies p where p.schemaname = 'authority' and p.tablename = 'stream_nonce'
                   and p.policyname = 'only_what_is_old_is_forgotten') then
    create policy only_what_is_old_is_forgotten on authority.stream_nonce as restrictive for delete
      using (use_time < now() - interval '10 min');
  end if;
end $$;

-- A reservation is kept for as long as its envelope could be accepted anywhere, so that nothing passes twice.
do $$
begin
  if not exists (select 1 from pg_policies p where p.schemaname = 'authority' and p.tablename = 'replay_reservation'
                   and p.policyname = 'only_what_is_over_is_forgotten') then
    create policy only_what_is_over_is_forgotten on authority.replay_reservation as restrictive for delete
      using (expire_time < now() - interval '10 min');
  end if;
end $$;

-- Counts of refusals are kept for a quarter of a year, whatever is asked.
do $$
begin
  if not exists (select 1 from pg_policies p where p.schemaname = 'authority' and p.tablename = 'refusal_count'
                   and p.policyname = 'only_what_is_old_is_forgotten') then
    create policy only_what_is_old_is_forgotten on authority.refusal_count as restrictive for delete
      using (minute < now() - interval '90 days');
  end if;
end $$;

-- Whoever has policy decide keeps what it activated, and what a person takes back; a person's approval it never makes.
do $$
begin
  if not exists (select 1 from pg_policies p where p.schemaname = 'authority' and p.tablename = 'approval_decision'
                   and p.policyname = 'issuing_approves_nothing') then
    create policy issuing_approves_nothing on authority.approval_decision as restrictive for insert to authority_issue
      with check (decided_by_kind = 'system_policy' or verdict = 'revoke');
  end if;
end $$;

-- Who may write memory without validation may write no other: what has a receipt is the commit function's alone.
do $$
begin
  if not exists (select 1 from pg_policies p where p.schemaname = 'authority' and p.tablename = 'memory_record'
                   and p.policyname = 'only_without_a_receipt') then
    create policy only_without_a_receipt on authority.memory_record as restrictive for insert to authority_unvalidated
      with check (receipt_id is null);
  end if;
end $$;

-- What is to be erased is looked for in every tenant; the content that is, and nothing of it twice, is emptied. A head is
-- only locked.
do $$
declare wanted record;
begin
  for wanted in
    select * from (values
      ('eraser_reads_what_is_due', 'content_to_erase', 'for select to authority_eraser using (true)'),
      ('eraser_forgets_what_is_done', 'content_to_erase', 'for delete to authority_eraser using (true)'),
      ('eraser_reads_heads', 'proposal_head', 'for select to authority_eraser using (true)'),
      ('eraser_locks_heads', 'proposal_head', 'for update to authority_eraser using (true) with check (false)'),
      ('eraser_reads_proposals', 'proposal', 'for select to authority_eraser using (true)'),
      ('eraser_empties_content', 'proposal',
       'for update to authority_eraser using (true) with check (octet_length(content) = 0)'),
      ('eraser_reads_validations', 'validation_receipt', 'for select to authority_eraser using (true)'),
      ('eraser_reads_decisions', 'approval_decision', 'for select to authority_eraser using (true)'),
      ('eraser_tells', 'audit_event', 'for insert to authority_eraser with check (kind = ''proposal.erase'')')
    ) as p (name, walled, rule)
  loop
    if not exists (select 1 from pg_policies p where p.schemaname = 'authority' and p.tablename = wanted.walled
                     and p.policyname = wanted.name) then
      execute format('create policy %I on authority.%I %s', wanted.name, wanted.walled, wanted.rule);
    end if;
  end loop;
end $$;

-- Who spends of a grant locks it, and changes nothing of it; and what capabilities cost is not spent there.
do $$
declare wanted record;
begin
  for wanted in
    select * from (values
      ('spender_only_locks', 'grant_record', 'for update to authority_spender using (true) with check (false)'),
      ('spender_issues_nothing', 'grant_use',
       'for insert to authority_spender with check (action <> ''memory.commit-validated'')')
    ) as p (name, walled, rule)
  loop
    if not exists (select 1 from pg_policies p where p.schemaname = 'authority' and p.tablename = wanted.walled
                     and p.policyname = wanted.name) then
      execute format('create policy %I on authority.%I as restrictive %s', wanted.name, wanted.walled, wanted.rule);
    end if;
  end loop;
end $$;
