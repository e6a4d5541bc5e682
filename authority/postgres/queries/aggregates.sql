-- name: count_aggregate
-- No row for an aggregate that is not there, one without a figure for one that has nothing to tell.
select memory_type, month, records from authority.count_aggregate($1, $2, $3, $4)

-- name: aggregate_beside
-- The aggregate that together with a new one would tell of a few tenants alone: of the same memory namespace, with tenants
-- in common, and not over the same ones told from the same number on.
select name from authority.aggregate
where tenant = $1 and memory_namespace = $2 and of_tenants && $3::text[]
  and not (of_tenants <@ $3::text[] and of_tenants @> $3::text[] and least_tenants = $4)
order by name
limit 1

-- name: insert_aggregate
-- No row when its name was used.
insert into authority.aggregate (
  tenant, name, memory_namespace, of_tenants, least_tenants, reviewed_by, review, state, add_time)
values ($1, $2, $3, $4, $5, $6, $7, 'active', $8)
on conflict on constraint aggregate_made_once do nothing
returning name

-- name: remove_aggregate
update authority.aggregate set state = 'removed', remove_time = $3
where tenant = $1 and name = $2 and state = 'active'
returning name

-- name: aggregate_list
select tenant, name, memory_namespace, of_tenants, least_tenants, reviewed_by, review, state, add_time
from authority.aggregate where tenant = $1 order by name
