-- Who belongs to which channel and team, and which of them a proposal and a record are for.
-- depends: 0008.audit_and_revocations

create table authority.membership (
  tenant text not null,
  principal text not null,
  scope_kind text not null,
  scope_id text not null,
  state text not null,                          -- what was removed may be added again: the audit log has the history
  add_time timestamptz not null,
  remove_time timestamptz,
  constraint membership_told_once primary key (tenant, principal, scope_kind, scope_id),
  constraint membership_of_principal foreign key (tenant, principal) references authority.principal (tenant, principal),
  constraint membership_scope_kind_known check (scope_kind in ('channel', 'team')),
  constraint membership_scope_named check (octet_length(scope_id) between 1 and 256),
  constraint membership_state_known check (state in ('active', 'removed')),
  constraint membership_removed_has_time check ((state = 'removed') = (remove_time is not null))
);
create index membership_by_scope on authority.membership (tenant, scope_kind, scope_id, principal);

-- What was made for a channel or a team before there was any is shown to nobody: unknown shows nothing. Its admins have
-- it by the audit export.
alter table authority.proposal
  add column visibility_scope text not null default '',
  add constraint proposal_scope_of_channel_or_team check (visibility_scope = '' or visibility in ('channel', 'team'));
alter table authority.memory_record
  add column visibility_scope text not null default '',
  add constraint memory_record_scope_of_channel_or_team
    check (visibility_scope = '' or visibility in ('channel', 'team'));
