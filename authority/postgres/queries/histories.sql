-- name: record_history
-- A record whatever became of it, whether it is shown to the reader $3, when its content was withdrawn first after it had been decided on, and what corrects it.
select r.tenant, r.record_id, r.receipt_id, r.memory_namespace, r.memory_type, r.provenance, r.content,
  r.content_digest, r.media_type, r.proposer, r.proposal_id, r.revision, r.source_refs, r.subject_refs,
  r.evidence_digests, r.visibility, r.visibility_scope, r.valid_from_time, r.valid_until_time, r.expire_time, r.correlation_id, r.costs,
  r.create_time, r.superseded_by, r.supersede_time, r.supersedes_record_id, w.create_time as revoke_time,
  w.note as revoke_note,
  exists (select 1 from authority.shown_records($1, $3) s where s.record_id = r.record_id) as is_shown
from authority.memory_record r
left join lateral (
  select t.create_time, t.note from authority.tombstone t
  where t.tenant = r.tenant and t.memory_namespace = r.memory_namespace and t.content_digest = r.content_digest
    and t.sequence > r.decision_sequence
  order by t.sequence limit 1) w on true
where r.tenant = $1 and r.record_id = $2

-- name: capability_by_id
select payload_type, payload, key_id, signature
from authority.capability where tenant = $1 and capability_id = $2

-- name: upstream_proof
-- The envelope of upstream that proved the commit with this receipt.
select envelope, digest, key_id from authority.upstream_proof where tenant = $1 and receipt_id = $2

-- name: revisions_of_proposal
-- Every revision, content left out, the newest first; at most $3.
select q.tenant, q.proposal_id, q.revision, q.digest, q.memory_namespace, q.memory_type, ''::bytea as content,
  q.content_digest, q.media_type, q.proposer, q.proposer_kind, q.actor_chain, q.provenance, q.source_refs,
  q.subject_refs, q.evidence_digests, q.validator_profile, q.visibility, q.visibility_scope, q.valid_from_time,
  q.valid_until_time, q.record_expire_time, q.correlation_id, q.costs, q.supersedes_record_id, q.create_time,
  q.expire_time, q.subject, h.current_revision,
  case when q.revision = h.current_revision then h.state else 'superseded' end as state
from authority.proposal_head h
join authority.proposal q on q.tenant = h.tenant and q.proposal_id = h.proposal_id
where h.tenant = $1 and h.proposal_id = $2
order by q.revision desc
limit $3
