-- Schema of the authority. Every primary key, unique constraint and foreign key begins with `tenant`
-- ("namespace|id"); only issuer_key and policy_version are global. Constraint names are vocabulary: each has a meaning
-- and a test that trips it.

create schema authority;

-- The one sequence that orders decisions, approvals and revocations (semantics 8).
create sequence authority.decision_sequence;

create table authority.policy_version (
  version bytea not null,                       -- SHA-256 of the bundle
  bundle text not null,                         -- Cedar source
  load_time timestamptz not null,
  constraint policy_version_key primary key (version),
  constraint policy_version_is_a_digest check (octet_length(version) = 32)
);

create table authority.issuer_key (
  key_id bytea not null,                        -- SHA-256 of the raw public key
  public_key bytea not null,
  purpose text not null,
  state text not null,
  tenant text,                                  -- null: every tenant
  memory_namespace text,                        -- null: every memory namespace
  compromised_since_time timestamptz,
  create_time timestamptz not null,
  constraint issuer_key_key primary key (key_id),
  constraint issuer_key_is_ed25519 check (octet_length(key_id) = 32 and octet_length(public_key) = 32),
  constraint issuer_key_purpose_known
    check (purpose in ('capability', 'grant', 'receipt', 'validation', 'decision', 'revocation')),
  constraint issuer_key_state_known check (state in ('active', 'retiring', 'revoked')),
  constraint issuer_key_compromise_is_revoked check (compromised_since_time is null or state = 'revoked')
);

create table authority.memory_namespace (
  tenant text not null,
  name text not null,
  mode text not null,
  privileged boolean not null,
  least_profile text not null,
  default_visibility text not null,
  policy_version bytea not null,                -- the active one
  create_time timestamptz not null,
  constraint memory_namespace_key primary key (tenant, name),
  constraint memory_namespace_policy_loaded foreign key (policy_version) references authority.policy_version (version),
  constraint memory_namespace_mode_known check (mode in ('legacy', 'observe', 'enforce')),
  constraint memory_namespace_visibility_known
    check (default_visibility in ('private', 'channel', 'team', 'workspace')),
  constraint memory_namespace_name_short check (octet_length(name) between 1 and 256)
);

create table authority.principal (
  tenant text not null,
  principal text not null,                      -- "namespace|id"
  kind text not null,
  rights text[] not null,
  state text not null,
  create_time timestamptz not null,
  constraint principal_key_ primary key (tenant, principal),
  constraint principal_kind_known
    check (kind in ('user', 'service', 'agent', 'model', 'tool', 'observer', 'validator', 'admin')),
  constraint principal_state_known check (state in ('active', 'revoked')),
  constraint principal_rights_known check (rights <@ array['propose', 'read', 'decide', 'issue', 'commit']),
  constraint principal_agents_never_commit check (kind not in ('agent', 'model') or not rights && array['issue', 'commit'])
);

create table authority.principal_key (
  tenant text not null,
  key_id bytea not null,
  principal text not null,
  public_key bytea not null,
  state text not null,
  create_time timestamptz not null,
  constraint principal_key_one_owner primary key (tenant, key_id),
  constraint principal_key_of_principal foreign key (tenant, principal)
    references authority.principal (tenant, principal),
  constraint principal_key_is_ed25519 check (octet_length(key_id) = 32 and octet_length(public_key) = 32),
  constraint principal_key_state_known check (state in ('active', 'revoked'))
);
create index principal_key_by_principal on authority.principal_key (tenant, principal);

-- Answers of mutations by request id.
create table authority.request (
  tenant text not null,
  principal text not null,
  request_id text not null,
  digest bytea not null,                        -- of the request's meaning
  answer text not null,                         -- the key of what it made
  create_time timestamptz not null,
  constraint request_used_once primary key (tenant, principal, request_id),
  constraint request_id_short check (octet_length(request_id) between 1 and 128)
);

create table authority.proposal_head (
  tenant text not null,
  proposal_id uuid not null,
  current_revision integer not null,
  state text not null,                          -- of the current revision; older ones are superseded
  receipt_id uuid,                              -- set once, when it is committed
  constraint proposal_head_key primary key (tenant, proposal_id),
  constraint proposal_head_state_known check (state in
    ('proposed', 'validating', 'validated', 'rejected', 'changes_requested', 'approved', 'committed')),
  constraint proposal_head_committed_has_receipt check ((state = 'committed') = (receipt_id is not null))
);

