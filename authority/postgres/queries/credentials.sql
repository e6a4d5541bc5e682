-- name: insert_certificate
-- No row when the credential belongs, or belonged, to a principal.
insert into authority.principal_key (tenant, key_id, principal, public_key, form, shown, state, create_time)
values ($1, $2, $3, '', $4, $5, 'active', $6)
on conflict on constraint principal_key_one_owner do nothing
returning key_id

-- name: insert_token_identity
-- No row when the subject of the issuer belongs, or belonged, to a principal.
insert into authority.token_identity (tenant, identity_id, principal, issuer, subject, state, create_time)
values ($1, $2, $3, $4, $5, 'active', $6)
on conflict on constraint token_identity_one_owner do nothing
returning identity_id

-- name: credential_list
select principal, key_id as credential_id, form, shown, '' as issuer, state, create_time
from authority.principal_key where tenant = $1
union all
select principal, identity_id, 'token', subject, issuer, state, create_time
from authority.token_identity where tenant = $1
order by principal, create_time, credential_id

-- name: revoke_token_identity
update authority.token_identity set state = 'revoked' where tenant = $1 and identity_id = $2 and state = 'active'
returning identity_id
