-- A tenant of pgbench's own, like the one that the service works for; made once.
insert into authority.memory_namespace
select 'bench|pgbench', name, mode, privileged, least_profile, default_visibility, policy_version, create_time
from authority.memory_namespace where tenant = 'bench|tenant'
on conflict do nothing;
insert into authority.principal
select 'bench|pgbench', principal, kind, rights, state, create_time
from authority.principal where tenant = 'bench|tenant'
on conflict do nothing;
insert into authority.principal_key
select 'bench|pgbench', key_id, principal, public_key, state, create_time
from authority.principal_key where tenant = 'bench|tenant'
on conflict do nothing;
