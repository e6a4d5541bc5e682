-- What one commit reads and writes (authority/postgres/functions/06_commit.sql), as the ordinary statements of a service
-- without that function: one transaction, READ COMMITTED, each statement prepared. It judges nothing of what it reads.
-- Run by pgbench as superuser: row security, which the function is under, costs it nothing.
\set i :i + 1
\set n :first + :client_id * :each + :i - 1
begin;
select pg_try_advisory_xact_lock_shared(authority.global_lock()),
  pg_try_advisory_xact_lock_shared(authority.tenant_lock('bench|pgbench'));
select current_revision, state, receipt_id from authority.proposal_head
where tenant = 'bench|pgbench' and proposal_id = ('00000000-0000-7000-8000-' || :n)::uuid for update skip locked;
select digest, key_id, state, not_before_time, expire_time from authority.capability
where tenant = 'bench|pgbench' and capability_id = ('00000001-0000-7000-8000-' || :n)::uuid for update skip locked;
select receipt_id, fingerprint from authority.commit_receipt
where tenant = 'bench|pgbench' and holder = 'bench|service' and idempotency_key = '00000002-0000-7000-8000-' || :n;
select memory_namespace, digest, content_digest from authority.proposal
where tenant = 'bench|pgbench' and proposal_id = ('00000000-0000-7000-8000-' || :n)::uuid and revision = 1;
select key_id, validator_profile, validator_profile_version, outcome, expire_time from authority.validation_receipt
where tenant = 'bench|pgbench' and digest = sha256(('validation ' || :n)::bytea)
  and proposal_id = ('00000000-0000-7000-8000-' || :n)::uuid and revision = 1;
select key_id, policy_version, outcome, sequence, expire_time from authority.decision_receipt
where tenant = 'bench|pgbench' and digest = sha256(('decision ' || :n)::bytea)
  and proposal_id = ('00000000-0000-7000-8000-' || :n)::uuid and revision = 1 and holder = 'bench|service';
select policy_version from authority.memory_namespace where tenant = 'bench|pgbench' and name = 'notes';
select state from authority.principal where tenant = 'bench|pgbench' and principal = 'bench|service';
select state from authority.principal_key
where tenant = 'bench|pgbench' and key_id = :holder_key and principal = 'bench|service';
select key_id, state from authority.issuer_key
where key_id in (:capability_key, :receipt_key, :validation_key, :decision_key) and state = 'revoked';
select sequence from authority.tombstone
where tenant = 'bench|pgbench' and memory_namespace = 'notes' and content_digest = sha256(('content ' || :n)::bytea);
insert into authority.commit_receipt (
  tenant, receipt_id, record_id, capability_id, holder, idempotency_key, fingerprint, proposal_id, revision,
  memory_namespace, payload_type, payload, key_id, signature, commit_time)
values ('bench|pgbench', ('00000003-0000-7000-8000-' || :n)::uuid, ('00000004-0000-7000-8000-' || :n)::uuid,
  ('00000001-0000-7000-8000-' || :n)::uuid, 'bench|service', '00000002-0000-7000-8000-' || :n,
  sha256(('fingerprint ' || :n)::bytea), ('00000000-0000-7000-8000-' || :n)::uuid, 1, 'notes', :receipt_payload_type,
  :receipt_payload, :receipt_key, :signature, now())
on conflict do nothing returning receipt_id;
insert into authority.memory_record (
  tenant, record_id, receipt_id, memory_namespace, memory_type, provenance, content, content_digest, media_type,
  proposer, proposal_id, revision, source_refs, subject_refs, evidence_digests, visibility, valid_from_time,
  valid_until_time, expire_time, correlation_id, costs, decision_sequence, create_time)
select q.tenant, ('00000004-0000-7000-8000-' || :n)::uuid, ('00000003-0000-7000-8000-' || :n)::uuid,
  q.memory_namespace, q.memory_type, q.provenance, q.content, q.content_digest, q.media_type, q.proposer, q.proposal_id,
  q.revision, q.source_refs, q.subject_refs, q.evidence_digests, q.visibility, q.valid_from_time, q.valid_until_time,
  q.record_expire_time, q.correlation_id, q.costs, 1, now()
from authority.proposal q
where q.tenant = 'bench|pgbench' and q.proposal_id = ('00000000-0000-7000-8000-' || :n)::uuid and q.revision = 1;
insert into authority.outbox (tenant, id, aggregatetype, aggregateid, sequence, type, payload, traceparent, create_time)
values ('bench|pgbench', ('00000005-0000-7000-8000-' || :n)::uuid, 'memory_record',
  '00000004-0000-7000-8000-' || :n, 1, 'memory.committed.v1', :event, '', now());
insert into authority.audit_event (
  tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time)
values ('bench|pgbench', 'memory.commit', 'bench|service', '00000004-0000-7000-8000-' || :n, 'issued', 'consumed',
  :costs, 'bench', '', now());
update authority.capability set state = 'consumed', receipt_id = ('00000003-0000-7000-8000-' || :n)::uuid
where tenant = 'bench|pgbench' and capability_id = ('00000001-0000-7000-8000-' || :n)::uuid;
update authority.proposal_head set state = 'committed', receipt_id = ('00000003-0000-7000-8000-' || :n)::uuid
where tenant = 'bench|pgbench' and proposal_id = ('00000000-0000-7000-8000-' || :n)::uuid;
commit;
