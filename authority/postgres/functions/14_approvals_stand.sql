-- Whether every approval that a decision names still counts: not expired, for this holder, of an active person who may
-- decide, and nobody decided against it since; each of another person, and of none whose own matter it is, over the links
-- of now (semantics 7, case I16). The pure twin, when the decision is made, is `Electorate` in authority/domain/quorum.py.
--
-- Asked by the commit function, with its rights and in its snapshot, of plans that name approvals, and of no other.
create or replace function authority.approvals_stand(
  of_tenant text, named uuid[], of_proposal uuid, of_revision integer, of_holder text, interested text[],
  judged_at timestamptz)
returns boolean
language plpgsql stable security invoker
set search_path = authority, pg_temp
as $$
#variable_conflict use_column
begin
  return (
    select count(*) = cardinality(named) and count(distinct s.person) = count(*)
    from unnest(named) n (reference)
    cross join lateral (
      select o.decided_by, o.sequence from approval_decision o
      where o.tenant = of_tenant and o.reference between n.reference and n.reference
        and o.proposal_id = of_proposal and o.revision = of_revision
        and o.verdict = 'approve' and o.decided_by_kind <> 'system_policy'
        and o.expire_time > judged_at and (o.holder is null or o.holder = of_holder)
      order by o.reference limit 1) y
    cross join lateral (
      select o.principal from principal o
      where o.tenant = of_tenant and o.principal = y.decided_by and o.state = 'active'
        and o.kind in ('user', 'admin') and 'decide' = any (o.rights) limit 1) p
    cross join lateral (
      select array_agg(o order by o) as person from same_person(of_tenant, p.principal) o) s
    where not s.person && interested
      and not exists (
        select 1 from approval_decision z
        where z.tenant = of_tenant and z.proposal_id = of_proposal and z.revision = of_revision
          and z.sequence > y.sequence and z.verdict in ('reject', 'request_changes', 'revoke')));
end $$;

revoke all on function authority.approvals_stand(text, uuid[], uuid, integer, text, text[], timestamptz) from public;
grant execute on function authority.approvals_stand(text, uuid[], uuid, integer, text, text[], timestamptz)
  to authority_committer;
