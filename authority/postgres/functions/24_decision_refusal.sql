-- What a commit that rests on a decision would be refused for now, whichever capability it came with: the highest in the
-- error table, or null. It asks what the commit function asks of decision, validation, revision, approvals, tombstones and
-- active policy (06_commit.sql, which has the last word), for those who only know the decision; the pure twin is
-- `decision_refusals` in authority/inprocess/judgement.py. Whether the proposal was committed already is no matter of it.
--
-- It runs with the rights of its caller, who has named the tenant. Letters as in 06_commit.sql.
create or replace function authority.decision_refusal(of_tenant text, of_decision bytea, judged_at timestamptz)
returns text
language plpgsql stable security invoker
set search_path = authority, pg_temp
as $$
#variable_conflict use_column
begin
  return (
    select case
      when exists (
        select 1 from issuer_key k where k.state = 'revoked' and k.key_id in (v.key_id, d.key_id)) then 'KEY_REVOKED'
      when exists (
        select 1 from external_key e
        where e.tenant = d.tenant and e.key_id = any (d.external_keys) and e.state = 'revoked') then 'KEY_REVOKED'
      when n.policy_version <> d.policy_version or d.outcome = 'deny' then 'POLICY_DENIED'
      when least(d.expire_time, v.expire_time) <= judged_at then 'EXPIRED'
      when q.expire_time <= judged_at and h.state not in ('committed', 'withdrawn')
        and h.current_revision = d.revision then 'EXPIRED'
      when holder.state = 'revoked' then 'REVOKED'
      when exists (
        select 1 from tombstone t where t.tenant = d.tenant and t.memory_namespace = d.memory_namespace
          and t.content_digest = q.content_digest and t.sequence > d.sequence) then 'REVOKED'
      when s.record_id is not null and exists (
        select 1 from tombstone t where t.tenant = d.tenant and t.memory_namespace = s.memory_namespace
          and t.content_digest = s.content_digest and t.sequence > s.decision_sequence) then 'REVOKED'
      when h.current_revision <> d.revision then 'NOT_VALIDATED'
      when h.state not in ('validated', 'approved', 'committed') then 'NOT_VALIDATED'
      when v.outcome = 'fail' then 'NOT_VALIDATED'
      when s.superseded_by is not null then 'NOT_VALIDATED'
      when d.outcome = 'require_approval' then 'APPROVAL_REQUIRED'
      when (
        select count(distinct p.person) from unnest(d.approvals) a (reference)
        join approval_decision y on y.tenant = d.tenant and y.reference = a.reference
          and y.proposal_id = d.proposal_id and y.revision = d.revision
          and y.verdict = 'approve' and y.decided_by_kind <> 'system_policy'
          and y.expire_time > judged_at and (y.holder is null or y.holder = d.holder)
        cross join lateral (
          select (select array_agg(l order by l) from same_person(o.tenant, o.principal) l) as person
          from principal o
          where o.tenant = y.tenant and o.principal = y.decided_by and o.state = 'active'
            and o.kind in ('user', 'admin') and 'decide' = any (o.rights)) p
        where not p.person && (q.actor_chain || q.proposer || coalesce(q.subject, q.proposer))
          and not exists (
            select 1 from approval_decision z where z.tenant = y.tenant and z.proposal_id = y.proposal_id
              and z.revision = y.revision and z.sequence > y.sequence
              and z.verdict in ('reject', 'request_changes', 'revoke'))
      ) < (select count(distinct a) from unnest(d.approvals) a) then 'APPROVAL_REQUIRED'
      when d.approvals = '{}' and exists (
        select 1 from approval_decision z where z.tenant = d.tenant and z.proposal_id = d.proposal_id
          and z.revision = d.revision and z.sequence > d.sequence and z.verdict = 'revoke') then 'APPROVAL_REQUIRED'
    end
    from decision_receipt d
    join validation_receipt v on v.tenant = d.tenant and v.digest = d.validation_receipt_digest
    join proposal_head h on h.tenant = d.tenant and h.proposal_id = d.proposal_id
    join proposal q on q.tenant = d.tenant and q.proposal_id = d.proposal_id and q.revision = d.revision
    join memory_namespace n on n.tenant = d.tenant and n.name = d.memory_namespace
    left join principal holder on holder.tenant = d.tenant and holder.principal = d.holder
    left join memory_record s on s.tenant = d.tenant and s.record_id = h.supersedes_record_id and h.receipt_id is null
    where d.tenant = of_tenant and d.digest = of_decision);
end $$;

revoke all on function authority.decision_refusal(text, bytea, timestamptz) from public;
grant execute on function authority.decision_refusal(text, bytea, timestamptz) to authority_read;
