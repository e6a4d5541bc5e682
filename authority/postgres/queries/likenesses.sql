-- name: insert_signature
insert into authority.content_signature (tenant, proposal_id, revision, signature)
values ($1, $2, $3, $4)
on conflict on constraint content_signature_key do nothing

-- name: insert_bands
insert into authority.content_band (tenant, memory_namespace, band, proposal_id, revision)
select $1, $4, w.band, $2, $3 from unnest($5::bytea[]) w (band)
on conflict on constraint content_band_key do nothing

-- name: insert_assertions
insert into authority.content_assertion (tenant, memory_namespace, about, value, proposal_id, revision)
select $1, $4, w.about, w.value, $2, $3 from unnest($5::bytea[], $6::bytea[]) w (about, value)
on conflict on constraint content_assertion_key do nothing

-- name: note_secrets
-- The revision failed for secrets: its content is erased after its review, at $5 at the latest.
insert into authority.content_to_erase (tenant, proposal_id, revision, fail_time, due_time)
values ($1, $2, $3, $4, $5)
on conflict on constraint content_to_erase_key do nothing

-- name: forget_secrets
-- A later validation found none.
delete from authority.content_to_erase where tenant = $1 and proposal_id = $2 and revision = $3

-- name: erase_reviewed
-- Erases up to $2 contents whose review is over.
select authority.erase_reviewed($1, $2)

-- name: near_records
-- Records of the memory namespace that share a band, visible to the proposer ($8), other than the one that is to be
-- corrected ($3). Each lookup is lateral, limited and seeks, as in the commit function: statistics of tables that fill
-- are wrong. `complete` is false where a band has more than $5 revisions; of those that share one, $6 are answered. There is always a row.
with met as materialized (
  select m.proposal_id, m.revision, m.place
  from unnest($7::bytea[]) w (band)
  cross join lateral (
    select b.proposal_id, b.revision, row_number() over () as place
    from authority.content_band b
    where b.tenant = $1 and b.memory_namespace = $2 and b.band = w.band
    limit $5 + 1) m),
found as (
  select l.record_id, s.signature
  from (select m.proposal_id, m.revision, count(*) as bands from met m group by 1, 2) m
  cross join lateral (
    select h.receipt_id from authority.proposal_head h
    where h.tenant = $1 and h.proposal_id = m.proposal_id and h.current_revision = m.revision
      and h.receipt_id is not null
    limit 1) h
  cross join lateral (
    select r.record_id from authority.visible_records($1, $8, $4) r
    where r.receipt_id between h.receipt_id and h.receipt_id and r.record_id is distinct from $3
    order by r.receipt_id
    limit 1) l
  cross join lateral (
    select g.signature from authority.content_signature g
    where g.tenant = $1 and g.proposal_id = m.proposal_id and g.revision = m.revision
    limit 1) s
  order by m.bands desc, l.record_id
  limit $6)
select f.record_id, f.signature, c.complete
from (select coalesce(max(m.place), 0) <= $5 as complete from met m) c
left join found f on true

-- name: contradicted_records
-- Likewise those that assert another value ($8) of the same ($7).
with met as materialized (
  select m.proposal_id, m.revision, m.place
  from unnest($7::bytea[], $8::bytea[]) w (about, value)
  cross join lateral (
    select a.proposal_id, a.revision, row_number() over () as place
    from authority.content_assertion a
    where a.tenant = $1 and a.memory_namespace = $2 and a.about = w.about and a.value <> w.value
    limit $5 + 1) m),
found as (
  select l.record_id
  from (select distinct m.proposal_id, m.revision from met m) m
  cross join lateral (
    select h.receipt_id from authority.proposal_head h
    where h.tenant = $1 and h.proposal_id = m.proposal_id and h.current_revision = m.revision
      and h.receipt_id is not null
    limit 1) h
  cross join lateral (
    select r.record_id from authority.visible_records($1, $9, $4) r
    where r.receipt_id between h.receipt_id and h.receipt_id and r.record_id is distinct from $3
    order by r.receipt_id
    limit 1) l
  order by l.record_id
  limit $6)
select f.record_id, c.complete
from (select coalesce(max(m.place), 0) <= $5 as complete from met m) c
left join found f on true
