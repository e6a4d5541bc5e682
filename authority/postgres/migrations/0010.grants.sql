-- Grants that this authority made or has met, and what was spent of them (semantics 6).
-- depends: 0004.receipt_key_last

-- Immutable but for its state. A grant that a holder made offline is kept once it is used, or revoked.
create table authority.grant_record (
  tenant text not null,
  digest bytea not null,                        -- statement digest
  parent_digest bytea,                          -- null at a root
  chain bytea[] not null,                       -- digests of its ancestors, root first, and its own
  made_by text not null,                        -- 'authority', or 'holder': the parent's, offline
  subject text not null,
  principals text[] not null,                   -- whoever's withdrawal is the grant's: the subject, every holder of the chain
  holder text not null,
  holder_key bytea not null,
  uses bigint not null,                         -- budgets; 0 where the dimension is absent
  tokens bigint not null,
  usd_micros bigint not null,
  concurrency bigint not null,
  state text not null,
  payload_type text not null,
  payload bytea not null,
  key_id bytea not null,
  signature bytea not null,
  not_before_time timestamptz not null,
  expire_time timestamptz not null,             -- no later than its parent's
  correlation_id text not null,
  create_time timestamptz not null,             -- when it was made here, or met
  revoke_time timestamptz,                      -- set once, when it is revoked
  -- What a use names as allowed can be nothing else.
  constraint grant_record_budgets unique (tenant, digest, uses, tokens, usd_micros),
  constraint grant_record_digests_are_digests check (octet_length(digest) = 32 and octet_length(holder_key) = 32),
  constraint grant_record_chain_ends_in_it check (
    chain[cardinality(chain)] = digest and chain[cardinality(chain) - 1] is not distinct from parent_digest),
  constraint grant_record_chain_bounded check (cardinality(chain) between 1 and 9),
  constraint grant_record_maker_known check (made_by in ('authority', 'holder')),
  constraint grant_record_root_is_ours check (parent_digest is not null or made_by = 'authority'),
  constraint grant_record_names_its_principals check (principals @> array[subject, holder]),
  constraint grant_record_budgets_not_negative check (least(uses, tokens, usd_micros, concurrency) >= 0),
  constraint grant_record_ends_after_it_begins check (not_before_time < expire_time),
  constraint grant_record_state_known check (state in ('active', 'revoked')),
  constraint grant_record_revoked_has_time check ((state = 'revoked') = (revoke_time is not null))
);
-- Afterwards, so that it is looked at after the wider one and either can be told.
alter table authority.grant_record
  add constraint grant_record_key primary key (tenant, digest),
  add constraint grant_record_of_parent foreign key (tenant, parent_digest)
    references authority.grant_record (tenant, digest);

alter table authority.capability
  add column grant_digest bytea,                -- null: issued under no grant
  add constraint capability_under_grant foreign key (tenant, grant_digest)
    references authority.grant_record (tenant, digest);

-- The ledger: one row for each use of each grant, its own and its descendants'. Never updated, never deleted. The rows of
-- a grant are numbered by its uses, and each continues the sums of the one before: so whoever spends at the same time
-- meets the other at the same number, and no sum can leave a use out or pass what the grant allows.
create table authority.grant_use (
  tenant text not null,
  grant_digest bytea not null,
  uses bigint not null,                         -- with this one: its number
  tokens bigint not null,                       -- with this one
  usd_micros bigint not null,
  uses_before bigint,                           -- the sums that it continues; null in the first
  tokens_before bigint,
  usd_micros_before bigint,
  tokens_spent bigint not null,
  usd_micros_spent bigint not null,
  most_uses bigint not null,                    -- what the grant allows
  most_tokens bigint not null,
  most_usd_micros bigint not null,
  capability_id uuid not null,                  -- what it was spent on
  expire_time timestamptz not null,             -- of the capability
  use_time timestamptz not null,
  constraint grant_use_sums unique (tenant, grant_digest, uses, tokens, usd_micros),
  constraint grant_use_continues foreign key (tenant, grant_digest, uses_before, tokens_before, usd_micros_before)
    references authority.grant_use (tenant, grant_digest, uses, tokens, usd_micros),
  constraint grant_use_of_its_grant foreign key (tenant, grant_digest, most_uses, most_tokens, most_usd_micros)
    references authority.grant_record (tenant, digest, uses, tokens, usd_micros),
  constraint grant_use_of_capability foreign key (tenant, capability_id)
    references authority.capability (tenant, capability_id),
  constraint grant_use_spent_once unique (tenant, capability_id, grant_digest),
  constraint grant_use_begins_at_one check (
    num_nulls(uses_before, tokens_before, usd_micros_before) = case when uses = 1 then 3 else 0 end),
  constraint grant_use_adds_up check (
    uses = coalesce(uses_before, 0) + 1 and tokens = coalesce(tokens_before, 0) + tokens_spent
    and usd_micros = coalesce(usd_micros_before, 0) + usd_micros_spent),
  constraint grant_use_gives_nothing_back check (tokens_spent >= 0 and usd_micros_spent >= 0),
  constraint grant_use_within_its_grant check (
    uses <= most_uses and tokens <= most_tokens and usd_micros <= most_usd_micros)
);
alter table authority.grant_use
  add constraint grant_use_numbered primary key (tenant, grant_digest, uses);
-- Which of a grant's capabilities may be live.
create index grant_use_by_expiry on authority.grant_use (tenant, grant_digest, expire_time);
