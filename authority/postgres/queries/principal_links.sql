-- name: insert_principal_link
-- No row when the two are linked already.
insert into authority.principal_link (
  tenant, principal, other, method, evidence, verified_by, state, verify_time)
values ($1, $2, $3, $4, $5, $6, 'verified', $7)
on conflict (tenant, principal, other) where state = 'verified' do nothing
returning principal

-- name: revoke_principal_link
update authority.principal_link set state = 'revoked', revoke_time = $4
where tenant = $1 and principal = $2 and other = $3 and state = 'verified'
returning principal

-- name: principal_link_list
select tenant, principal, other, method, evidence, verified_by, verify_time, revoke_time
from authority.principal_link where tenant = $1 order by link_number

-- name: same_person
select principal from authority.same_person($1, $2) as principal
