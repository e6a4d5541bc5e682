-- name: append_revocation
-- One fact of the feed, told once; a null sequence draws the next. In the transaction that withdraws, under its lock.
insert into authority.revocation (tenant, sequence, kind, subject, memory_namespace, content_digest, revoke_time)
values ($1, coalesce($2::bigint, nextval('authority.decision_sequence')), $3, $4, $5, $6, $7)
on conflict on constraint revocation_once do nothing

-- name: standing_approvals
-- Approvals of a revision that no later decision took back.
select y.reference from authority.approval_decision y
where y.tenant = $1 and y.proposal_id = $2 and y.revision = $3 and y.verdict = 'approve'
  and not exists (
    select 1 from authority.approval_decision z
    where z.tenant = y.tenant and z.proposal_id = y.proposal_id and z.revision = y.revision
      and z.sequence > y.sequence and z.verdict <> 'approve')
order by y.sequence
