-- Committable proposals numbered from %(first)s on, copies of one of the service's own: the same sizes, other ids. Ids
-- and digests are made from the number, for pgbench can do no more than count.
create temporary table one on commit drop as
select q.*, v.payload_type as v_type, v.payload as v_payload, v.key_id as v_key, v.signature as v_signature,
  v.expire_time as v_expires, d.payload_type as d_type, d.payload as d_payload, d.key_id as d_key,
  d.signature as d_signature, d.expire_time as d_expires, d.policy_version, c.payload_type as c_type,
  c.payload as c_payload, c.key_id as c_key, c.signature as c_signature, c.not_before_time, c.expire_time as c_expires
from authority.proposal q
join authority.validation_receipt v using (tenant, proposal_id, revision)
join authority.decision_receipt d using (tenant, proposal_id, revision)
join authority.capability c using (tenant, proposal_id, revision)
where q.tenant = 'bench|tenant' limit 1;

create temporary table numbered on commit drop as
select n, ('00000000-0000-7000-8000-' || n)::uuid as id from generate_series(%(first)s::bigint, %(last)s::bigint) n;

insert into authority.proposal_head (tenant, proposal_id, current_revision, state)
select 'bench|pgbench', id, 1, 'validated' from numbered order by n;

insert into authority.proposal (
  tenant, proposal_id, revision, digest, memory_namespace, memory_type, content, content_digest, media_type, proposer,
  proposer_kind, actor_chain, provenance, source_refs, subject_refs, evidence_digests, validator_profile, visibility,
  correlation_id, costs, supersedes_record_id, create_time)
select 'bench|pgbench', id, 1, sha256(('proposal ' || n)::bytea), memory_namespace, memory_type,
  content || n::text::bytea, sha256(content || n::text::bytea), media_type, proposer, proposer_kind, actor_chain,
  provenance, source_refs, subject_refs, evidence_digests, validator_profile, visibility, correlation_id, costs,
  supersedes_record_id, create_time
from numbered, one order by n;

insert into authority.validation_receipt (
  tenant, digest, validation_id, proposal_id, revision, memory_namespace, validator_profile, validator_profile_version,
  outcome, sequence, payload_type, payload, key_id, signature, validate_time, expire_time)
select 'bench|pgbench', sha256(('validation ' || n)::bytea), id, id, 1, memory_namespace, validator_profile, '1', 'pass',
  nextval('authority.decision_sequence'), v_type, v_payload, v_key, v_signature, create_time, v_expires
from numbered, one order by n;

insert into authority.decision_receipt (
  tenant, digest, decision_id, proposal_id, revision, memory_namespace, holder, validation_receipt_digest,
  policy_version, outcome, sequence, payload_type, payload, key_id, signature, decide_time, expire_time)
select 'bench|pgbench', sha256(('decision ' || n)::bytea), id, id, 1, memory_namespace, 'bench|service',
  sha256(('validation ' || n)::bytea), policy_version, 'allow', nextval('authority.decision_sequence'), d_type,
  d_payload, d_key, d_signature, create_time, d_expires
from numbered, one order by n;

insert into authority.capability (
  tenant, capability_id, digest, holder, idempotency_key, fingerprint, proposal_id, revision, state, payload_type,
  payload, key_id, signature, not_before_time, expire_time, issue_time)
select 'bench|pgbench', ('00000001-0000-7000-8000-' || n)::uuid, sha256(('capability ' || n)::bytea), 'bench|service',
  '00000002-0000-7000-8000-' || n, sha256(('fingerprint ' || n)::bytea), id, 1, 'issued', c_type, c_payload, c_key,
  c_signature, not_before_time, c_expires, not_before_time
from numbered, one order by n;
