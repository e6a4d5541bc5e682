-- name: review_page
-- Current revisions of a memory namespace that wait for persons, the oldest first, content left out, after ($5, $6): policy
-- asked for them and has not allowed it since, or was not asked yet and validators were not sure; and fewer approve than
-- are wanted. Without those whose own matter it is for anyone of $3.
select q.tenant, q.proposal_id, q.revision, q.digest, q.memory_namespace, q.memory_type, ''::bytea as content,
  q.content_digest, q.media_type, q.proposer, q.proposer_kind, q.actor_chain, q.provenance, q.source_refs,
  q.subject_refs, q.evidence_digests, q.validator_profile, q.visibility, q.visibility_scope, q.valid_from_time,
  q.valid_until_time, q.record_expire_time, q.correlation_id, q.costs, q.supersedes_record_id, q.create_time,
  q.expire_time, q.subject, h.current_revision, h.state, n.persons_needed, n.persons_approving,
  v.payload_type, v.payload, v.key_id, v.signature,
  d.payload_type as decision_type, d.payload as decision_payload, d.key_id as decision_key_id,
  d.signature as decision_signature
from authority.proposal_head h
join authority.proposal q on q.tenant = h.tenant and q.proposal_id = h.proposal_id and q.revision = h.current_revision
cross join lateral (
  select o.digest, o.outcome, o.payload_type, o.payload, o.key_id, o.signature from authority.validation_receipt o
  where o.tenant = q.tenant and o.proposal_id = q.proposal_id and o.revision = q.revision
  order by o.sequence desc limit 1) v
left join lateral (
  select o.persons_needed, o.sequence, o.payload_type, o.payload, o.key_id, o.signature
  from authority.decision_receipt o
  where o.tenant = q.tenant and o.proposal_id = q.proposal_id and o.revision = q.revision
    and o.outcome = 'require_approval' and o.validation_receipt_digest = v.digest
  order by o.sequence desc limit 1) d on true
cross join lateral (
  select greatest(coalesce(d.persons_needed, 1), 1)::integer as persons_needed, authority.approving_persons(
    q.tenant, q.proposal_id, q.revision, v.digest, q.actor_chain || q.proposer || q.subject, $4) as persons_approving) n
where h.tenant = $1 and q.memory_namespace = $2 and h.state in ('validated', 'approved')
  and (q.expire_time is null or q.expire_time > $4)
  and not (q.actor_chain || q.proposer || q.subject) && $3::text[]
  and (d.sequence is not null or v.outcome = 'review')
  and not exists (
    select 1 from authority.approval_decision y
    where y.tenant = q.tenant and y.proposal_id = q.proposal_id and y.revision = q.revision
      and y.decided_by_kind = 'system_policy' and y.validation_receipt_digest = v.digest
      and y.sequence > coalesce(d.sequence, 0))
  and n.persons_approving < n.persons_needed
  and (q.create_time, q.proposal_id) > ($5, $6)
order by q.create_time, q.proposal_id
limit $7
