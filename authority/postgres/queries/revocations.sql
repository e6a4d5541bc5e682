-- name: append_revocation
-- One fact of the feed, told once; a null sequence draws the next. In the transaction that withdraws, under its lock.
insert into authority.revocation (tenant, sequence, kind, subject, memory_namespace, content_digest, revoke_time)
values ($1, coalesce($2::bigint, nextval('authority.decision_sequence')), $3, $4, $5, $6, $7)
on conflict on constraint revocation_once do nothing

-- name: standing_approvals
-- Approvals of a revision, by persons, that no later decision took back.
select y.reference from authority.approval_decision y
where y.tenant = $1 and y.proposal_id = $2 and y.revision = $3 and y.verdict = 'approve'
  and y.decided_by_kind <> 'system_policy'
  and not exists (
    select 1 from authority.approval_decision z
    where z.tenant = y.tenant and z.proposal_id = y.proposal_id and z.revision = y.revision
      and z.sequence > y.sequence and z.verdict in ('reject', 'request_changes', 'revoke'))
order by y.sequence

-- name: feed_items
-- What was withdrawn in a tenant ($1) and in all of them ($2) after a sequence, in its order.
(select tenant, sequence, kind, subject, memory_namespace, content_digest, revoke_time
 from authority.revocation where tenant = $1 and sequence > $3 order by sequence limit $4)
union all
(select tenant, sequence, kind, subject, memory_namespace, content_digest, revoke_time
 from authority.revocation where tenant = $2 and sequence > $3 order by sequence limit $4)
order by sequence
limit $4

-- name: feed_place
-- The last item of a feed up to a sequence, and the last of all; 0 for none. And the time, which is no later than what is
-- read next.
select clock_timestamp() as read_time,
  coalesce(greatest(
    (select max(sequence) from authority.revocation where tenant = $1 and sequence <= $3),
    (select max(sequence) from authority.revocation where tenant = $2 and sequence <= $3)), 0) as before,
  coalesce(greatest(
    (select max(sequence) from authority.revocation where tenant = $1),
    (select max(sequence) from authority.revocation where tenant = $2)), 0) as last
