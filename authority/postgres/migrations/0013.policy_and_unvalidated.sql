-- Memory that was written without validation; external authorities on policy; and which decisions a bundle made.
-- depends: 0008.audit_and_revocations

-- A record that nobody validated has no receipt and no proposal.
alter table authority.memory_record
  alter column receipt_id drop not null,
  alter column proposal_id drop not null,
  alter column revision drop not null,
  add constraint memory_record_validated_in_whole
    check (num_nulls(receipt_id, proposal_id, revision) in (0, 3));
alter table authority.citation alter column receipt_digest drop not null;       -- null: of such a record

-- How each of them came to be: the mode that took it, and, where the memory namespace was observed, what would have
-- become of it under enforcement. Never changed.
create table authority.unvalidated_write (
  tenant text not null,
  record_id uuid not null,
  memory_namespace text not null,
  written_by text not null,
  mode text not null,
  would_refuse text,                            -- the reason; empty: it would have been allowed; null: nobody asked
  validators text[] not null,                   -- "name:reason" of those that did not pass it
  policies text[] not null,                     -- that determined the decision
  validator_profile text not null,
  validator_profile_version text not null,
  policy_version bytea,
  write_time timestamptz not null,
  constraint unvalidated_write_of_one_record primary key (tenant, record_id),
  constraint unvalidated_write_of_record foreign key (tenant, record_id)
    references authority.memory_record (tenant, record_id),
  constraint unvalidated_write_mode_known check (mode in ('legacy', 'observe')),
  constraint unvalidated_write_observed_is_judged
    check ((mode = 'observe') = (would_refuse is not null) and (would_refuse is null) = (policy_version is null)),
  constraint unvalidated_write_reason_known
    check (would_refuse in ('', 'POLICY_DENIED', 'NOT_VALIDATED', 'APPROVAL_REQUIRED'))
);
create index unvalidated_write_that_would_be_refused
  on authority.unvalidated_write (tenant, memory_namespace, record_id) where would_refuse <> '';

-- Who else than this authority has a say on policy in a tenant, and by which keys it signs. What is not named is not
-- meant: an authority has a say in the memory namespaces that are listed, and in no other.
create table authority.external_authority (
  tenant text not null,
  issuer text not null,
  memory_namespaces text[] not null,
  required boolean not null,                    -- nothing is decided there without it
  create_time timestamptz not null,
  constraint external_authority_named_once primary key (tenant, issuer),
  constraint external_authority_has_a_say_somewhere check (cardinality(memory_namespaces) > 0)
);

create table authority.external_key (
  tenant text not null,
  key_id bytea not null,
  issuer text not null,
  public_key bytea not null,
  state text not null,
  create_time timestamptz not null,
  revoke_time timestamptz,
  constraint external_key_one_owner primary key (tenant, key_id),
  constraint external_key_of_authority foreign key (tenant, issuer)
    references authority.external_authority (tenant, issuer),
  constraint external_key_is_ed25519 check (octet_length(key_id) = 32 and octet_length(public_key) = 32),
  constraint external_key_state_known check (state in ('active', 'revoked')),
  constraint external_key_revoked_has_time check ((state = 'revoked') = (revoke_time is not null))
);

-- By which external keys a decision was signed that ours rests on.
alter table authority.decision_receipt add column external_keys bytea[] not null default '{}';
-- The version first: what seeks a tenant's decision by its digest must not come by this way.
create index decision_receipt_by_policy on authority.decision_receipt (policy_version, tenant);
