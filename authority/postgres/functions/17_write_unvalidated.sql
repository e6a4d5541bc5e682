-- Takes one record that nobody validated, where the memory namespace takes any. The only writer of such records, with an
-- owner of its own: the commit function writes what has a receipt, this one what has none, and neither can be called
-- with the other's rights (semantics 7).
--
-- It answers the reason for which it takes nothing, or null: then record, event, audit event and what would have become
-- of it stand in the caller's transaction. It judges by live state, under the tenant's lock, whatever its caller looked
-- at: mode, privilege, the writer and tombstones are read here. 'CONTENTION' is for a mode that changed since the caller
-- judged by it.
grant create on schema authority to authority_unvalidated;
set local role authority_unvalidated;

create or replace function authority.write_unvalidated(
  of_tenant text, written_by text, new_record_id uuid, in_namespace text, of_type text, of_provenance text,
  said bytea, said_digest bytea, said_media_type text, sources text[], subjects text[], seen_by text, seen_in text,
  from_time timestamptz, until_time timestamptz, end_time timestamptz, of_correlation text, spent jsonb,
  searched text, searched_names text, event_id uuid, source text, of_traceparent text, write_time timestamptz,
  judged_mode text, refusal text, failing_validators text[], determining_policies text[], profile text,
  profile_version text, by_policy bytea)
returns text
language plpgsql volatile security definer
set search_path = authority, pg_temp
set lock_timeout = '5s'
as $$
declare
  found_namespace record;
begin
  perform pg_advisory_xact_lock_shared(tenant_lock(of_tenant));
  select n.mode, n.privileged into found_namespace from memory_namespace n
  where n.tenant = of_tenant and n.name = in_namespace;
  if found and found_namespace.privileged then
    return 'POLICY_DENIED';
  end if;
  if not exists (
       select 1 from principal p where p.tenant = of_tenant and p.principal = written_by and p.state = 'active')
     or exists (
       select 1 from tombstone t
       where t.tenant = of_tenant and t.memory_namespace = in_namespace and t.content_digest = said_digest) then
    return 'REVOKED';
  end if;
  if found_namespace.mode = 'enforce' then
    return 'NOT_VALIDATED';
  end if;
  if found_namespace.mode is null then
    return 'NOT_FOUND';
  end if;
  if found_namespace.mode <> judged_mode then
    return 'CONTENTION';
  end if;

  insert into memory_record (
    tenant, record_id, memory_namespace, memory_type, provenance, content, content_digest, media_type, proposer,
    source_refs, subject_refs, evidence_digests, visibility, visibility_scope, valid_from_time, valid_until_time, expire_time,
    correlation_id, costs, decision_sequence, create_time, search)
  values (
    of_tenant, new_record_id, in_namespace, of_type, of_provenance, said, said_digest, said_media_type, written_by,
    sources, subjects, '{}', seen_by, seen_in, from_time, until_time, end_time, of_correlation, spent,
    nextval('authority.decision_sequence'), write_time,
    setweight(to_tsvector('simple', searched), 'A') || setweight(to_tsvector('simple', searched_names), 'D'));
  insert into unvalidated_write (
    tenant, record_id, memory_namespace, written_by, mode, would_refuse, validators, policies, validator_profile,
    validator_profile_version, policy_version, write_time)
  values (
    of_tenant, new_record_id, in_namespace, written_by, judged_mode, refusal, failing_validators, determining_policies,
    profile, profile_version, by_policy, write_time);
  insert into outbox (tenant, id, aggregatetype, aggregateid, sequence, type, payload, traceparent, create_time)
  values (
    of_tenant, event_id, 'memory_record', new_record_id::text, 1, 'memory.unvalidated.v1',
    memory_event(
      event_id, source, 'memory.unvalidated.v1', 1, write_time, of_tenant, in_namespace, new_record_id, null, of_type,
      of_provenance, seen_by, said_media_type, said_digest, of_correlation,
      jsonb_build_object('visibilityScope', seen_in)),
    of_traceparent, write_time);
  insert into audit_event (
    tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time)
  values (
    of_tenant, 'memory.write_unvalidated', written_by, new_record_id::text, '', judged_mode, spent, of_correlation,
    split_part(of_traceparent, '-', 2), write_time);
  if refusal <> '' then
    insert into audit_event (
      tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time)
    values (
      of_tenant, 'memory.would_refuse', written_by, new_record_id::text,
      array_to_string(failing_validators[1:8] || determining_policies[1:8], ' '), refusal, '[]', of_correlation,
      split_part(of_traceparent, '-', 2), write_time);
  end if;
  return null;
end $$;

revoke all on function authority.write_unvalidated(
  text, text, uuid, text, text, text, bytea, bytea, text, text[], text[], text, text, timestamptz, timestamptz, timestamptz,
  text, jsonb, text, text, uuid, text, text, timestamptz, text, text, text[], text[], text, text, bytea) from public;
grant execute on function authority.write_unvalidated(
  text, text, uuid, text, text, text, bytea, bytea, text, text[], text[], text, text, timestamptz, timestamptz, timestamptz,
  text, jsonb, text, text, uuid, text, text, timestamptz, text, text, text[], text[], text, text, bytea)
  to authority_propose;

reset role;
revoke create on schema authority from authority_unvalidated;
