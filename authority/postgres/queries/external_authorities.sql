-- name: memory_namespace_names
select name from authority.memory_namespace where tenant = $1 and name = any ($2)

-- name: external_authority_by_issuer
select memory_namespaces, required from authority.external_authority where tenant = $1 and issuer = $2

-- name: put_external_authority
insert into authority.external_authority (tenant, issuer, memory_namespaces, required, create_time)
values ($1, $2, $3, $4, $5)
on conflict on constraint external_authority_named_once
do update set memory_namespaces = excluded.memory_namespaces, required = excluded.required

-- name: insert_external_key
-- No row when an authority of the tenant has it, or had it once.
insert into authority.external_key (tenant, key_id, issuer, public_key, state, create_time)
values ($1, $2, $3, $4, 'active', $5)
on conflict on constraint external_key_one_owner do nothing
returning key_id

-- name: revoke_external_key
update authority.external_key set state = 'revoked', revoke_time = $4
where tenant = $1 and issuer = $2 and key_id = $3 and state = 'active'
returning key_id

-- name: external_authorities
-- Every one of the tenant with its keys, oldest first.
select e.issuer, e.memory_namespaces, e.required, k.key_ids, k.public_keys, k.revoke_times
from authority.external_authority e
cross join lateral (
  select coalesce(array_agg(o.key_id order by o.create_time, o.key_id), '{}') as key_ids,
    coalesce(array_agg(o.public_key order by o.create_time, o.key_id), '{}') as public_keys,
    coalesce(array_agg(o.revoke_time order by o.create_time, o.key_id), '{}') as revoke_times
  from authority.external_key o where o.tenant = e.tenant and o.issuer = e.issuer) k
where e.tenant = $1
order by e.issuer
