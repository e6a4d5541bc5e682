-- name: insert_citation
-- Keeps a citation of a record that the citer may see now; nothing when it may not, or the same thing cites it already.
insert into authority.citation (
  tenant, citation_id, record_id, memory_namespace, content_digest, receipt_digest, cited_by, citing_kind, citing_ref,
  create_time)
select r.tenant, $4, r.record_id, r.memory_namespace, r.content_digest, $5, $2, $6, $7, $8
from authority.visible_records($1, $2, $8) r
where r.record_id = $3
on conflict on constraint citation_told_once do nothing

-- name: citation_by_terms
-- The citation of a record by this thing of this citer.
select tenant, citation_id, record_id, memory_namespace, content_digest, receipt_digest, cited_by, citing_kind,
  citing_ref, create_time
from authority.citation
where tenant = $1 and cited_by = $2 and record_id = $3 and citing_kind = $4 and citing_ref = $5

-- name: citations_of_record
-- Citations of a record after $4, whatever became of it since, for a reader to whom it is shown.
select c.tenant, c.citation_id, c.record_id, c.memory_namespace, c.content_digest, c.receipt_digest, c.cited_by,
  c.citing_kind, c.citing_ref, c.create_time
from authority.citation c
join authority.shown_records($1, $2) r on r.record_id = c.record_id
where c.tenant = $1 and c.record_id = $3 and c.citation_id > $4
order by c.citation_id
limit $5

-- name: citations_of_content
-- Likewise of every record of a memory namespace with this content.
select c.tenant, c.citation_id, c.record_id, c.memory_namespace, c.content_digest, c.receipt_digest, c.cited_by,
  c.citing_kind, c.citing_ref, c.create_time
from authority.citation c
join authority.shown_records($1, $2) r on r.record_id = c.record_id
where c.tenant = $1 and c.memory_namespace = $3 and c.content_digest = $4 and c.citation_id > $5
order by c.citation_id
limit $6

-- name: citations_told_of
-- Citations of a record after $3, for whoever may know all of it.
select tenant, citation_id, record_id, memory_namespace, content_digest, receipt_digest, cited_by, citing_kind,
  citing_ref, create_time
from authority.citation
where tenant = $1 and record_id = $2 and citation_id > $3
order by citation_id
limit $4
