-- name: receipt_by_id
-- The receipt with this id.
select receipt_id, record_id, fingerprint, payload_type, payload, key_id, signature
from authority.commit_receipt where tenant = $1 and receipt_id = $2

-- name: receipt_by_record
-- The receipt of this record.
select receipt_id, record_id, fingerprint, payload_type, payload, key_id, signature
from authority.commit_receipt where tenant = $1 and record_id = $2

-- name: receipt_by_idempotency_key
-- The receipt settled under a holder's key.
select receipt_id, record_id, fingerprint, payload_type, payload, key_id, signature
from authority.commit_receipt where tenant = $1 and holder = $2 and idempotency_key = $3

-- name: receipt_page
-- Receipts of a memory namespace by id; a null holder is everyone.
select receipt_id, record_id, fingerprint, payload_type, payload, key_id, signature
from authority.commit_receipt
where tenant = $1
  and memory_namespace = $2
  and ($3::text is null or holder = $3)
  and receipt_id > $4
order by receipt_id
limit $5
