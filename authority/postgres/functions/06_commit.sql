-- Many plans in, one outcome each out, in order. The only writer of commit_receipt and memory_record.
--
-- outcome: 'committed' | 'replayed' | 'conflict' | 'busy' (a row it needs is locked: ask again) | 'stale' (the receipt
-- key was revoked since the plan was made) | 'refused', for which `reason` and `term` say why;
-- the receipt is the one that answers: its own (whose bytes the caller has), the first one's, or the one in conflict.
--
-- The receipt's insertion is the claim. Nothing is inserted and later deleted: a twin answered from a claim that is then
-- withdrawn would be a lie. Every statement below is a new snapshot (READ COMMITTED): what a lock protects is read only
-- after the lock is had.
--
-- Every lookup is lateral and limited: for each plan one probe of an index, whatever the planner believes of sizes. Plain
-- joins, planned while tables were small, read all of a tenant for each plan. Where several indexes begin with the tenant
-- it seeks, by `between x and x` in the order of the index that is meant: an empty table that fills faster than it is
-- analysed would be read by any of them. Which plans are in a result is asked by `in`, which is hashed.
--
-- In the judgement (2 and 3): a asked plan, own the receipt under its key, h proposal head, q proposal revision,
-- c capability, v validation receipt, d decision receipt, s the record that a correction is to supersede, n memory
-- namespace, hk holder key, k issuer key, n a named approval, y its row, p its person, z a
-- later decision against it, l a link. What of it depends on the decision alone 24_decision_refusal.sql asks as well, for
-- those who ask before they commit: whoever adds to one adds to the other.
--
-- Its owner makes it: whoever migrates may take that role on and has none of its rights otherwise, so that nobody but a
-- superuser could give the function away or replace it later. This file is one transaction.
grant create on schema authority to authority_committer;
set local role authority_committer;

create or replace function authority.commit(
  plans authority.commit_plan[], judged_at timestamptz, clock_bound interval, source text)
returns table (
  ordinal bigint, outcome text, reason text, term text,
  receipt_id uuid, record_id uuid, fingerprint bytea, payload_type text, payload bytea, key_id bytea, signature bytea)
language plpgsql volatile security definer
set search_path = authority, pg_temp
set lock_timeout = '250ms'
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  open_tenants text[] := '{}';
  head_locked boolean[];
  capability_locked boolean[];
  granted_tenants text[];
  granted bytea[];                              -- the grants that the locked capabilities were issued under, each once
  ungranted text[];                             -- what stands against each of them, or ''
  corrected_tenants text[];
  corrected_records uuid[];
  corrected_locked text[];
  outcomes text[];
  reasons text[];
  terms text[];
  receipts uuid[];
  corrects uuid[];
  won boolean[];
