-- Roles and rights. A role is a power, not a person: the service logs in as one that may take four of them on and
-- inherits none; the owners of functions that lend their rights are nobody's. Run after every migration; each statement
-- may be repeated.
do $$
declare power text;
begin
  foreach power in array array[
    'authority_committer', 'authority_commit', 'authority_propose', 'authority_issue', 'authority_read',
    'authority_relay', 'authority_admin', 'authority_service', 'authority_aggregator', 'authority_unvalidated',
    'authority_eraser', 'authority_spender']
  loop
    if not exists (select 1 from pg_roles where rolname = power) then
      execute format('create role %I nologin noinherit', power);
    end if;
  end loop;
exception when duplicate_object or unique_violation then
  null; -- another migration of this cluster made it a moment ago
end $$;

-- Who may become whom. Whoever migrates needs seven powers, and has them as a superuser only: those of the five owners of
-- functions, to replace what they own, and the administrator's and the relay's, for the operator's acts. Only what is
-- missing is granted: roles belong to the cluster, and one that was made by somebody else can be granted by them alone.
do $$
declare
  missing record;
  refused text[] := '{}';
begin
  for missing in
    select m.power, m.taker from (
      select power, 'authority_service' as taker, exists (
        select 1 from pg_auth_members a
        where a.roleid = power::regrole and a.member = 'authority_service'::regrole
          and a.set_option and not a.inherit_option) as has
      from unnest(array[
        'authority_commit', 'authority_propose', 'authority_issue', 'authority_read', 'authority_relay']) power
      union all
      select power, current_user, pg_has_role(current_user, power, 'SET')
      from unnest(array[
        'authority_committer', 'authority_aggregator', 'authority_unvalidated', 'authority_eraser',
        'authority_spender', 'authority_admin', 'authority_relay']) power) m
    where not m.has
  loop
    begin
      execute format('grant %I to %I with inherit false, set true', missing.power, missing.taker);
    exception when insufficient_privilege then
      refused := refused || format('GRANT %I TO %I WITH INHERIT FALSE, SET TRUE;', missing.power, missing.taker);
    end;
  end loop;
  if refused <> '{}' then
    raise insufficient_privilege using message = format(
      'the authority_… roles of this cluster were made by another role%s, which has to run once, or a superuser has to: '
      '%s Then run `authority migrate` again.',
      (select ' (' || string_agg(distinct a.member::regrole::text, ', ') || ')' from pg_auth_members a
       where a.roleid = 'authority_committer'::regrole and a.admin_option),
      array_to_string(refused, ' '));
  end if;
end $$;

grant usage on schema authority to
  authority_committer, authority_unvalidated, authority_aggregator, authority_commit, authority_propose,
  authority_issue, authority_read, authority_relay, authority_admin, authority_eraser, authority_spender;

-- Reading: everything that a decision may rest on. The commit role itself reads nothing.
grant select on all tables in schema authority to authority_committer, authority_admin;
grant select on
  authority.issuer_key, authority.policy_version, authority.memory_namespace, authority.principal,
  authority.principal_key, authority.request, authority.proposal_head, authority.proposal,
  authority.validation_receipt, authority.approval_decision, authority.decision_receipt, authority.capability,
  authority.commit_receipt, authority.memory_record, authority.tombstone, authority.revocation,
  authority.citation, authority.evidence, authority.membership,
  authority.content_signature, authority.content_band, authority.content_assertion, authority.content_to_erase,
  authority.token_identity, authority.principal_link,
  authority.unvalidated_write, authority.external_authority, authority.external_key,
  authority.key_alias
  to authority_read, authority_propose, authority_issue;
grant select on authority.audit_event, authority.upstream_proof to authority_read;

grant insert on
  authority.request, authority.proposal_head, authority.proposal, authority.validation_receipt,
  authority.approval_decision, authority.audit_event, authority.citation, authority.evidence
  to authority_propose;
grant update (current_revision, state, withdraw_time) on authority.proposal_head to authority_propose;
-- What validated content is compared by.
grant insert on authority.content_signature, authority.content_band, authority.content_assertion
  to authority_propose;
-- Whoever withdraws tells it in the same transaction.
grant insert on authority.revocation to authority_propose, authority_issue, authority_admin;
grant usage on sequence authority.decision_sequence to authority_propose, authority_issue, authority_admin;

grant insert on authority.request, authority.decision_receipt, authority.capability, authority.audit_event
  to authority_issue;
