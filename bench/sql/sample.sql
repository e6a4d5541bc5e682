-- What the service wrote for one of its commits: pgbench sends the same.
select r.payload_type as receipt_payload_type, r.payload as receipt_payload, r.signature, r.key_id as receipt_key,
  c.key_id as capability_key, v.key_id as validation_key, d.key_id as decision_key, k.key_id as holder_key,
  o.payload::text as event, q.costs::text as costs
from authority.commit_receipt r
join authority.capability c using (tenant, capability_id)
join authority.validation_receipt v on (v.tenant, v.proposal_id) = (r.tenant, r.proposal_id)
join authority.decision_receipt d on (d.tenant, d.proposal_id) = (r.tenant, r.proposal_id)
join authority.proposal q on (q.tenant, q.proposal_id) = (r.tenant, r.proposal_id)
join authority.outbox o on (o.tenant, o.aggregateid) = (r.tenant, r.record_id::text)
join authority.principal_key k on (k.tenant, k.principal) = (r.tenant, r.holder)
where r.tenant = 'bench|tenant' limit 1
