-- name: key_called
-- The active key of an active principal by its thumbprint or by a name, where it is one that signs.
select p.tenant, p.principal, p.kind, p.rights, k.key_id, k.public_key, k.create_time
from authority.principal_key k
join authority.principal p on p.tenant = k.tenant and p.principal = k.principal
where k.tenant = $1 and k.key_id = authority.called_key($1, $2) and k.form = 'ed25519' and k.state = 'active'
  and p.state = 'active'

-- name: insert_key_alias
-- No row when the name stands for a key already.
insert into authority.key_alias (tenant, alias, key_id, state, create_time)
values ($1, $2, $3, 'active', $4)
on conflict (tenant, alias) where state = 'active' do nothing
returning key_id

-- name: key_alias_list
select a.alias, a.key_id, k.principal, a.create_time, a.revoke_time,
  k.state = 'active' and p.state = 'active' as key_is_active
from authority.key_alias a
join authority.principal_key k on k.tenant = a.tenant and k.key_id = a.key_id
join authority.principal p on p.tenant = k.tenant and p.principal = k.principal
where a.tenant = $1
order by a.alias, a.alias_number

-- name: revoke_key_alias
-- The key that the name stood for.
update authority.key_alias set state = 'revoked', revoke_time = $3
where tenant = $1 and alias = $2 and state = 'active'
returning key_id
