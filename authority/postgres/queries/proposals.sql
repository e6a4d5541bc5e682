-- name: name_tenants
-- The tenants that this transaction sees, joined by commas, which no name of one holds.
select set_config('authority.tenants', $1, true)

-- name: share_tenant_lock
-- Lets withdrawals of the tenant wait for this transaction.
select pg_advisory_xact_lock_shared(authority.tenant_lock($1))

-- name: take_global_lock
-- Waits for every running commit and keeps new ones out until this transaction ends.
select pg_advisory_xact_lock(authority.global_lock())

-- name: share_global_lock
-- Lets a withdrawal in every tenant wait for this transaction: so the feed of each tenant has one order.
select pg_advisory_xact_lock_shared(authority.global_lock())

-- name: take_tenant_lock
-- Waits for the tenant's running commits and keeps new ones out until this transaction ends.
select pg_advisory_xact_lock(authority.tenant_lock($1))

-- name: next_sequence
-- The next place in the order of decisions, approvals and revocations.
select nextval('authority.decision_sequence')

-- name: memory_namespace_by_name
select tenant, name, mode, privileged, least_profile, default_visibility, policy_version
from authority.memory_namespace where tenant = $1 and name = $2

-- name: lock_proposal_head
-- The head, locked against other revisions, decisions and commits.
select current_revision, state, receipt_id, withdraw_time from authority.proposal_head
where tenant = $1 and proposal_id = $2 for update

-- name: insert_proposal_head
-- No row when the proposal exists already.
insert into authority.proposal_head (tenant, proposal_id, supersedes_record_id, current_revision, state)
values ($1, $2, $3, 1, 'proposed')
on conflict on constraint proposal_head_key do nothing
returning current_revision

-- name: advance_proposal_head
-- The next revision takes the place of the current one, which is superseded by that.
update authority.proposal_head set current_revision = $3, state = 'proposed' where tenant = $1 and proposal_id = $2

-- name: set_proposal_state
update authority.proposal_head set state = $3 where tenant = $1 and proposal_id = $2

-- name: withdraw_proposal
update authority.proposal_head set state = 'withdrawn', withdraw_time = $3 where tenant = $1 and proposal_id = $2

-- name: begin_validation
-- Validators are at a revision that nobody has judged.
update authority.proposal_head h set state = 'validating'
from authority.proposal q
where h.tenant = $1 and h.proposal_id = $2 and h.current_revision = $3 and h.state = 'proposed'
  and q.tenant = h.tenant and q.proposal_id = h.proposal_id and q.revision = h.current_revision
returning q.correlation_id

-- name: insert_proposal
-- What recall looks for is made here, once: what the content says ($26), and the field names ($27) with less weight.
insert into authority.proposal (
  tenant, proposal_id, revision, digest, memory_namespace, memory_type, content, content_digest, media_type, proposer,
  proposer_kind, actor_chain, provenance, source_refs, subject_refs, evidence_digests, validator_profile, visibility,
  valid_from_time, valid_until_time, record_expire_time, correlation_id, costs, supersedes_record_id, create_time,
  search, visibility_scope, expire_time, subject)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
  $25, setweight(to_tsvector('simple', $26), 'A') || setweight(to_tsvector('simple', $27), 'D'), $28, $29, $30)

-- name: proposal_by_revision
-- A revision, the current one for 0; older ones than the current are superseded.
select q.tenant, q.proposal_id, q.revision, q.digest, q.memory_namespace, q.memory_type, q.content, q.content_digest,
  q.media_type, q.proposer, q.proposer_kind, q.actor_chain, q.provenance, q.source_refs, q.subject_refs,
  q.evidence_digests, q.validator_profile, q.visibility, q.visibility_scope, q.valid_from_time, q.valid_until_time,
  q.record_expire_time, q.correlation_id, q.costs, q.supersedes_record_id, q.create_time, q.expire_time,
  q.subject, h.current_revision, case when q.revision = h.current_revision then h.state else 'superseded' end as state
from authority.proposal_head h
join authority.proposal q on q.tenant = h.tenant and q.proposal_id = h.proposal_id
  and q.revision = case when $3 = 0 then h.current_revision else $3 end
where h.tenant = $1 and h.proposal_id = $2

