-- Names under which upstream's signed envelopes may call a registered key.
-- depends: 0009.identities 0018.spending

-- Kept for ever; a name that was revoked may be given anew, to any key, in a row of its own.
create table authority.key_alias (
  tenant text not null,
  alias_number bigint generated always as identity,
  alias text not null,
  key_id bytea not null,
  state text not null,
  create_time timestamptz not null,
  revoke_time timestamptz,
  constraint key_alias_key primary key (tenant, alias_number),
  constraint key_alias_of_key foreign key (tenant, key_id) references authority.principal_key (tenant, key_id),
  constraint key_alias_is_a_token
    check (alias collate "C" ~ '^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$' and octet_length(alias) <= 256),
  -- Thumbprints begin so, whoever's they are or will be.
  constraint key_alias_is_no_thumbprint check (lower(alias collate "C") not like 'sha256:%'),
  constraint key_alias_state_known check (state in ('active', 'revoked')),
  constraint key_alias_revoked_has_time check ((state = 'revoked') = (revoke_time is not null))
);
create unique index key_alias_one_key on authority.key_alias (tenant, alias) where state = 'active';
create index key_alias_by_key on authority.key_alias (tenant, key_id);
