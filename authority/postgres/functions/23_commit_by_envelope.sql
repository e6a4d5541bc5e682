-- Commits of which some were proven by signed envelopes of upstream: all that `commit` does, and in the same transaction
-- the envelopes of those that won. Commits of which none was go to `commit` itself, and know nothing of all this.

-- An envelope that proves one of the plans. Never changed in place: as commit_plan.
do $$
begin
  create type authority.commit_proof as (
    ordinal bigint,                               -- of the plan
    envelope bytea,
    digest bytea,
    key_name text,
    key_id bytea,
    subject_namespace text,
    subject_id text,
    actor_namespace text,
    actor_id text
  );
exception when duplicate_object then
  null; -- It is there already.
end $$;

grant create on schema authority to authority_committer;
set local role authority_committer;

create or replace function authority.commit_by_envelope(
  plans authority.commit_plan[], proofs authority.commit_proof[], judged_at timestamptz, clock_bound interval, source text)
returns table (
  ordinal bigint, outcome text, reason text, term text,
  receipt_id uuid, record_id uuid, fingerprint bytea, payload_type text, payload bytea, key_id bytea, signature bytea)
language plpgsql volatile security definer
set search_path = authority, pg_temp
set lock_timeout = '250ms'
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  proof commit_proof;
  misnamed bigint;
begin
  perform set_config(
    'authority.tenants', array_to_string(array(select distinct p.tenant from unnest(plans) p), ','), true);

  -- 1. A key that is not called so any more proves nothing: the refusal rides along, so that a replay is answered first.
  foreach proof in array proofs loop
    if called_key(plans[proof.ordinal].tenant, proof.key_name) is distinct from proof.key_id then
      plans[proof.ordinal].carried := 'PROOF_INVALID';
    end if;
  end loop;

  -- 2. Key and holder are read there, under the locks that withdrawals take alone.
  return query select * from commit(plans, judged_at, clock_bound, source);

  -- 3. What has its plan's own receipt won, now or in an earlier ask whose answer was lost; then its envelope is there.
  with kept as (
    insert into upstream_proof (
      tenant, receipt_id, envelope, digest, key_name, key_id, subject_namespace, subject_id, actor_namespace, actor_id,
      create_time)
    select r.tenant, r.receipt_id, e.envelope, e.digest, e.key_name, e.key_id, e.subject_namespace, e.subject_id,
      e.actor_namespace, e.actor_id, r.commit_time
    from unnest(proofs) e
    cross join lateral (
      select o.tenant, o.receipt_id, o.commit_time from commit_receipt o
      where o.tenant = plans[e.ordinal].tenant
        and o.receipt_id between plans[e.ordinal].receipt_id and plans[e.ordinal].receipt_id
      order by o.receipt_id limit 1) r
    on conflict do nothing
    returning upstream_proof.tenant, upstream_proof.receipt_id, upstream_proof.digest, upstream_proof.key_name,
      upstream_proof.key_id),
  told as (
    insert into audit_event (
      tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time)
    select k.tenant, 'memory.prove', p.holder, p.record_id::text, '', 'sha256:' || encode(k.digest, 'hex'), '[]',
      p.correlation_id, split_part(p.traceparent, '-', 2), p.commit_time
    from kept k
    join unnest(plans) p on p.tenant = k.tenant and p.receipt_id = k.receipt_id)
  select count(*) into misnamed from kept k where called_key(k.tenant, k.key_name) is distinct from k.key_id;

  -- 4. The name was taken back between the two: nothing of this happens, and who asks again is refused in the first step.
  -- Now it cannot be taken back any more, for that waits for the locks that winners hold.
  if misnamed > 0 then
    raise exception 'another call was faster' using errcode = 'serialization_failure';
  end if;
end $$;

revoke all on function
  authority.commit_by_envelope(authority.commit_plan[], authority.commit_proof[], timestamptz, interval, text) from public;
grant execute on function
  authority.commit_by_envelope(authority.commit_plan[], authority.commit_proof[], timestamptz, interval, text)
  to authority_commit;

reset role;
revoke create on schema authority from authority_committer;
