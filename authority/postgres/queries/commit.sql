-- name: commit
-- Many plans in, one outcome each out, in order.
select ordinal, outcome, reason, term, receipt_id, record_id, fingerprint, payload_type, payload, key_id, signature
from authority.commit($1::authority.commit_plan[], $2, $3, $4)
order by ordinal

-- name: commit_by_envelope
-- As commit, with the envelopes that prove some of them.
select ordinal, outcome, reason, term, receipt_id, record_id, fingerprint, payload_type, payload, key_id, signature
from authority.commit_by_envelope($1::authority.commit_plan[], $2::authority.commit_proof[], $3, $4, $5)
order by ordinal