-- Immutable: no role may update or delete.
create table authority.proposal (
  tenant text not null,
  proposal_id uuid not null,
  revision integer not null,
  digest bytea not null,
  memory_namespace text not null,
  memory_type text not null,
  content bytea not null,
  content_digest bytea not null,
  media_type text not null,
  proposer text not null,
  proposer_kind text not null,
  actor_chain text[] not null,
  provenance text not null,
  source_refs text[] not null,
  subject_refs text[] not null,
  evidence_digests bytea[] not null,
  validator_profile text not null,
  visibility text not null,
  valid_from_time timestamptz,
  valid_until_time timestamptz,
  record_expire_time timestamptz,
  correlation_id text not null,
  costs jsonb not null,
  supersedes_record_id text not null,
  create_time timestamptz not null,
  constraint proposal_revision_key primary key (tenant, proposal_id, revision),
  constraint proposal_of_head foreign key (tenant, proposal_id)
    references authority.proposal_head (tenant, proposal_id),
  constraint proposal_in_memory_namespace foreign key (tenant, memory_namespace)
    references authority.memory_namespace (tenant, name),
  constraint proposal_by_principal foreign key (tenant, proposer) references authority.principal (tenant, principal),
  constraint proposal_revision_positive check (revision >= 1),
  constraint proposal_content_bounded check (octet_length(content) between 1 and 1048576),
  constraint proposal_content_digest_fits check (content_digest = sha256(content)),
  constraint proposal_digest_is_a_digest check (octet_length(digest) = 32)
);

create table authority.validation_receipt (
  tenant text not null,
  digest bytea not null,                        -- statement digest
  validation_id uuid not null,
  proposal_id uuid not null,
  revision integer not null,
  memory_namespace text not null,
  validator_profile text not null,
  validator_profile_version text not null,
  outcome text not null,
  sequence bigint not null,
  payload_type text not null,
  payload bytea not null,
  key_id bytea not null,
  signature bytea not null,
  validate_time timestamptz not null,
  expire_time timestamptz not null,
  constraint validation_receipt_key primary key (tenant, digest),
  constraint validation_receipt_of_revision foreign key (tenant, proposal_id, revision)
    references authority.proposal (tenant, proposal_id, revision),
  constraint validation_receipt_outcome_known check (outcome in ('pass', 'review', 'fail'))
);
create index validation_receipt_by_revision
  on authority.validation_receipt (tenant, proposal_id, revision, sequence);

create table authority.approval_decision (
  tenant text not null,
  reference uuid not null,
  proposal_id uuid not null,
  revision integer not null,
  proposal_digest bytea not null,
  validation_receipt_digest bytea not null,
  verdict text not null,
  decided_by text not null,
  note text not null,
  sequence bigint not null,
  decide_time timestamptz not null,
  expire_time timestamptz not null,
  constraint approval_decision_key primary key (tenant, reference),
  constraint approval_decision_of_revision foreign key (tenant, proposal_id, revision)
    references authority.proposal (tenant, proposal_id, revision),
  constraint approval_decision_on_validation foreign key (tenant, validation_receipt_digest)
    references authority.validation_receipt (tenant, digest),
  constraint approval_decision_by_principal foreign key (tenant, decided_by)
    references authority.principal (tenant, principal),
  constraint approval_decision_verdict_known check (verdict in ('approve', 'reject', 'request_changes', 'revoke'))
);
create index approval_decision_by_revision on authority.approval_decision (tenant, proposal_id, revision, sequence);

create table authority.decision_receipt (
  tenant text not null,
  digest bytea not null,                        -- statement digest
  decision_id uuid not null,
  proposal_id uuid not null,
  revision integer not null,
  memory_namespace text not null,
  holder text not null,
  validation_receipt_digest bytea not null,
  policy_version bytea not null,
  outcome text not null,
  sequence bigint not null,
  payload_type text not null,
  payload bytea not null,
  key_id bytea not null,
  signature bytea not null,
  decide_time timestamptz not null,
  expire_time timestamptz not null,
  constraint decision_receipt_key primary key (tenant, digest),
  constraint decision_receipt_of_revision foreign key (tenant, proposal_id, revision)
    references authority.proposal (tenant, proposal_id, revision),
  constraint decision_receipt_on_validation foreign key (tenant, validation_receipt_digest)
    references authority.validation_receipt (tenant, digest),
  constraint decision_receipt_outcome_known check (outcome in ('allow', 'require_approval', 'deny'))
);

