-- name: recall_page
-- The best hits of a query after a place ($13 to $15, null at the beginning), best first, and whether more come after
-- them. What the reader may not see is left out before anything is ranked or counted. Of the hits those have their
-- content that fit into $18 bytes together, the first always; `is_fresh` says whether the row that a revision token
-- names ($16 or $17) is in the snapshot that all of this is read in, and it alone is told where it is not.
--
-- Ranked is by each word for itself: of what is negated (!!) ts_rank compares no distances. Between the words of an "and"
-- it compares each place of each with each place of every other, for seconds a record that was made for it.
--
-- It is planned for its tenant and memory namespace alone (`plan_recall_anew`). No index of words serves it: see
-- ARCHITECTURE, Decisions.
with asked as materialized (
  select websearch_to_tsquery('simple', $5) as words,
    ($16::uuid is null or exists (select 1 from authority.commit_receipt c where c.tenant = $1 and c.receipt_id = $16))
      and ($17::bigint is null or exists (
        select 1 from authority.tombstone t where t.tenant = $1 and t.sequence = $17)) as is_fresh),
matching as (
  select r.record_id, r.create_time,
    floor(ts_rank('{0.1, 0.2, 0.4, 1.0}', r.search, !!a.words, 1) * 1000000)::integer as score
  from asked a
  join authority.recalled_records($1, $3, $4, $19) r on r.memory_namespace = $2
  where a.is_fresh
    and ($6::text[] is null or r.memory_type = any ($6))
    and ($7::text[] is null or r.provenance = any ($7))
    and ($8::text[] is null or r.source_refs && $8)
    and ($9::text[] is null or r.subject_refs && $9)
    and ($10::timestamptz is null or r.create_time >= $10)
    and ($11::timestamptz is null or r.create_time < $11)
    and r.search @@ a.words),
best as materialized (
  select m.record_id, m.create_time, m.score
  from matching m
  where $13::integer is null or (m.score, m.create_time, m.record_id) < ($13, $14::timestamptz, $15::uuid)
  order by m.score desc, m.create_time desc, m.record_id desc
  limit $12::integer + 1),
weighed as (
  select b.record_id, b.create_time, b.score,
    row_number() over place as number,
    sum(octet_length(r.content) + octet_length(array_to_string(r.source_refs || r.subject_refs, '0123'))
      + 80 * cardinality(r.evidence_digests) + octet_length(r.costs::text) + 2048) over place as weight
  from best b
  join authority.memory_record r on r.tenant = $1 and r.record_id = b.record_id
  window place as (order by b.score desc, b.create_time desc, b.record_id desc)),
fitting as (
  select w.record_id, w.score, w.number from weighed w where w.number <= $12 and (w.number = 1 or w.weight <= $18::bigint))
select a.is_fresh, (select count(*) from best) > (select count(*) from fitting) as has_more, f.score,
  coalesce(q.create_time, r.create_time) as observe_time, r.tenant, r.record_id, r.receipt_id, r.memory_namespace,
  r.memory_type, r.provenance,
  r.content, r.content_digest, r.media_type, r.proposer, r.proposal_id, r.revision, r.source_refs, r.subject_refs,
  r.evidence_digests, r.visibility, r.visibility_scope, r.valid_from_time, r.valid_until_time, r.expire_time, r.correlation_id, r.costs,
  r.supersedes_record_id, r.create_time
from asked a
left join fitting f on true
left join authority.memory_record r on r.tenant = $1 and r.record_id = f.record_id
left join authority.proposal q
  on q.tenant = $1 and q.proposal_id = r.proposal_id and q.revision = r.revision
order by f.number

-- name: plan_recall_anew
-- Before a recall, in its transaction. A plan that is kept for every memory namespace knows no sizes: it took any index
-- that begins with the tenant, and fetched row after row from all over the table. Planning takes a millisecond.
select set_config('plan_cache_mode', 'force_custom_plan', true)
