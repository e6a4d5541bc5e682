-- name: active_keys
-- Principals by active keys: `ordinal` is the place in the arrays of what was asked, counted from one.
select ordinal, tenant, principal, kind, rights, public_key from authority.active_keys($1, $2, $3)

-- name: active_principal
-- A principal that is not revoked.
select tenant, principal, kind, rights
from authority.principal where tenant = $1 and principal = $2 and state = 'active'

-- name: issuer_keys
-- Every key of the authority, revoked ones too.
select key_id, public_key, purpose, state, tenant, memory_namespace, compromised_since_time, create_time
from authority.issuer_key order by create_time, key_id

-- name: database_generation
-- Which database this is, and which incarnation of it: a restored or failed-over one must not meet its old cache. The
-- time of its start is in it, for a copy of the files that is started in place of the original is on the same timeline,
-- and a promoted standby tells its new one only after a checkpoint.
select (pg_control_system()).system_identifier::text as cluster,
  (pg_control_checkpoint()).timeline_id::text
    || '-' || (select oid::text from pg_database where datname = current_database())
    || '-' || (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint::text as incarnation
