-- name: present_time
-- Of this moment, not of the beginning of a transaction.
select clock_timestamp() as present_time

-- name: connections_allowed
-- Of the server's connections some are kept for superusers and maintenance; a limit below zero is none.
select least(
  current_setting('max_connections')::integer
    - current_setting('superuser_reserved_connections')::integer
    - current_setting('reserved_connections')::integer,
  (select nullif(d.datconnlimit, -1) from pg_catalog.pg_database d where d.datname = current_database()),
  (select nullif(r.rolconnlimit, -1) from pg_catalog.pg_roles r where r.rolname = session_user)
) as allowed
