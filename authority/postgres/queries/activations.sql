-- name: activation
-- Of a proposal and one revision of it: where the head stands; the record that its commit made; what policy activated
-- without a person, the newest that nobody took back, of the committed record the one that it rests on; and whether a
-- person adopted it.
select h.current_revision, h.state, h.receipt_id, r.record_id, a.reference, exists (
    select 1 from authority.approval_decision y
    where y.tenant = h.tenant and y.proposal_id = h.proposal_id and y.revision = $3 and y.verdict = 'adopt') as is_adopted,
  (select q.expire_time from authority.proposal q
   where q.tenant = h.tenant and q.proposal_id = h.proposal_id and q.revision = $3) as expire_time
from authority.proposal_head h
left join authority.memory_record r on r.tenant = h.tenant and r.receipt_id = h.receipt_id
left join lateral (
  select y.reference from authority.approval_decision y
  where y.tenant = h.tenant and y.proposal_id = h.proposal_id and y.revision = $3
    and y.decided_by_kind = 'system_policy' and (r.record_id is null or y.sequence = r.decision_sequence)
    and not exists (
      select 1 from authority.approval_decision z
      where z.tenant = y.tenant and z.proposal_id = y.proposal_id and z.revision = y.revision
        and z.sequence > y.sequence and z.verdict in ('reject', 'request_changes', 'revoke'))
  order by y.sequence desc limit 1) a on true
where h.tenant = $1 and h.proposal_id = $2