-- name: proposal_page
-- Current revisions of a memory namespace by proposal id, content left out, as far as the reader $5 sees them ($4):
-- every one, what is shown to it and its own, or its own alone. A null state is every one.
select q.tenant, q.proposal_id, q.revision, q.digest, q.memory_namespace, q.memory_type, ''::bytea as content,
  q.content_digest, q.media_type, q.proposer, q.proposer_kind, q.actor_chain, q.provenance, q.source_refs,
  q.subject_refs, q.evidence_digests, q.validator_profile, q.visibility, q.visibility_scope, q.valid_from_time,
  q.valid_until_time, q.record_expire_time, q.correlation_id, q.costs, q.supersedes_record_id, q.create_time,
  q.expire_time, q.subject, h.current_revision, h.state
from authority.proposal_head h
join authority.proposal q on q.tenant = h.tenant and q.proposal_id = h.proposal_id and q.revision = h.current_revision
where h.tenant = $1
  and q.memory_namespace = $2
  and ($3::text is null or $3 = case
    when q.expire_time <= $8 and h.state not in ('committed', 'withdrawn') then 'expired' else h.state end)
  and ($4 = 'every' or q.proposer = $5 or ($4 = 'shown' and (q.visibility = 'workspace'
    or (q.visibility, q.visibility_scope) in (select m.scope_kind, m.scope_id from authority.live_memberships($1, $5) m))))
  and h.proposal_id > $6
order by h.proposal_id
limit $7

-- name: duplicate_record
-- The living record of the memory namespace with exactly this content that is shown to the proposer ($5), other than the
-- one that is to be corrected ($4).
-- It seeks, as the commit function does: in the order of the record's id alone it may be looked for among all of the
-- tenant.
select r.record_id
from authority.living_records($1, $5) r
where (r.memory_namespace, r.content_digest) between ($2, $3) and ($2, $3) and r.record_id is distinct from $4
order by r.memory_namespace, r.content_digest, r.record_id
limit 1

-- name: times_of_revision
-- What a revision keeps for what becomes of it: whom it belongs together with, and when it expires.
select correlation_id, expire_time from authority.proposal where tenant = $1 and proposal_id = $2 and revision = $3

-- name: content_is_erased
select octet_length(content) = 0 from authority.proposal where tenant = $1 and proposal_id = $2 and revision = $3

-- name: insert_validation
insert into authority.validation_receipt (
  tenant, digest, validation_id, proposal_id, revision, memory_namespace, validator_profile, validator_profile_version,
  outcome, sequence, payload_type, payload, key_id, signature, validate_time, expire_time)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)

-- name: newest_validation
-- The newest validation receipt of a revision.
select digest, payload_type, payload, key_id, signature
from authority.validation_receipt
where tenant = $1 and proposal_id = $2 and revision = $3
order by sequence desc
limit 1

-- name: validation_by_digest
select digest, payload_type, payload, key_id, signature
from authority.validation_receipt where tenant = $1 and digest = $2

-- name: insert_approval
insert into authority.approval_decision (
  tenant, reference, proposal_id, revision, proposal_digest, validation_receipt_digest, verdict, decided_by,
  decided_by_kind, note, holder, max_uses, sequence, decide_time, expire_time)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)

-- name: approvals_of_revision
-- The decisions on a revision in the order in which they were taken.
select y.tenant, y.reference, y.proposal_id, y.revision, y.proposal_digest, y.validation_receipt_digest, y.verdict,
  y.decided_by, y.decided_by_kind, y.note, y.holder, y.max_uses, y.policy_version, y.determining_policies,
  y.decide_time, y.expire_time,
  y.max_uses <= (
    select count(*) from authority.approval_use u where u.tenant = y.tenant and u.reference = y.reference) as is_used_up
from authority.approval_decision y
where y.tenant = $1 and y.proposal_id = $2 and y.revision = $3
order by y.sequence

-- name: newest_approvals_of_revision
-- At most $4 of them, the newest first: persons may decide as often as they like.
select y.tenant, y.reference, y.proposal_id, y.revision, y.proposal_digest, y.validation_receipt_digest, y.verdict,
  y.decided_by, y.decided_by_kind, y.note, y.holder, y.max_uses, y.policy_version, y.determining_policies,
  y.decide_time, y.expire_time,
  y.max_uses <= (
    select count(*) from authority.approval_use u where u.tenant = y.tenant and u.reference = y.reference) as is_used_up
from authority.approval_decision y
where y.tenant = $1 and y.proposal_id = $2 and y.revision = $3
order by y.sequence desc
limit $4

-- name: last_verdict
-- What the last person who decided on a revision said.
select verdict from authority.approval_decision
where tenant = $1 and proposal_id = $2 and revision = $3
order by sequence desc
limit 1
