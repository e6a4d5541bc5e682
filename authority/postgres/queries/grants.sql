-- name: grant_chain
-- A kept grant and its ancestors, root first.
select payload_type, payload, key_id, signature, revoke_time from authority.grant_chain($1, $2)

-- name: grant_chain_facts
-- Of a chain's blocks ($2), whoever it names ($3), their keys ($4) and its subject ($5), in one moment.
select met, has_revoked_block, has_revoked_key, active_principals, tenant, principal, kind, rights
from authority.grant_chain_facts($1, $2, $3, $4, $5)

-- name: grant_policy_version
-- The wanted policy when it is loaded; of nothing wanted, the one that all memory namespaces of the tenant are under.
select v.version from authority.policy_version v where v.version = $2
union all
select min(n.policy_version::text)::bytea from authority.memory_namespace n
where n.tenant = $1 and $2 = ''::bytea
having count(distinct n.policy_version) = 1

-- name: insert_grant_record
-- No row when it is kept already.
insert into authority.grant_record (
  tenant, digest, parent_digest, chain, made_by, subject, principals, holder, holder_key, uses, tokens, usd_micros,
  concurrency, state, payload_type, payload, key_id, signature, not_before_time, expire_time, correlation_id,
  create_time)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'active', $14, $15, $16, $17, $18, $19, $20, $21)
on conflict do nothing
returning digest

-- name: lock_grant
-- Waits for whoever spends of it.
select revoke_time from authority.grant_record where tenant = $1 and digest = $2 for update

-- name: revoke_grant
update authority.grant_record set state = 'revoked', revoke_time = $3 where tenant = $1 and digest = $2

-- name: grant_spent
-- Of each grant, in order, the sums of the last use, and how many of its capabilities can still be committed.
select coalesce(u.uses, 0) as uses, coalesce(u.tokens, 0) as tokens, coalesce(u.usd_micros, 0) as usd_micros, (
  select count(*) from authority.grant_use o
  join authority.capability c on c.tenant = o.tenant and c.capability_id = o.capability_id
  where o.tenant = $1 and o.grant_digest = b.digest and o.expire_time > $3 and c.state = 'issued') as live
from unnest($2::bytea[]) with ordinality b(digest, place)
left join lateral (
  select o.uses, o.tokens, o.usd_micros from authority.grant_use o
  where o.tenant = $1 and o.grant_digest = b.digest order by o.uses desc limit 1) u on true
order by b.place

-- name: hold_grant
select authority.hold_grant($1, $2)

-- name: spend_grant
-- Null when it is spent along the chain, else why nothing is.
select authority.spend_grant($1, $2, $3, $4, $5, $6, $7, $8)
