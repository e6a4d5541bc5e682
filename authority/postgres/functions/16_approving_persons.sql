-- Of how many persons an approval of the revision counts now, whichever holder it is for: what the queue of reviews tells
-- (semantics 7). The pure twin is `Electorate` in authority/domain/quorum.py, for no holder in particular.
create or replace function authority.approving_persons(
  of_tenant text, of_proposal uuid, of_revision integer, on_validation bytea, interested text[], judged_at timestamptz)
returns integer
language plpgsql stable security invoker
set search_path = authority, pg_temp
as $$
#variable_conflict use_column
begin
  return (
    select count(distinct s.person)
    from approval_decision y
    join principal p on p.tenant = y.tenant and p.principal = y.decided_by and p.state = 'active'
      and p.kind in ('user', 'admin') and 'decide' = any (p.rights)
    cross join lateral (
      select array_agg(o order by o) as person from same_person(of_tenant, y.decided_by) o) s
    where y.tenant = of_tenant and y.proposal_id = of_proposal and y.revision = of_revision
      and y.verdict = 'approve' and y.validation_receipt_digest = on_validation and y.expire_time > judged_at
      and not s.person && interested
      and (y.max_uses is null or y.max_uses > (
        select count(*) from approval_use u where u.tenant = y.tenant and u.reference = y.reference))
      and not exists (
        select 1 from approval_decision z
        where z.tenant = y.tenant and z.proposal_id = y.proposal_id and z.revision = y.revision
          and z.sequence > y.sequence and z.verdict in ('reject', 'request_changes', 'revoke')));
end $$;

revoke all on function authority.approving_persons(text, uuid, integer, bytea, text[], timestamptz) from public;
grant execute on function authority.approving_persons(text, uuid, integer, bytea, text[], timestamptz) to authority_read;
