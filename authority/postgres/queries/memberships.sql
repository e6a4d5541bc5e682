-- name: is_member
select exists (
  select 1 from authority.live_memberships($1, $2) m where m.scope_kind = $3 and m.scope_id = $4) as is_member

-- name: add_membership
-- The state before, '' for none; no row when the principal is no active one or is a member already.
with before as materialized (
  select m.state from authority.membership m
  where m.tenant = $1 and m.principal = $2 and m.scope_kind = $3 and m.scope_id = $4)
insert into authority.membership (tenant, principal, scope_kind, scope_id, state, add_time)
select p.tenant, p.principal, $3, $4, 'active', $5 from authority.principal p
where p.tenant = $1 and p.principal = $2 and p.state = 'active'
on conflict on constraint membership_told_once
  do update set state = 'active', add_time = $5, remove_time = null where membership.state = 'removed'
returning coalesce((select state from before), '') as previous

-- name: remove_membership
update authority.membership set state = 'removed', remove_time = $5
where tenant = $1 and principal = $2 and scope_kind = $3 and scope_id = $4 and state = 'active'
returning principal

-- name: membership_list
select principal, scope_kind, scope_id, add_time
from authority.membership where tenant = $1 and state = 'active'
order by scope_kind, scope_id, principal

-- name: is_active_principal
select exists (
  select 1 from authority.principal where tenant = $1 and principal = $2 and state = 'active') as is_active
