-- name: issuing_facts
-- The stored state that capabilities would be issued on, for those of many questions whose revision there is.
select ordinal, tenant, proposal_id, revision, digest, memory_namespace, memory_type, content, content_digest,
  media_type, proposer, proposer_kind, actor_chain, provenance, source_refs, subject_refs, evidence_digests,
  validator_profile, visibility, visibility_scope, valid_from_time, valid_until_time, record_expire_time, correlation_id, costs,
  supersedes_record_id, create_time, current_revision, state, policy_version, has_validation, has_decision, principal,
  kind, rights, has_holder_key, expire_time, subject
from authority.issuing_facts($1::authority.issuing_question[])

-- name: issue
-- Many offers in, one outcome each out, in order.
select ordinal, outcome, field, receipt_id, capability_id, payload_type, payload, key_id, signature
from authority.issue($1::authority.issue_offer[], $2, $3, $4, $5::authority.grant_spend[])
order by ordinal
