-- name: active_key
-- A principal by one of its active keys.
select p.tenant, p.principal, p.kind, p.rights, k.public_key
from authority.principal_key k
join authority.principal p on p.tenant = k.tenant and p.principal = k.principal
where k.tenant = $1 and k.key_id = $2 and k.principal = $3 and k.state = 'active' and p.state = 'active'

-- name: active_principal
-- A principal that is not revoked.
select tenant, principal, kind, rights
from authority.principal where tenant = $1 and principal = $2 and state = 'active'

-- name: issuer_keys
-- Every key of the authority, revoked ones too.
select key_id, public_key, purpose, state, tenant, memory_namespace, compromised_since_time, create_time
from authority.issuer_key order by create_time, key_id

-- name: database_generation
-- Which database this is and which timeline of it: a restored or failed-over one must not meet its old cache.
select (pg_control_system()).system_identifier::text || '/' || (pg_control_checkpoint()).timeline_id::text
  || '/' || current_database() as generation
