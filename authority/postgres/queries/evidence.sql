-- name: resolve_evidence
-- Of these digests, the evidence that the reader may know of.
select digest, state, content is not null as is_kept, put_by, signed_by
from authority.visible_evidence($1, $2)
where digest = any ($3)

-- name: evidence_by_digest
-- A piece of evidence that the reader may know of.
select tenant, digest, media_type, content, reference, put_by, visibility, visibility_scope, state, signed_by,
  payload_type, payload, key_id, signature, put_time, decided_by, decide_time, note
from authority.visible_evidence($1, $2)
where digest = $3

-- name: evidence_kept_already
-- Whatever stands under the digest in the tenant, whoever may see it.
select tenant, digest, media_type, content, reference, put_by, visibility, visibility_scope, state, signed_by,
  payload_type, payload, key_id, signature, put_time, decided_by, decide_time, note
from authority.evidence where tenant = $1 and digest = $2

-- name: insert_evidence
-- No row when something stands under the digest already.
insert into authority.evidence (
  tenant, digest, media_type, content, reference, put_by, visibility, visibility_scope, state, signed_by, payload_type,
  payload, key_id, signature, put_time)
values ($1, $2, $3, $4, $5, $6, $7, $8, 'pending', $9, $10, $11, $12, $13, $14)
on conflict on constraint evidence_kept_once do nothing
returning digest

-- name: evidence_page
-- Evidence of a tenant after the digest $3, content left out; a state that is null leaves that filter away.
select tenant, digest, media_type, case when content is not null then ''::bytea end as content, reference, put_by,
  visibility, visibility_scope, state, signed_by, payload_type, payload, key_id, signature, put_time, decided_by,
  decide_time, note
from authority.evidence
where tenant = $1 and ($2::text is null or state = $2) and digest > $3
order by digest
limit $4

-- name: lock_evidence
select state, put_by from authority.evidence where tenant = $1 and digest = $2 for update

-- name: decide_evidence
-- What was decided, once; content left out.
update authority.evidence set state = $3, decided_by = $4, decide_time = $5, note = $6
where tenant = $1 and digest = $2 and state = 'pending'
returning tenant, digest, media_type, ''::bytea as content, reference, put_by, visibility, visibility_scope, state,
  signed_by, payload_type, payload, key_id, signature, put_time, decided_by, decide_time, note
