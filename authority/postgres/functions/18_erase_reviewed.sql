-- Erases content that failed for secrets, of any tenant, once its review is over: a person decided on the revision, it was
-- withdrawn or a newer revision took its place, or nobody looked until it was due. Answers how many were erased.
--
-- Its owner can see what there is to erase, empty content, tell of it, and do nothing else. What was committed, and what
-- a later validation found to be good, is never touched. Of several processes each takes what no other has in hand: it
-- locks proposal heads alone, and waits for none.
grant create on schema authority to authority_eraser;
set local role authority_eraser;

create or replace function authority.erase_reviewed(at_time timestamptz, most integer) returns integer
language plpgsql volatile security definer
set search_path = authority, pg_temp
as $$
declare
  due record;
  erased integer := 0;
begin
  for due in
    select e.tenant, e.proposal_id, e.revision, h.state, q.correlation_id
    from content_to_erase e
    join proposal_head h on h.tenant = e.tenant and h.proposal_id = e.proposal_id
    join proposal q on q.tenant = e.tenant and q.proposal_id = e.proposal_id and q.revision = e.revision
    where (h.current_revision <> e.revision or h.receipt_id is null and (
        h.state = 'withdrawn' or e.due_time <= at_time
        or exists (
          select 1 from approval_decision d
          where d.tenant = e.tenant and d.proposal_id = e.proposal_id and d.revision = e.revision
            and d.verdict in ('reject', 'request_changes') and d.decide_time >= e.fail_time)))
      and (
        select v.outcome from validation_receipt v
        where v.tenant = e.tenant and v.proposal_id = e.proposal_id and v.revision = e.revision
        order by v.sequence desc limit 1) = 'fail'
    order by e.tenant, e.proposal_id, e.revision
    limit most
    for update of h skip locked
  loop
    update proposal q set content = '', search = null
    where q.tenant = due.tenant and q.proposal_id = due.proposal_id and q.revision = due.revision;
    delete from content_to_erase e
    where e.tenant = due.tenant and e.proposal_id = due.proposal_id and e.revision = due.revision;
    insert into audit_event (
      tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time)
    values (due.tenant, 'proposal.erase', 'authority|eraser', due.proposal_id || ':' || due.revision, 'content kept',
      'content erased', '[]', due.correlation_id, '', at_time);
    erased := erased + 1;
  end loop;
  return erased;
end $$;

revoke all on function authority.erase_reviewed(timestamptz, integer) from public;
grant execute on function authority.erase_reviewed(timestamptz, integer) to authority_propose;

reset role;
revoke create on schema authority from authority_eraser;
