-- name: write_unvalidated
-- The reason for which nothing is written, or null: functions/17_write_unvalidated.sql.
select authority.write_unvalidated(
  $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25,
  $26, $27, $28, $29, $30, $31)

-- name: unvalidated_by_id
-- A record that was written without validation, whatever became of it, and what would have become of it.
select r.tenant, r.record_id, r.receipt_id, r.memory_namespace, r.memory_type, r.provenance, r.content,
  r.content_digest, r.media_type, r.proposer, r.proposal_id, r.revision, r.source_refs, r.subject_refs,
  r.evidence_digests, r.visibility, r.visibility_scope, r.valid_from_time, r.valid_until_time, r.expire_time, r.correlation_id, r.costs,
  r.supersedes_record_id, r.create_time, u.mode, u.would_refuse, u.validators, u.policies, u.validator_profile,
  u.validator_profile_version, u.policy_version
from authority.unvalidated_write u
join authority.memory_record r on r.tenant = u.tenant and r.record_id = u.record_id
where u.tenant = $1 and u.record_id = $2

-- name: unvalidated_that_would_be_refused
-- What enforcement would have refused in a memory namespace, by record id after $3; of the content nothing.
select r.tenant, r.record_id, r.receipt_id, r.memory_namespace, r.memory_type, r.provenance, ''::bytea as content,
  r.content_digest, r.media_type, r.proposer, r.proposal_id, r.revision, r.source_refs, r.subject_refs,
  r.evidence_digests, r.visibility, r.visibility_scope, r.valid_from_time, r.valid_until_time, r.expire_time, r.correlation_id, r.costs,
  r.supersedes_record_id, r.create_time, u.mode, u.would_refuse, u.validators, u.policies, u.validator_profile,
  u.validator_profile_version, u.policy_version
from authority.unvalidated_write u
join authority.memory_record r on r.tenant = u.tenant and r.record_id = u.record_id
where u.tenant = $1 and u.memory_namespace = $2 and u.record_id > $3 and u.would_refuse <> ''
order by u.record_id
limit $4

-- name: unvalidated_counts
select count(*) filter (where mode = 'legacy') as legacy, count(*) filter (where mode = 'observe') as observed,
  count(*) filter (where would_refuse <> '') as would_refuse
from authority.unvalidated_write where tenant = $1 and memory_namespace = $2
