-- name: server_facts
-- What an operator should know of a server. The time is of this moment, not of the transaction's beginning.
select current_setting('server_version') as version, current_setting('server_version_num')::integer as version_number,
  (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms, pg_is_in_recovery() as is_standby,
  current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
  current_setting('synchronous_commit') as synchronous_commit,
  current_setting('synchronous_standby_names') as synchronous_standby_names,
  current_setting('default_transaction_isolation') as default_transaction_isolation,
  current_setting('default_transaction_read_only') as default_transaction_read_only,
  current_setting('max_connections')::integer as max_connections

-- name: login_facts
-- What a login may do: `missing` of what it needs, `inherited` without asking for it, `beyond` what it should. A
-- superuser may take on everything.
select r.rolsuper as is_superuser, r.rolcanlogin as may_log_in, r.rolcreaterole or r.rolsuper as may_create_roles,
  has_database_privilege(r.oid, current_database(), 'create') as may_create_schemas,
  array(select n.name from unnest($2::text[]) n(name) left join pg_catalog.pg_roles p on p.rolname = n.name
    where p.oid is null or not pg_has_role(r.oid, p.oid, 'set') order by 1) as missing,
  array(select p.rolname::text from pg_catalog.pg_roles p
    where p.rolname = any($2::text[] || $3::text[]) and p.oid <> r.oid and pg_has_role(r.oid, p.oid, 'usage')
    order by 1) as inherited,
  array(select p.rolname::text from pg_catalog.pg_roles p
    where p.rolname <> all($2::text[] || $3::text[]) and p.oid <> r.oid and pg_has_role(r.oid, p.oid, 'set')
    order by 1) as beyond
from pg_catalog.pg_roles r where r.rolname = coalesce($1::text, session_user)

-- name: is_migrated
-- Whether any migration was ever applied, and whether we may read which.
select to_regclass('_yoyo_migration') is not null as begun,
  coalesce(has_table_privilege(to_regclass('_yoyo_migration'), 'select'), false) as readable

-- name: applied_migrations
select migration_id from _yoyo_migration order by migration_id

-- name: function_bodies
-- The functions that are replaced whole by every migration, as they are.
select p.proname::text as name, p.prosrc as body
from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace where n.nspname = 'authority'