begin
  perform require_clock(judged_at, clock_bound);
  perform set_config(
    'authority.tenants', array_to_string(array(select distinct p.tenant from unnest(plans) p), ','), true);

  -- 1. Share the advisory locks that withdrawals take alone; then lock what can be had, waiting for nothing.
  if pg_try_advisory_xact_lock_shared(global_lock()) then
    open_tenants := array(
      select t.tenant from (select distinct p.tenant from unnest(plans) p order by 1) t
      where pg_try_advisory_xact_lock_shared(tenant_lock(t.tenant)));
  end if;

  with wanted as materialized (
    select distinct p.tenant, p.proposal_id from unnest(plans) p where p.tenant = any (open_tenants) order by 1, 2),
  locked as materialized (
    select l.* from wanted w
    cross join lateral (
      select h.tenant, h.proposal_id, h.supersedes_record_id from proposal_head h
      where h.tenant = w.tenant and h.proposal_id = w.proposal_id
      for update skip locked) l)
  select
    array_agg((p.tenant, p.proposal_id) in (select l.tenant, l.proposal_id from locked l) order by p.ordinality),
    (select array_agg(l.tenant order by l.proposal_id) from locked l where l.supersedes_record_id is not null),
    (select array_agg(l.supersedes_record_id order by l.proposal_id) from locked l
      where l.supersedes_record_id is not null)
  into head_locked, corrected_tenants, corrected_records
  from unnest(plans) with ordinality p;

  with wanted as materialized (
    select distinct p.tenant, p.capability_id from unnest(plans) with ordinality p
    where head_locked[p.ordinality] order by 1, 2),
  locked as materialized (
    select l.tenant, l.capability_id, l.grant_digest from wanted w
    cross join lateral (
      select c.tenant, c.capability_id, c.grant_digest from capability c
      where c.tenant = w.tenant and c.capability_id between w.capability_id and w.capability_id
      order by c.capability_id limit 1 for update skip locked) l)
  select
    array_agg((p.tenant, p.capability_id) in (select l.tenant, l.capability_id from locked l) order by p.ordinality),
    (select array_agg(l.tenant order by l.grant_digest, l.tenant) from (
      select distinct l.tenant, l.grant_digest from locked l where l.grant_digest is not null) l),
    (select array_agg(l.grant_digest order by l.grant_digest, l.tenant) from (
      select distinct l.tenant, l.grant_digest from locked l where l.grant_digest is not null) l)
  into capability_locked, granted_tenants, granted
  from unnest(plans) with ordinality p;

  -- Many are committed under few grants. What is withdrawn waits for the locks that are held here, so this stays true.
  if granted is not null then
    select array_agg(coalesce(grant_refusal(g.tenant, g.digest, judged_at), '') order by g.number)
    into ungranted
    from unnest(granted_tenants, granted) with ordinality g(tenant, digest, number);
  end if;

  -- Few commits correct anything. Whoever opens another correction refers to the record, and waits for nobody here.
  if corrected_records is not null then
    with wanted as materialized (
      select distinct w.tenant, w.record_id from unnest(corrected_tenants, corrected_records) w(tenant, record_id)
      order by 1, 2)
    select array_agg(l.tenant || ' ' || l.record_id)
    into corrected_locked
    from wanted w
    cross join lateral (
      select r.tenant, r.record_id from memory_record r
      where r.tenant = w.tenant and r.record_id between w.record_id and w.record_id
      order by r.record_id limit 1 for no key update skip locked) l;
  end if;

  -- 2. Replay and conflict for every plan, locked or not.
  -- 3. Carried and live refusals for the rest, of which the highest in the error table answers.
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
        when s.record_id is not null
          and (a.tenant || ' ' || s.record_id = any (corrected_locked)) is not true then 'busy'
      end as answered,
      h.supersedes_record_id as corrects,
      -- a bound term differs from the stored revision and its receipts, or is missing from the plan
      case
        when q.proposal_id is null then null
        when q.memory_namespace is distinct from a.memory_namespace then 'memory_namespace'
        when q.digest is distinct from a.proposal_digest then 'proposal_digest'
        when q.content_digest is distinct from a.content_digest then 'content_digest'
        when v.digest is null then 'validation_receipt_digest'
        when v.validator_profile is distinct from a.validator_profile then 'validator_profile'
        when v.validator_profile_version is distinct from a.validator_profile_version then 'validator_profile_version'
        when d.digest is null or d.policy_version is distinct from a.policy_version then 'decision_receipt_digest'
      end as mismatch,
      case
        when own.fingerprint is not null then null -- answered already, whatever became of it since
        when exists (
          select 1 from issuer_key k where k.state = 'revoked'
            and k.key_id in (c.key_id, a.capability_key, v.key_id, d.key_id)) then 'KEY_REVOKED'
        when hk.state = 'revoked' then 'KEY_REVOKED'
        when d.external_keys <> '{}' and exists (
          select 1 from external_key e where e.tenant = a.tenant and e.key_id = any (d.external_keys)
            and e.state = 'revoked') then 'KEY_REVOKED'
      end as key_refusal,
      case
        when c.grant_digest is null or own.fingerprint is not null then null
        -- Not locked: of the one that holds it we have no answer, but maybe a refusal.
        when (c.grant_digest = any (granted)) is not true then grant_refusal(a.tenant, c.grant_digest, judged_at)
        else nullif(ungranted[array_position(granted, c.grant_digest)], '')
      end as of_grant,
      case
        when own.fingerprint is not null then null
        when n.name is not null and n.policy_version is distinct from a.policy_version then 'POLICY_DENIED'
        when d.outcome = 'deny' then 'POLICY_DENIED'
        when c.not_before_time - interval '30 s' > judged_at then 'NOT_YET_VALID'
        when least(c.expire_time, v.expire_time, d.expire_time) <= judged_at then 'EXPIRED'
        when q.expire_time <= judged_at and h.state not in ('committed', 'withdrawn')
          and h.current_revision = a.revision then 'EXPIRED'
        when c.state = 'expired' then 'EXPIRED'
        when c.state = 'revoked' or holder.state = 'revoked' then 'REVOKED'
        when exists (
          select 1 from tombstone t where t.tenant = a.tenant and t.memory_namespace = a.memory_namespace
            and t.content_digest = a.content_digest and t.sequence > d.sequence) then 'REVOKED'
        when s.record_id is not null and exists (
          select 1 from tombstone t where t.tenant = a.tenant and t.memory_namespace = s.memory_namespace
            and t.content_digest = s.content_digest and t.sequence > s.decision_sequence) then 'REVOKED'
        when h.current_revision <> a.revision then 'NOT_VALIDATED'
        when h.state not in ('validated', 'approved', 'committed') then 'NOT_VALIDATED'
        when v.outcome = 'fail' then 'NOT_VALIDATED'
        when s.superseded_by is not null then 'NOT_VALIDATED'
        when d.outcome = 'require_approval' then 'APPROVAL_REQUIRED'
        -- Every approval that the decision names still counts, each of another person and of none whose own matter it is,
        -- over the links of now. `same_person` costs more than all else here, and few have links.
        when (a.approval_reference is not null or d.approvals <> '{}') and (
          select count(distinct p.person) from unnest(d.approvals || a.approval_reference) n (reference)
          cross join lateral (
            select o.decided_by, o.sequence from approval_decision o
            where o.tenant = a.tenant and o.reference between n.reference and n.reference
              and o.proposal_id = a.proposal_id and o.revision = a.revision
              and o.verdict = 'approve' and o.decided_by_kind <> 'system_policy'
              and o.expire_time > judged_at and (o.holder is null or o.holder = a.holder)
            order by o.reference limit 1) y
          cross join lateral (
            select case
                when exists (
                  select 1 from principal_link l
                  where l.tenant = o.tenant and l.principal = o.principal and l.state = 'verified')
                  or exists (
                  select 1 from principal_link l
                  where l.tenant = o.tenant and l.other = o.principal and l.state = 'verified')
                then (select array_agg(s order by s) from same_person(o.tenant, o.principal) s)
                else array[o.principal]
              end as person
            from principal o
            where o.tenant = a.tenant and o.principal = y.decided_by and o.state = 'active'
              and o.kind in ('user', 'admin') and 'decide' = any (o.rights) limit 1) p
          where not p.person && (q.actor_chain || q.proposer || coalesce(q.subject, q.proposer))
            and not exists (
              select 1 from approval_decision z where z.tenant = a.tenant and z.proposal_id = a.proposal_id
                and z.revision = a.revision and z.sequence > y.sequence
                and z.verdict in ('reject', 'request_changes', 'revoke'))
        ) < (select count(distinct n) from unnest(d.approvals || a.approval_reference) n)
          then 'APPROVAL_REQUIRED'
        -- a person took back what policy allowed by itself
        when a.approval_reference is null and d.approvals = '{}' and exists (
          select 1 from approval_decision z where z.tenant = a.tenant and z.proposal_id = a.proposal_id
            and z.revision = a.revision and z.sequence > d.sequence and z.verdict = 'revoke')
          then 'APPROVAL_REQUIRED'
        when h.receipt_id is not null then 'ALREADY_COMMITTED'
        when q.proposal_id is null or c.capability_id is null or holder.principal is null or hk.key_id is null
          or n.name is null or (c.digest, c.key_id) is distinct from (a.capability_digest, a.capability_key)
          or q.supersedes_record_id <> coalesce(h.supersedes_record_id::text, '')
          or (h.supersedes_record_id is not null and s.memory_namespace is distinct from a.memory_namespace)
          then 'NOT_FOUND'
      end as state_refusal
    from asked a
    left join lateral (
      select o.receipt_id, o.fingerprint from commit_receipt o
      where o.tenant = a.tenant
        and (o.holder, o.idempotency_key) between (a.holder, a.idempotency_key) and (a.holder, a.idempotency_key)
      order by o.holder, o.idempotency_key limit 1) own on true
    left join lateral (
      select o.proposal_id, o.current_revision, o.state, o.receipt_id, o.supersedes_record_id from proposal_head o
      where o.tenant = a.tenant and o.proposal_id = a.proposal_id limit 1) h on true
    left join lateral (
      select o.proposal_id, o.memory_namespace, o.digest, o.content_digest, o.supersedes_record_id, o.expire_time,
        o.proposer, o.actor_chain, o.subject
      from proposal o
      where o.tenant = a.tenant and o.proposal_id = a.proposal_id and o.revision = a.revision limit 1) q on true
    left join lateral (
      select o.capability_id, o.digest, o.key_id, o.state, o.not_before_time, o.expire_time, o.grant_digest
      from capability o
      where o.tenant = a.tenant and o.capability_id between a.capability_id and a.capability_id
      order by o.capability_id limit 1) c on true
    left join lateral (
      select o.digest, o.key_id, o.validator_profile, o.validator_profile_version, o.outcome, o.expire_time
      from validation_receipt o
      where o.tenant = a.tenant and o.digest between a.validation_digest and a.validation_digest
        and o.proposal_id = a.proposal_id and o.revision = a.revision
      order by o.digest limit 1) v on true
    left join lateral (
      select o.digest, o.key_id, o.policy_version, o.outcome, o.sequence, o.expire_time, o.approvals,
        o.external_keys
      from decision_receipt o
      where o.tenant = a.tenant and o.digest = a.decision_digest
        and o.proposal_id = a.proposal_id and o.revision = a.revision and o.holder = a.holder
        and o.validation_receipt_digest = a.validation_digest limit 1) d on true
    left join lateral (
      select o.record_id, o.memory_namespace, o.content_digest, o.decision_sequence, o.superseded_by from memory_record o
      where o.tenant = a.tenant and o.record_id between h.supersedes_record_id and h.supersedes_record_id
        and h.receipt_id is null
      order by o.record_id limit 1) s on true
    left join lateral (
      select o.name, o.policy_version from memory_namespace o
      where o.tenant = a.tenant and o.name = a.memory_namespace limit 1) n on true
    left join lateral (
      select o.principal, o.state from principal o
      where o.tenant = a.tenant and o.principal = a.holder limit 1) holder on true
    left join lateral (
      select o.key_id, o.state from principal_key o
      where o.tenant = a.tenant and o.key_id = a.holder_key and o.principal = a.holder limit 1) hk on true),
  ranked as materialized (
    select j.*, (
      select r.reason from unnest(array[
        j.carried, j.key_refusal, case when j.mismatch is not null then 'BINDING_MISMATCH' end, j.of_grant,
        j.state_refusal]) r(reason)
      where r.reason is not null order by reason_rank(r.reason) limit 1) as refusal
    from judged j)
  select
    array_agg(coalesce(k.answered, case when k.refusal is not null then 'refused' end) order by k.ordinality),
    array_agg(k.refusal order by k.ordinality),
    array_agg(case when k.refusal = 'BINDING_MISMATCH' and k.refusal is distinct from k.carried then k.mismatch end
      order by k.ordinality),
    array_agg(k.own_receipt order by k.ordinality),
    array_agg(k.corrects order by k.ordinality)
  into outcomes, reasons, terms, receipts, corrects
  from ranked k;

  -- 4. The claim: the first good plan of each key, capability, proposal and corrected record. The constraints have the
  -- last word.
  with good as materialized (
    select p.*,
      row_number() over (partition by p.tenant, p.holder, p.idempotency_key order by p.ordinality) as of_key,
      row_number() over (partition by p.tenant, p.capability_id order by p.ordinality) as of_capability,
      row_number() over (partition by p.tenant, p.proposal_id order by p.ordinality) as of_proposal,
      row_number() over (
        partition by p.tenant, coalesce(corrects[p.ordinality], p.record_id) order by p.ordinality) as of_corrected
    from unnest(plans) with ordinality p
    where outcomes[p.ordinality] is null),
  first as materialized (
    select g.* from good g
    where g.of_key = 1 and g.of_capability = 1 and g.of_proposal = 1 and g.of_corrected = 1),
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
  select array_agg(
    p.ordinality in (select f.ordinality from first f) -- one plan may be given twice: its receipt id alone wins nothing
      and (p.tenant, p.receipt_id) in (select w.tenant, w.receipt_id from claimed w) order by p.ordinality)
  into won
  from unnest(plans) with ordinality p;

  -- 5. Winners: record, event and audit, capability and proposal head, in the same breath.
  with winner as materialized (
    select p.*, q.*, d.*
    from unnest(plans) with ordinality p
    cross join lateral (
      select o.memory_type, o.provenance, o.content, o.media_type, o.proposer, o.source_refs, o.subject_refs,
        o.evidence_digests, o.visibility, o.visibility_scope, o.valid_from_time, o.valid_until_time, o.record_expire_time, o.costs, o.search
      from proposal o
      where o.tenant = p.tenant and o.proposal_id = p.proposal_id and o.revision = p.revision limit 1) q
    cross join lateral (
      select o.sequence as decision_sequence from decision_receipt o
      where o.tenant = p.tenant and o.digest = p.decision_digest limit 1) d
    where won[p.ordinality]),
  record as (
    insert into memory_record (
      tenant, record_id, receipt_id, memory_namespace, memory_type, provenance, content, content_digest, media_type,
      proposer, proposal_id, revision, source_refs, subject_refs, evidence_digests, visibility, valid_from_time,
      valid_until_time, expire_time, correlation_id, costs, decision_sequence, supersedes_record_id, create_time,
      search, visibility_scope)
    select w.tenant, w.record_id, w.receipt_id, w.memory_namespace, w.memory_type, w.provenance, w.content,
      w.content_digest, w.media_type, w.proposer, w.proposal_id, w.revision, w.source_refs, w.subject_refs,
      w.evidence_digests, w.visibility, w.valid_from_time, w.valid_until_time, w.record_expire_time, w.correlation_id,
      w.costs, w.decision_sequence, corrects[w.ordinality], w.commit_time, w.search, w.visibility_scope
    from winner w),
  event as (
    insert into outbox (tenant, id, aggregatetype, aggregateid, sequence, type, payload, traceparent, create_time)
    select w.tenant, w.event_id, 'memory_record', w.record_id::text, 1, 'memory.committed.v1',
      memory_event(
        w.event_id, source, 'memory.committed.v1', 1, w.commit_time, w.tenant, w.memory_namespace, w.record_id,
        w.receipt_id, w.memory_type, w.provenance, w.visibility, w.media_type, w.content_digest, w.correlation_id,
        jsonb_build_object('visibilityScope', w.visibility_scope)),
      w.traceparent, w.commit_time
    from winner w),
  audit as (
    insert into audit_event (
      tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time)
    select w.tenant, 'memory.commit', w.holder, w.record_id::text, 'issued', 'consumed', w.costs, w.correlation_id,
      split_part(w.traceparent, '-', 2), w.commit_time
    from winner w),
  consumed as (
    update capability c set state = 'consumed', receipt_id = w.receipt_id
    from winner w where c.tenant = w.tenant and c.capability_id = w.capability_id)
  update proposal_head h set state = 'committed', receipt_id = w.receipt_id
  from winner w where h.tenant = w.tenant and h.proposal_id = w.proposal_id;

  -- A corrected record gives way to its correction, and is told of: its second event, for it was neither corrected
  -- before nor revoked.
  if corrected_records is not null then
    with corrected as materialized (
      select w.tenant, w.holder, w.record_id as superseded_by, w.commit_time, w.traceparent, gen_random_uuid() as event_id,
        r.*
      from unnest(plans) with ordinality w
      cross join lateral (
        select o.record_id, o.receipt_id, o.memory_namespace, o.memory_type, o.provenance, o.visibility,
          o.visibility_scope, o.media_type, o.content_digest, o.correlation_id
        from memory_record o
        where o.tenant = w.tenant and o.record_id between corrects[w.ordinality] and corrects[w.ordinality]
        order by o.record_id limit 1) r
      where won[w.ordinality]),
    superseded as (
      update memory_record m set superseded_by = c.superseded_by, supersede_time = c.commit_time
      from corrected c where m.tenant = c.tenant and m.record_id = c.record_id),
    event as (
      insert into outbox (tenant, id, aggregatetype, aggregateid, sequence, type, payload, traceparent, create_time)
      select c.tenant, c.event_id, 'memory_record', c.record_id::text, 2, 'memory.corrected.v1',
        memory_event(
          c.event_id, source, 'memory.corrected.v1', 2, c.commit_time, c.tenant, c.memory_namespace, c.record_id,
          c.receipt_id, c.memory_type, c.provenance, c.visibility, c.media_type, c.content_digest, c.correlation_id,
          jsonb_build_object('visibilityScope', c.visibility_scope, 'supersededBy', c.superseded_by)),
        c.traceparent, c.commit_time
      from corrected c)
    insert into audit_event (
      tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time)
    select c.tenant, 'memory.correct', c.holder, c.record_id::text, 'live', 'superseded', '[]', c.correlation_id,
      split_part(c.traceparent, '-', 2), c.commit_time
    from corrected c;
  end if;

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
    left join lateral (
      select o.receipt_id, o.fingerprint from commit_receipt o
      where not won[p.ordinality] and o.tenant = p.tenant
        and (o.holder, o.idempotency_key) between (p.holder, p.idempotency_key) and (p.holder, p.idempotency_key)
      order by o.holder, o.idempotency_key limit 1) own on true
    left join lateral (
      select o.receipt_id from commit_receipt o
      where not won[p.ordinality] and o.tenant = p.tenant and o.proposal_id between p.proposal_id and p.proposal_id
      order by o.proposal_id limit 1) other on true)
  select a.ordinality, a.outcome, a.reason, a.term, a.settled, r.record_id, r.fingerprint, r.payload_type, r.payload,
    r.key_id, r.signature
  from answered a
  left join lateral (
    select o.record_id, o.fingerprint, o.payload_type, o.payload, o.key_id, o.signature from commit_receipt o
    where not a.has_won and o.tenant = a.tenant and o.receipt_id between a.settled and a.settled
    order by o.receipt_id limit 1) r on true
  order by a.ordinality;
end $$;

revoke all on function authority.commit(authority.commit_plan[], timestamptz, interval, text) from public;
grant execute on function authority.commit(authority.commit_plan[], timestamptz, interval, text) to authority_commit;

reset role;
revoke create on schema authority from authority_committer;
