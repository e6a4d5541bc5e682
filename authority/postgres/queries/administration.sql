-- name: insert_principal
-- No row when it is registered already.
insert into authority.principal (tenant, principal, kind, rights, state, create_time)
values ($1, $2, $3, $4, 'active', $5)
on conflict on constraint principal_key_ do nothing
returning principal

-- name: insert_principal_key
-- No row when the key belongs to a principal already.
insert into authority.principal_key (tenant, key_id, principal, public_key, state, create_time)
values ($1, $2, $3, $4, 'active', $5)
on conflict on constraint principal_key_one_owner do nothing
returning key_id

-- name: principal_list
select p.tenant, p.principal, p.kind, p.rights, p.state, p.create_time,
  coalesce(array_agg(k.key_id order by k.create_time) filter (where k.state = 'active'), '{}') as key_ids
from authority.principal p
left join authority.principal_key k on k.tenant = p.tenant and k.principal = p.principal
where p.tenant = $1
group by p.tenant, p.principal
order by p.principal

-- name: revoke_principal
update authority.principal set state = 'revoked' where tenant = $1 and principal = $2 and state = 'active'
returning principal

-- name: revoke_principal_key
update authority.principal_key set state = 'revoked' where tenant = $1 and key_id = $2 and state = 'active'
returning key_id

-- name: insert_memory_namespace
-- No row when it exists already.
insert into authority.memory_namespace (
  tenant, name, mode, privileged, least_profile, default_visibility, policy_version, create_time)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict on constraint memory_namespace_key do nothing
returning name

-- name: memory_namespace_list
select tenant, name, mode, privileged, least_profile, default_visibility, policy_version
from authority.memory_namespace where tenant = $1 order by name

-- name: set_memory_namespace_mode
-- The mode before.
with before as (
  select tenant, name, mode from authority.memory_namespace where tenant = $1 and name = $2 for update)
update authority.memory_namespace n set mode = $3
from before where n.tenant = before.tenant and n.name = before.name
returning before.mode

-- name: set_memory_namespace_policy
-- The policy version before.
with before as (
  select tenant, name, policy_version from authority.memory_namespace where tenant = $1 and name = $2 for update)
update authority.memory_namespace n set policy_version = $3
from before where n.tenant = before.tenant and n.name = before.name
returning before.policy_version

-- name: insert_policy_version
-- No row when it is loaded already.
insert into authority.policy_version (version, bundle, load_time) values ($1, $2, $3)
on conflict on constraint policy_version_key do nothing
returning version

-- name: policy_version_list
select version, octet_length(bundle) as bytes, load_time from authority.policy_version order by load_time, version

-- name: policy_version_by_digest
select version, octet_length(bundle) as bytes, load_time, bundle from authority.policy_version where version = $1

-- name: insert_issuer_key
insert into authority.issuer_key (key_id, public_key, purpose, state, tenant, memory_namespace, create_time)
values ($1, $2, $3, 'active', $4, $5, $6)

-- name: retire_issuer_keys
-- The other active keys of the same purpose and scope sign nothing new from now on.
update authority.issuer_key set state = 'retiring'
where purpose = $1 and state = 'active' and key_id <> $2
  and tenant is not distinct from $3 and memory_namespace is not distinct from $4
returning key_id

-- name: revoke_issuer_key
-- The state before.
with before as (
  select key_id, state from authority.issuer_key where key_id = $1 and state <> 'revoked' for update)
update authority.issuer_key k set state = 'revoked', compromised_since_time = $2
from before where k.key_id = before.key_id
returning before.state

-- name: commit_counts
-- What every commit makes one of, each counted where it is.
select
  (select count(*) from authority.capability where tenant = $1 and state = 'consumed') as consumed_capabilities,
  (select count(*) from authority.commit_receipt where tenant = $1) as receipts,
  (select count(*) from authority.memory_record where tenant = $1 and receipt_id is not null) as records,
  (select count(*) from authority.outbox where tenant = $1 and type = 'memory.committed.v1') as events
