-- name: bundle_of_namespace
-- The memory namespace with its active policy bundle.
select n.tenant, n.name, n.mode, n.privileged, n.least_profile, n.default_visibility, n.policy_version, v.bundle
from authority.memory_namespace n
join authority.policy_version v on v.version = n.policy_version
where n.tenant = $1 and n.name = $2

-- name: policy_version_of_tenant
-- A bundle that decides in the tenant, or decided there once, and the memory namespaces that are under it now.
select v.version, v.bundle, v.load_time, n.names
from authority.policy_version v
cross join lateral (
  select coalesce(array_agg(o.name order by o.name), '{}') as names
  from (
    select m.name from authority.memory_namespace m where m.tenant = $1 and m.policy_version = v.version
    order by m.name limit 1000) o) n
where v.version = $2
  and (cardinality(n.names) > 0 or exists (
    select 1 from authority.decision_receipt d where d.policy_version = v.version and d.tenant = $1))

-- name: cited_records
-- Of these records, those that the reader is given now, and whether each was validated.
select r.record_id, r.receipt_id is not null as validated
from authority.recalled_records($1, $3, $4, false) r
where r.record_id = any ($2::uuid[])

-- name: insert_decision
insert into authority.decision_receipt (
  tenant, digest, decision_id, proposal_id, revision, memory_namespace, holder, validation_receipt_digest,
  policy_version, outcome, sequence, payload_type, payload, key_id, signature, decide_time, expire_time, approvals,
  persons_needed, external_keys)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)

-- name: insert_activation
-- That policy allowed a revision without a person, under the decision's own id and sequence.
insert into authority.approval_decision (
  tenant, reference, proposal_id, revision, proposal_digest, validation_receipt_digest, verdict, decided_by_kind, note,
  holder, policy_version, determining_policies, sequence, decide_time, expire_time)
values ($1, $2, $3, $4, $5, $6, 'approve', 'system_policy', '', $7, $8, $9, $10, $11, $12)

-- name: use_approvals
-- Each approval of these that has a number of uses is used once more; none whose number was reached, or that another
-- transaction used since. Their references.
insert into authority.approval_use (tenant, reference, number, max_uses, decision_digest, create_time)
select y.tenant, y.reference, 1 + u.used, y.max_uses, $3, $4
from authority.approval_decision y
cross join lateral (
  select count(*)::integer as used from authority.approval_use o
  where o.tenant = y.tenant and o.reference = y.reference) u
where y.tenant = $1 and y.reference = any ($2::uuid[]) and u.used < y.max_uses
order by y.reference
on conflict on constraint approval_use_each_once do nothing
returning reference

-- name: deciders_of_revision
-- Everybody who decided on a revision, as registered now, and every principal that is the same person.
select p.tenant, p.principal, p.kind, p.rights, p.state,
  array(select s from authority.same_person(p.tenant, p.principal) s) as person
from authority.principal p
where p.tenant = $1 and p.principal in (
  select y.decided_by from authority.approval_decision y
  where y.tenant = $1 and y.proposal_id = $2 and y.revision = $3)

-- name: decision_by_digest
select digest, payload_type, payload, key_id, signature
from authority.decision_receipt where tenant = $1 and digest = $2

-- name: capability_fate
-- Whose the capability is and what became of it.
select holder, state, receipt_id from authority.capability where tenant = $1 and capability_id = $2

-- name: lock_capability
-- What is to be revoked, locked, and what it belongs to.
select c.state, c.receipt_id, c.revoke_time,
  (select q.correlation_id from authority.proposal q
   where q.tenant = c.tenant and q.proposal_id = c.proposal_id and q.revision = c.revision) as correlation_id
from authority.capability c where c.tenant = $1 and c.capability_id = $2
for update

-- name: revoke_capability
update authority.capability set state = 'revoked', revoke_time = $3
where tenant = $1 and capability_id = $2 and state in ('issued', 'expired')