-- Of approvals it says what policy said, and what a person took back, and never that a person approved
-- (row_security.sql); and that a decision rests on one.
grant insert on authority.approval_decision, authority.approval_use to authority_issue;
grant select on authority.approval_use to authority_read, authority_propose, authority_issue;
grant update (state, revoke_time) on authority.capability to authority_issue;
-- Grants, and what is spent of them; the ledger never changes.
grant select on authority.grant_record, authority.grant_use to authority_read, authority_propose, authority_issue;
grant insert on authority.grant_record, authority.grant_use to authority_issue;
grant update (state, revoke_time) on authority.grant_record to authority_issue;
-- The owner of the functions that spend of a grant what proposing and reading cost: it writes the ledger, and reads what
-- that rests on.
grant select on
  authority.grant_record, authority.grant_use, authority.capability, authority.issuer_key, authority.principal,
  authority.principal_key to authority_spender;
grant insert on authority.grant_use to authority_spender;
grant update (state) on authority.grant_record to authority_spender; -- to lock it: no policy lets it change one
-- And withdraw memory, which is told.
grant insert on authority.tombstone, authority.outbox to authority_issue;
-- Of what opened streams it may forget, too, but only what is old (row_security.sql).
grant select, insert, delete on authority.stream_nonce to authority_issue;
-- Which envelopes of other verifiers passed, likewise.
grant select, insert, delete on authority.replay_reservation to authority_issue;
-- It counts refusals, and forgets old counts.
grant select, insert, delete on authority.refusal_count to authority_issue;
grant update (count) on authority.refusal_count to authority_issue;

-- The owner of the commit function: it can consume, record and tell, and change nothing else (ADR-328 section 6).
grant insert on
  authority.commit_receipt, authority.memory_record, authority.outbox, authority.audit_event, authority.upstream_proof
  to authority_committer;
grant update (state, receipt_id) on authority.capability to authority_committer;
grant update (state, receipt_id) on authority.proposal_head to authority_committer;
grant update (superseded_by, supersede_time) on authority.memory_record to authority_committer;

-- The owner of the function that counts across tenants (row_security.sql): what is counted by, and nothing that is said.
grant select on authority.aggregate to authority_aggregator;
grant select (tenant, memory_namespace, memory_type, visibility, create_time) on authority.memory_record
  to authority_aggregator;
-- The owner of the function that takes memory without validation: records without a receipt (row_security.sql) and what
-- is told of them, and nothing that a commit changes.
grant select on authority.memory_namespace, authority.principal, authority.tombstone to authority_unvalidated;
grant insert on authority.memory_record, authority.unvalidated_write, authority.outbox, authority.audit_event
  to authority_unvalidated;
grant usage on sequence authority.decision_sequence to authority_unvalidated;
-- The owner of the function that erases content which failed for secrets (row_security.sql).
grant select on
  authority.content_to_erase, authority.proposal_head, authority.proposal, authority.validation_receipt,
  authority.approval_decision to authority_eraser;
grant update (content, search) on authority.proposal to authority_eraser;
grant update (state) on authority.proposal_head to authority_eraser; -- to lock it: no policy lets it change one
grant delete on authority.content_to_erase to authority_eraser;
grant insert on authority.audit_event to authority_eraser;
grant insert, delete on authority.content_to_erase to authority_propose;

-- The relay notes what became of an event and never makes or changes one; it forgets what was delivered
-- (row_security.sql).
grant select, delete on authority.outbox to authority_relay;
grant update (claim_token, claim_until_time, attempts, last_error, retry_time, parked, delivered_time)
  on authority.outbox to authority_relay;
grant select, insert, delete on authority.outbox_parked to authority_relay;

grant insert, update on authority.issuer_key, authority.memory_namespace, authority.principal, authority.principal_key,
  authority.membership
  to authority_admin;
grant insert, update (state, remove_time) on authority.aggregate to authority_admin;
grant insert on authority.token_identity, authority.principal_link, authority.key_alias to authority_admin;
grant update (state, revoke_time) on authority.key_alias to authority_admin;
grant update (state) on authority.token_identity to authority_admin;
grant update (state, revoke_time) on authority.principal_link to authority_admin;
grant insert on authority.policy_version, authority.tombstone, authority.audit_event to authority_admin;
-- Who else has a say on policy.
grant insert on authority.external_authority, authority.external_key to authority_admin;
grant update (memory_namespaces, required) on authority.external_authority to authority_admin;
grant update (state, revoke_time) on authority.external_key to authority_admin;
-- What a person decided on evidence, entered by the operator; of the evidence itself nothing ever changes.
grant update (state, decided_by, decide_time, note) on authority.evidence to authority_admin;

-- Which migrations were applied, so that the service can tell an operator that some are missing.
grant select on _yoyo_migration to authority_read;
