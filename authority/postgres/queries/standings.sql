-- name: decision_standing
-- A decision, the content that it is about, and what a commit by it would be refused for now.
select d.payload_type, d.payload, d.key_id, d.signature, q.content_digest,
  authority.decision_refusal(d.tenant, d.digest, $3) as refusal
from authority.decision_receipt d
join authority.proposal q on q.tenant = d.tenant and q.proposal_id = d.proposal_id and q.revision = d.revision
where d.tenant = $1 and d.digest = $2

-- name: capability_standing
-- A capability, what became of it, of its proposal, its holder, and the chain of its grant.
select c.payload_type, c.payload, c.key_id, c.signature, c.fingerprint, c.state, h.receipt_id,
  p.state as holder_state,
  exists (select 1 from authority.issuer_key k where k.key_id = c.key_id and k.state = 'revoked') as has_revoked_key,
  case when c.grant_digest is not null then authority.grant_refusal(c.tenant, c.grant_digest, $3) end as of_grant
from authority.capability c
join authority.proposal_head h on h.tenant = c.tenant and h.proposal_id = c.proposal_id
left join authority.principal p on p.tenant = c.tenant and p.principal = c.holder
where c.tenant = $1 and c.capability_id = $2

-- name: holder_key_state
-- Of the key that a capability binds.
select state from authority.principal_key where tenant = $1 and key_id = $2 and principal = $3