create table authority.capability (
  tenant text not null,
  capability_id uuid not null,
  digest bytea not null,                        -- statement digest
  holder text not null,
  idempotency_key text not null,
  fingerprint bytea not null,
  proposal_id uuid not null,
  revision integer not null,
  state text not null,
  receipt_id uuid,                              -- set once, when it is consumed
  payload_type text not null,
  payload bytea not null,
  key_id bytea not null,
  signature bytea not null,
  not_before_time timestamptz not null,
  expire_time timestamptz not null,
  issue_time timestamptz not null,
  constraint capability_key primary key (tenant, capability_id),
  constraint capability_of_revision foreign key (tenant, proposal_id, revision)
    references authority.proposal (tenant, proposal_id, revision),
  constraint capability_state_known check (state in ('issued', 'consumed', 'expired', 'revoked')),
  constraint capability_consumed_has_receipt check ((state = 'consumed') = (receipt_id is not null))
);
-- One live capability for each key of a holder.
create unique index capability_one_live
  on authority.capability (tenant, holder, idempotency_key) where state = 'issued';
create index capability_by_key on authority.capability (tenant, holder, idempotency_key);

-- The claim itself. Never updated, never deleted: replay never ends.
create table authority.commit_receipt (
  tenant text not null,
  receipt_id uuid not null,
  record_id uuid not null,
  capability_id uuid not null,
  holder text not null,
  idempotency_key text not null,
  fingerprint bytea not null,
  proposal_id uuid not null,
  revision integer not null,
  memory_namespace text not null,
  payload_type text not null,
  payload bytea not null,
  key_id bytea not null,
  signature bytea not null,
  commit_time timestamptz not null,
  constraint commit_receipt_key primary key (tenant, receipt_id),
  constraint commit_receipt_one_per_idempotency_key unique (tenant, holder, idempotency_key),
  constraint commit_receipt_one_per_capability unique (tenant, capability_id),
  constraint commit_receipt_one_per_proposal unique (tenant, proposal_id),
  constraint commit_receipt_one_per_record unique (tenant, record_id)
);

create table authority.memory_record (
  tenant text not null,
  record_id uuid not null,
  receipt_id uuid not null,
  memory_namespace text not null,
  memory_type text not null,
  provenance text not null,
  content bytea not null,                       -- the exact bytes
  content_digest bytea not null,
  media_type text not null,
  proposer text not null,
  proposal_id uuid not null,
  revision integer not null,
  source_refs text[] not null,
  subject_refs text[] not null,
  evidence_digests bytea[] not null,
  visibility text not null,
  valid_from_time timestamptz,
  valid_until_time timestamptz,
  expire_time timestamptz,
  correlation_id text not null,
  costs jsonb not null,
  decision_sequence bigint not null,
  create_time timestamptz not null,
  constraint memory_record_key primary key (tenant, record_id),
  constraint memory_record_one_per_receipt unique (tenant, receipt_id),
  constraint memory_record_has_receipt foreign key (tenant, receipt_id)
    references authority.commit_receipt (tenant, receipt_id)
);
create index memory_record_by_content on authority.memory_record (tenant, memory_namespace, content_digest);
create index memory_record_by_namespace on authority.memory_record (tenant, memory_namespace, record_id);

-- Withdrawn content: what was decided before the sequence stays invisible for ever.
create table authority.tombstone (
  tenant text not null,
  memory_namespace text not null,
  content_digest bytea not null,
  sequence bigint not null,
  create_time timestamptz not null,
  constraint tombstone_key primary key (tenant, memory_namespace, content_digest, sequence)
);

-- Debezium's names, and what the relay needs.
create table authority.outbox (
  tenant text not null,
  id uuid not null,
  aggregatetype text not null,
  aggregateid text not null,
  sequence bigint not null,                     -- of the aggregate
  type text not null,
  payload jsonb not null,
  traceparent text not null,
  create_time timestamptz not null,
  constraint outbox_key primary key (tenant, id),
  constraint outbox_aggregate_in_order unique (tenant, aggregateid, sequence)
);

-- Append-only.
create table authority.audit_event (
  tenant text not null,
  event_id bigint generated always as identity,
  kind text not null,
  actor text not null,
  subject text not null,
  previous_state text not null,
  next_state text not null,
  costs jsonb not null,
  correlation_id text not null,
  trace_id text not null,
  create_time timestamptz not null,
  constraint audit_event_key primary key (tenant, event_id)
);
