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

-- name: insert_decision
insert into authority.decision_receipt (
  tenant, digest, decision_id, proposal_id, revision, memory_namespace, holder, validation_receipt_digest,
  policy_version, outcome, sequence, payload_type, payload, key_id, signature, decide_time, expire_time)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)

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
