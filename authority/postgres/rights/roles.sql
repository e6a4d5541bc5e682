-- Roles and rights. A role is a power, not a person: the service logs in as one that may take four of them on and
-- inherits none. Run after every migration; each statement may be repeated.
do $$
declare power text;
begin
  foreach power in array array[
    'authority_committer', 'authority_commit', 'authority_propose', 'authority_issue', 'authority_read',
    'authority_relay', 'authority_admin', 'authority_service']
  loop
    if not exists (select 1 from pg_roles where rolname = power) then
      execute format('create role %I nologin noinherit', power);
    end if;
  end loop;
exception when duplicate_object or unique_violation then
  null; -- another migration of this cluster made it a moment ago
end $$;

grant authority_commit, authority_propose, authority_issue, authority_read, authority_relay
  to authority_service with inherit false, set true;

grant usage on schema authority to
  authority_committer, authority_commit, authority_propose, authority_issue, authority_read, authority_relay,
  authority_admin;

-- Reading: everything that a decision may rest on. The commit role itself reads nothing.
grant select on all tables in schema authority to authority_committer, authority_admin;
grant select on
  authority.issuer_key, authority.policy_version, authority.memory_namespace, authority.principal,
  authority.principal_key, authority.request, authority.proposal_head, authority.proposal,
  authority.validation_receipt, authority.approval_decision, authority.decision_receipt, authority.capability,
  authority.commit_receipt, authority.memory_record, authority.tombstone
  to authority_read, authority_propose, authority_issue;

grant insert on
  authority.request, authority.proposal_head, authority.proposal, authority.validation_receipt,
  authority.approval_decision, authority.audit_event
  to authority_propose;
grant update (current_revision, state) on authority.proposal_head to authority_propose;
grant usage on sequence authority.decision_sequence to authority_propose, authority_issue, authority_admin;

grant insert on authority.request, authority.decision_receipt, authority.capability, authority.audit_event
  to authority_issue;
grant update (state) on authority.capability to authority_issue;

-- The owner of the commit function: it can consume, record and tell, and change nothing else (ADR-328 section 6).
grant insert on authority.commit_receipt, authority.memory_record, authority.outbox, authority.audit_event
  to authority_committer;
grant update (state, receipt_id) on authority.capability to authority_committer;
grant update (state, receipt_id) on authority.proposal_head to authority_committer;

grant select on authority.outbox to authority_relay;

grant insert, update on authority.issuer_key, authority.memory_namespace, authority.principal, authority.principal_key
  to authority_admin;
grant insert on authority.policy_version, authority.tombstone, authority.audit_event to authority_admin;
