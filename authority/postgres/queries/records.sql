-- name: record_by_id
-- A record that the reader may see, and is given. What that is, say functions/12_visible_records.sql and
-- 16_recalled_records.sql.
select r.tenant, r.record_id, r.receipt_id, r.memory_namespace, r.memory_type, r.provenance, r.content,
  r.content_digest, r.media_type, r.proposer, r.proposal_id, r.revision, r.source_refs, r.subject_refs,
  r.evidence_digests, r.visibility, r.visibility_scope, r.valid_from_time, r.valid_until_time, r.expire_time, r.correlation_id, r.costs,
  r.supersedes_record_id, r.create_time
from authority.recalled_records($1, $3, $4, $5) r
where r.record_id = $2

-- name: record_page
-- Visible records of a memory namespace by id, after $5.
select r.tenant, r.record_id, r.receipt_id, r.memory_namespace, r.memory_type, r.provenance, r.content,
  r.content_digest, r.media_type, r.proposer, r.proposal_id, r.revision, r.source_refs, r.subject_refs,
  r.evidence_digests, r.visibility, r.visibility_scope, r.valid_from_time, r.valid_until_time, r.expire_time, r.correlation_id, r.costs,
  r.supersedes_record_id, r.create_time
from authority.recalled_records($1, $3, $4, $7) r
where r.memory_namespace = $2
  and r.record_id > $5
order by r.record_id
limit $6

-- name: provenances_of_records
-- Of these records, the provenance of those that the reader may see.
select r.record_id, r.provenance
from authority.visible_records($1, $3, $4) r
where r.record_id = any ($2::uuid[])
