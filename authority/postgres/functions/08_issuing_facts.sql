-- The stored state that capabilities would be issued on, for many requests in one round trip. Like active_key it runs
-- with the rights of its caller and names the tenants for its own statement only, so both tenant walls stand. The content
-- of the proposals is left out: their digests are what is bound.
--
-- Never changed in place: as commit_plan.
do $$
begin
  create type authority.issuing_question as (
    tenant text,
    proposal_id uuid,
    revision integer,
    validation_digest bytea,                      -- statement digests of the presented receipts
    decision_digest bytea,
    holder text,
    holder_key bytea
  );
exception when duplicate_object then
  null; -- It is there already.
end $$;

-- What a function returns cannot be replaced: one that tells less than this one goes first, in this same transaction.
do $$
begin
  if exists (select 1 from pg_proc p
             where p.oid = to_regprocedure('authority.issuing_facts(authority.issuing_question[])')
               and not array['visibility_scope', 'expire_time', 'subject'] <@ p.proargnames) then
    drop function authority.issuing_facts(authority.issuing_question[]);
  end if;
end $$;

-- One row for each question whose revision there is, in order. Every lookup is lateral and limited, as in commit; and
-- where several indexes begin with the tenant it seeks, by `between x and x` in the order of the index that is meant: for
-- equality a planner that has seen small tables takes any of them, and reads all of a tenant.
create or replace function authority.issuing_facts(questions authority.issuing_question[])
returns table (
  ordinal bigint, tenant text, proposal_id uuid, revision integer, digest bytea, memory_namespace text, memory_type text,
  content bytea, content_digest bytea, media_type text, proposer text, proposer_kind text, actor_chain text[],
  provenance text, source_refs text[], subject_refs text[], evidence_digests bytea[], validator_profile text,
  visibility text, visibility_scope text, valid_from_time timestamptz, valid_until_time timestamptz, record_expire_time timestamptz,
  correlation_id text, costs jsonb, supersedes_record_id text, create_time timestamptz, current_revision integer,
  state text, policy_version bytea, has_validation boolean, has_decision boolean, principal text, kind text,
  rights text[], has_holder_key boolean, expire_time timestamptz, subject text)
language plpgsql volatile security invoker
set search_path = authority, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  perform set_config(
    'authority.tenants', array_to_string(array(select distinct a.tenant from unnest(questions) a), ','), true);
  return query
  with asked as materialized (select a.* from unnest(questions) with ordinality a)
  select a.ordinality, q.tenant, q.proposal_id, q.revision, q.digest, q.memory_namespace, q.memory_type, ''::bytea,
    q.content_digest, q.media_type, q.proposer, q.proposer_kind, q.actor_chain, q.provenance, q.source_refs,
    q.subject_refs, q.evidence_digests, q.validator_profile, q.visibility, q.visibility_scope,
    q.valid_from_time, q.valid_until_time, q.record_expire_time, q.correlation_id, q.costs, q.supersedes_record_id, q.create_time, h.current_revision,
    case when q.revision = h.current_revision then h.state else 'superseded' end,
    n.policy_version, v.digest is not null, d.digest is not null, p.principal, p.kind, p.rights, k.key_id is not null,
    q.expire_time, q.subject
  from asked a
  cross join lateral (
    select o.current_revision, o.state from proposal_head o
    where o.tenant = a.tenant and o.proposal_id = a.proposal_id limit 1) h
  cross join lateral (
    select o.tenant, o.proposal_id, o.revision, o.digest, o.memory_namespace, o.memory_type, o.content_digest,
      o.media_type, o.proposer, o.proposer_kind, o.actor_chain, o.provenance, o.source_refs, o.subject_refs,
      o.evidence_digests, o.validator_profile, o.visibility, o.visibility_scope, o.valid_from_time, o.valid_until_time,
      o.record_expire_time, o.correlation_id, o.costs, o.supersedes_record_id, o.create_time, o.expire_time, o.subject
    from proposal o
    where o.tenant = a.tenant and o.proposal_id = a.proposal_id and o.revision = a.revision limit 1) q
  -- A proposal's memory namespace exists: a foreign key says so, and nothing deletes one.
  cross join lateral (
    select o.policy_version from memory_namespace o
    where o.tenant = a.tenant and o.name = q.memory_namespace limit 1) n
  left join lateral (
    select o.digest from validation_receipt o
    where o.tenant = a.tenant and o.digest between a.validation_digest and a.validation_digest
    order by o.digest limit 1) v on true
  left join lateral (
    select o.digest from decision_receipt o
    where o.tenant = a.tenant and o.digest = a.decision_digest limit 1) d on true
  left join lateral (
    select o.principal, o.kind, o.rights from principal o
    where o.tenant = a.tenant and o.principal = a.holder and o.state = 'active' limit 1) p on true
  left join lateral (
    select o.key_id from principal_key o
    where o.tenant = a.tenant and o.key_id between a.holder_key and a.holder_key
      and o.principal = p.principal and o.state = 'active'
    order by o.key_id limit 1) k on true
  order by a.ordinality;
end $$;

revoke all on function authority.issuing_facts(authority.issuing_question[]) from public;
grant execute on function authority.issuing_facts(authority.issuing_question[]) to authority_issue;
