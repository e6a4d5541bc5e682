-- Many plans in, one outcome each out, in order. The only writer of commit_receipt and memory_record.
--
-- outcome: 'committed' | 'replayed' | 'conflict' | 'busy' (a row it needs is locked: ask again) | 'stale' (the receipt
-- key was revoked since the plan was made) | 'refused', for which `reason` and `term` say why;
-- the receipt is the one that answers: its own (whose bytes the caller has), the first one's, or the one in conflict.
--
-- The receipt's insertion is the claim. Nothing is inserted and later deleted: a twin answered from a claim that is then
-- withdrawn would be a lie. Every statement below is a new snapshot (READ COMMITTED): what a lock protects is read only
-- after the lock is had. CTEs over an unnested array are materialized, else they are planned as one row.
create or replace function authority.commit(
  plans authority.commit_plan[], judged_at timestamptz, clock_bound interval, source text)
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
  open_tenants text[] := '{}';
  head_locked boolean[];
  capability_locked boolean[];
  outcomes text[];
  reasons text[];
  terms text[];
  receipts uuid[];
  won boolean[];
begin
  if abs(extract(epoch from clock_timestamp() - judged_at)) > extract(epoch from clock_bound) then
    raise exception 'the service clock is off the database clock' using errcode = 'CA001';
  end if;
  perform set_config(
    'authority.tenants', array_to_string(array(select distinct p.tenant from unnest(plans) p), ','), true);

  -- 1. Share the advisory locks that withdrawals take alone; then lock what can be had, waiting for nothing.
  if pg_try_advisory_xact_lock_shared(global_lock()) then
    open_tenants := array(
      select t.tenant from (select distinct p.tenant from unnest(plans) p order by 1) t
      where pg_try_advisory_xact_lock_shared(tenant_lock(t.tenant)));
  end if;

  with asked as materialized (
    select p.tenant, p.proposal_id, p.ordinality from unnest(plans) with ordinality p),
  locked as materialized (
    select h.tenant, h.proposal_id from proposal_head h
    join (select distinct a.tenant, a.proposal_id from asked a where a.tenant = any (open_tenants)) w
      on h.tenant = w.tenant and h.proposal_id = w.proposal_id
    order by h.tenant, h.proposal_id
    for update of h skip locked)
  select array_agg(l.tenant is not null order by a.ordinality) into head_locked
  from asked a left join locked l on l.tenant = a.tenant and l.proposal_id = a.proposal_id;

  with asked as materialized (
    select p.tenant, p.capability_id, p.ordinality from unnest(plans) with ordinality p),
  locked as materialized (
    select c.tenant, c.capability_id from capability c
    join (select distinct a.tenant, a.capability_id from asked a where head_locked[a.ordinality]) w
      on c.tenant = w.tenant and c.capability_id = w.capability_id
    order by c.tenant, c.capability_id
    for update of c skip locked)
  select array_agg(l.tenant is not null order by a.ordinality) into capability_locked
  from asked a left join locked l on l.tenant = a.tenant and l.capability_id = a.capability_id;

  -- 2. Replay and conflict for every plan, locked or not. 3. Carried and live refusals for the rest.
  with asked as materialized (select p.* from unnest(plans) with ordinality p),
  judged as materialized (
    select a.ordinality, a.carried, own.receipt_id as own_receipt,
      case
        when own.fingerprint = a.fingerprint then 'replayed'
        when own.fingerprint is not null then 'conflict'
        when not a.tenant = any (open_tenants) then 'busy'
        when exists (select 1 from issuer_key k where k.key_id = a.receipt_key and k.state = 'revoked') then 'stale'
        when h.proposal_id is not null and not head_locked[a.ordinality] then 'busy'
        when h.proposal_id is not null and c.capability_id is not null and not capability_locked[a.ordinality] then 'busy'
      end as answered,
      -- a bound term differs from the stored revision and its receipts
      case
        when q.proposal_id is null then null
        when q.memory_namespace <> a.memory_namespace then 'memory_namespace'
        when q.digest <> a.proposal_digest then 'proposal_digest'
        when q.content_digest <> a.content_digest then 'content_digest'
        when v.digest is null then 'validation_receipt_digest'
        when v.validator_profile <> a.validator_profile then 'validator_profile'
        when v.validator_profile_version <> a.validator_profile_version then 'validator_profile_version'
        when d.digest is null or d.policy_version <> a.policy_version then 'decision_receipt_digest'
      end as mismatch,
      case
        when exists (
          select 1 from issuer_key k where k.state = 'revoked'
            and k.key_id in (a.capability_key, v.key_id, d.key_id)) then 'KEY_REVOKED'
        when hk.state = 'revoked' then 'KEY_REVOKED'
      end as key_refusal,
      case
        when n.policy_version <> a.policy_version then 'POLICY_DENIED'
        when d.outcome = 'deny' then 'POLICY_DENIED'
        when c.not_before_time - interval '30 s' > judged_at then 'NOT_YET_VALID'
        when least(c.expire_time, v.expire_time, d.expire_time) <= judged_at then 'EXPIRED'
        when c.state = 'expired' then 'EXPIRED'
        when c.state = 'revoked' or holder.state = 'revoked' then 'REVOKED'
        when exists (
          select 1 from tombstone t where t.tenant = a.tenant and t.memory_namespace = a.memory_namespace
            and t.content_digest = a.content_digest and t.sequence > d.sequence) then 'REVOKED'
        when h.current_revision <> a.revision then 'NOT_VALIDATED'
        when h.state not in ('validated', 'approved', 'committed') then 'NOT_VALIDATED'
        when v.outcome = 'fail' then 'NOT_VALIDATED'
        when d.outcome = 'require_approval' then 'APPROVAL_REQUIRED'
        when a.approval_reference is not null and not exists (
          select 1 from approval_decision y where y.tenant = a.tenant and y.reference = a.approval_reference
            and y.proposal_id = a.proposal_id and y.revision = a.revision and y.verdict = 'approve' and y.expire_time > judged_at
            and not exists (
              select 1 from approval_decision z where z.tenant = y.tenant and z.proposal_id = y.proposal_id
                and z.revision = y.revision and z.sequence > y.sequence and z.verdict <> 'approve'))
          then 'APPROVAL_REQUIRED'
        when h.receipt_id is not null then 'ALREADY_COMMITTED'
        when q.proposal_id is null or c.capability_id is null or holder.principal is null or hk.key_id is null
          or n.name is null or c.digest <> a.capability_digest then 'NOT_FOUND'
      end as state_refusal
    from asked a
    left join commit_receipt own
      on own.tenant = a.tenant and own.holder = a.holder and own.idempotency_key = a.idempotency_key
    left join proposal_head h on h.tenant = a.tenant and h.proposal_id = a.proposal_id
    left join proposal q on q.tenant = a.tenant and q.proposal_id = a.proposal_id and q.revision = a.revision
    left join capability c on c.tenant = a.tenant and c.capability_id = a.capability_id
    left join validation_receipt v on v.tenant = a.tenant and v.digest = a.validation_digest
      and v.proposal_id = a.proposal_id and v.revision = a.revision
    left join decision_receipt d on d.tenant = a.tenant and d.digest = a.decision_digest
      and d.proposal_id = a.proposal_id and d.revision = a.revision and d.holder = a.holder
      and d.validation_receipt_digest = a.validation_digest
    left join memory_namespace n on n.tenant = a.tenant and n.name = a.memory_namespace
    left join principal holder on holder.tenant = a.tenant and holder.principal = a.holder
    left join principal_key hk on hk.tenant = a.tenant and hk.key_id = a.holder_key and hk.principal = a.holder),
  ranked as materialized (
    select j.*, (
      select r.reason from unnest(array[
        j.carried, j.key_refusal, case when j.mismatch is not null then 'BINDING_MISMATCH' end, j.state_refusal]) r(reason)
      where r.reason is not null order by reason_rank(r.reason) limit 1) as refusal
    from judged j)
  select
    array_agg(coalesce(k.answered, case when k.refusal is not null then 'refused' end) order by k.ordinality),
    array_agg(k.refusal order by k.ordinality),
    array_agg(case when k.refusal = 'BINDING_MISMATCH' and k.refusal is distinct from k.carried then k.mismatch end
      order by k.ordinality),
    array_agg(k.own_receipt order by k.ordinality)
  into outcomes, reasons, terms, receipts
  from ranked k;

  -- 4. The claim: the first good plan of each key, capability and proposal. The constraints have the last word.
  with good as materialized (
    select p.*,
      row_number() over (partition by p.tenant, p.holder, p.idempotency_key order by p.ordinality) as of_key,
      row_number() over (partition by p.tenant, p.capability_id order by p.ordinality) as of_capability,
      row_number() over (partition by p.tenant, p.proposal_id order by p.ordinality) as of_proposal
    from unnest(plans) with ordinality p
    where outcomes[p.ordinality] is null),
  first as materialized (
    select g.* from good g where g.of_key = 1 and g.of_capability = 1 and g.of_proposal = 1),
  claimed as (
    insert into commit_receipt (
      tenant, receipt_id, record_id, capability_id, holder, idempotency_key, fingerprint, proposal_id, revision,
      memory_namespace, payload_type, payload, key_id, signature, commit_time)
    select f.tenant, f.receipt_id, f.record_id, f.capability_id, f.holder, f.idempotency_key, f.fingerprint,
      f.proposal_id, f.revision, f.memory_namespace, f.receipt_payload_type, f.receipt_payload, f.receipt_key,
      f.receipt_signature, f.commit_time
    from first f
    order by f.tenant, f.holder, f.idempotency_key
    on conflict do nothing
    returning commit_receipt.tenant, commit_receipt.receipt_id)
  select array_agg(w.receipt_id is not null order by p.ordinality) into won
  from unnest(plans) with ordinality p
  left join first f on f.ordinality = p.ordinality -- one plan may be given twice: its receipt id alone wins nothing
  left join claimed w on w.tenant = f.tenant and w.receipt_id = f.receipt_id;

  -- 5. Winners: record, event and audit, capability and proposal head, in the same breath.
  with winner as materialized (
    select p.*, q.memory_type, q.provenance, q.content, q.media_type, q.proposer, q.source_refs, q.subject_refs,
      q.evidence_digests, q.visibility, q.valid_from_time, q.valid_until_time, q.record_expire_time, q.costs,
      d.sequence as decision_sequence
    from unnest(plans) with ordinality p
    join proposal q on q.tenant = p.tenant and q.proposal_id = p.proposal_id and q.revision = p.revision
    join decision_receipt d on d.tenant = p.tenant and d.digest = p.decision_digest
    where won[p.ordinality]),
  record as (
    insert into memory_record (
      tenant, record_id, receipt_id, memory_namespace, memory_type, provenance, content, content_digest, media_type,
      proposer, proposal_id, revision, source_refs, subject_refs, evidence_digests, visibility, valid_from_time,
      valid_until_time, expire_time, correlation_id, costs, decision_sequence, create_time)
    select w.tenant, w.record_id, w.receipt_id, w.memory_namespace, w.memory_type, w.provenance, w.content,
      w.content_digest, w.media_type, w.proposer, w.proposal_id, w.revision, w.source_refs, w.subject_refs,
      w.evidence_digests, w.visibility, w.valid_from_time, w.valid_until_time, w.record_expire_time, w.correlation_id,
      w.costs, w.decision_sequence, w.commit_time
    from winner w),
  event as (
    insert into outbox (tenant, id, aggregatetype, aggregateid, sequence, type, payload, traceparent, create_time)
    select w.tenant, w.event_id, 'memory_record', w.record_id::text, 1, 'memory.committed.v1',
      jsonb_build_object(
        'specversion', '1.0', 'id', w.event_id, 'source', source, 'type', 'memory.committed.v1',
        'subject', w.record_id, 'time', to_char(w.commit_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'datacontenttype', 'application/json',
        'data', jsonb_build_object(
          'tenant', w.tenant, 'memoryNamespace', w.memory_namespace, 'recordId', w.record_id, 'recordVersion', 1,
          'receiptId', w.receipt_id, 'memoryType', w.memory_type, 'provenance', w.provenance,
          'visibility', w.visibility, 'mediaType', w.media_type,
          'contentDigest', 'sha256:' || encode(w.content_digest, 'hex'), 'correlationId', w.correlation_id)),
      w.traceparent, w.commit_time
    from winner w),
  audit as (
    insert into audit_event (
      tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time)
    select w.tenant, 'memory.commit', w.holder, w.record_id::text, 'issued', 'consumed', w.costs, w.correlation_id,
      w.traceparent, w.commit_time
    from winner w),
  consumed as (
    update capability c set state = 'consumed', receipt_id = w.receipt_id
    from winner w where c.tenant = w.tenant and c.capability_id = w.capability_id)
  update proposal_head h set state = 'committed', receipt_id = w.receipt_id
  from winner w where h.tenant = w.tenant and h.proposal_id = w.proposal_id;

  -- An answer that is found, not made, holds on a new primary only if the commit it was found in is there. Under
  -- synchronous replication this write waits for the standby, which then has every earlier one (case I18).
  if current_setting('synchronous_standby_names') <> '' and exists (
    select 1 from unnest(outcomes, reasons, won) found(outcome, reason, has_won)
    where not found.has_won
      and (found.outcome is null or found.outcome in ('replayed', 'conflict') or found.reason = 'ALREADY_COMMITTED'))
  then
    perform pg_logical_emit_message(true, 'authority.commit', '');
  end if;

  -- 6. Whoever had no answer and lost the claim is answered from a new snapshot, in which the claim's winner stands.
  return query
  with answered as materialized (
    select p.ordinality, p.tenant, won[p.ordinality] as has_won, terms[p.ordinality] as term,
      case
        when won[p.ordinality] then 'committed'
        when outcomes[p.ordinality] is not null then outcomes[p.ordinality]
        when own.fingerprint = p.fingerprint then 'replayed'
        when own.fingerprint is not null then 'conflict'
        when other.receipt_id is not null then 'refused'
        else 'busy'
      end as outcome,
      case
        when won[p.ordinality] then null
        when outcomes[p.ordinality] = 'refused' then reasons[p.ordinality]
        when outcomes[p.ordinality] is null and own.receipt_id is null and other.receipt_id is not null
          then 'ALREADY_COMMITTED'
      end as reason,
      case
        when won[p.ordinality] then p.receipt_id
        when outcomes[p.ordinality] = 'refused' then
          case when reasons[p.ordinality] = 'ALREADY_COMMITTED' then other.receipt_id end
        else coalesce(receipts[p.ordinality], own.receipt_id, other.receipt_id)
      end as settled
    from unnest(plans) with ordinality p
    left join commit_receipt own on not won[p.ordinality]
      and own.tenant = p.tenant and own.holder = p.holder and own.idempotency_key = p.idempotency_key
    left join commit_receipt other on not won[p.ordinality]
      and other.tenant = p.tenant and other.proposal_id = p.proposal_id)
  select a.ordinality, a.outcome, a.reason, a.term, a.settled, r.record_id, r.fingerprint, r.payload_type, r.payload,
    r.key_id, r.signature
  from answered a
  left join commit_receipt r on not a.has_won and r.tenant = a.tenant and r.receipt_id = a.settled
  order by a.ordinality;
end $$;

alter function authority.commit(authority.commit_plan[], timestamptz, interval, text) owner to authority_committer;
revoke all on function authority.commit(authority.commit_plan[], timestamptz, interval, text) from public;
grant execute on function authority.commit(authority.commit_plan[], timestamptz, interval, text) to authority_commit;
