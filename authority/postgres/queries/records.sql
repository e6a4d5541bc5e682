-- name: record_by_id
-- A record that the reader may see: valid now, not withdrawn, visible to the whole workspace or the reader's own.
select r.tenant, r.record_id, r.receipt_id, r.memory_namespace, r.memory_type, r.provenance, r.content,
  r.content_digest, r.media_type, r.proposer, r.proposal_id, r.revision, r.source_refs, r.subject_refs,
  r.evidence_digests, r.visibility, r.valid_from_time, r.valid_until_time, r.expire_time, r.correlation_id, r.costs,
  r.create_time
from authority.memory_record r
where r.tenant = $1
  and r.record_id = $2
  and (r.visibility = 'workspace' or r.proposer = $3)
  and (r.expire_time is null or r.expire_time > $4)
  and (r.valid_from_time is null or r.valid_from_time <= $4)
  and (r.valid_until_time is null or r.valid_until_time > $4)
  and not exists (
    select 1 from authority.tombstone t
    where t.tenant = r.tenant and t.memory_namespace = r.memory_namespace and t.content_digest = r.content_digest
      and t.sequence > r.decision_sequence)

-- name: record_page
-- Visible records of a memory namespace by id, after $5.
select r.tenant, r.record_id, r.receipt_id, r.memory_namespace, r.memory_type, r.provenance, r.content,
  r.content_digest, r.media_type, r.proposer, r.proposal_id, r.revision, r.source_refs, r.subject_refs,
  r.evidence_digests, r.visibility, r.valid_from_time, r.valid_until_time, r.expire_time, r.correlation_id, r.costs,
  r.create_time
from authority.memory_record r
where r.tenant = $1
  and r.memory_namespace = $2
  and (r.visibility = 'workspace' or r.proposer = $3)
  and (r.expire_time is null or r.expire_time > $4)
  and (r.valid_from_time is null or r.valid_from_time <= $4)
  and (r.valid_until_time is null or r.valid_until_time > $4)
  and r.record_id > $5
  and not exists (
    select 1 from authority.tombstone t
    where t.tenant = r.tenant and t.memory_namespace = r.memory_namespace and t.content_digest = r.content_digest
      and t.sequence > r.decision_sequence)
order by r.record_id
limit $6
