-- Who a caller is, beside the key that it signs with: certificates, bearer tokens, and which principals are one person.
-- depends: 0008.audit_and_revocations

-- What a holder is bound by: a key that signs, or what a certificate shows. Either is named by 32 bytes, so that all that
-- binds a holder's key binds a certificate as well. For one that signs they are its thumbprint; else a digest over form
-- and `shown` (authority/domain/credential.py), for which nobody has a key.
alter table authority.principal_key
  add column form text not null default 'ed25519',
  add column shown text not null default '',    -- SPIFFE id, SPKI digest or subject; empty for a key that signs
  add constraint principal_key_form_known check (form in ('ed25519', 'spiffe', 'spki', 'subject')),
  add constraint principal_key_says_what_is_shown
    check ((form = 'ed25519') = (shown = '') and octet_length(shown) <= 2048);
alter table authority.principal_key drop constraint principal_key_is_ed25519, add constraint principal_key_is_ed25519
  check (octet_length(key_id) = 32 and octet_length(public_key) = case form when 'ed25519' then 32 else 0 end);

-- Whose token an issuer signs. Apart from the keys, so that no capability can ever be bound to a token.
create table authority.token_identity (
  tenant text not null,
  identity_id bytea not null,                   -- a digest over issuer and subject
  principal text not null,
  issuer text not null,
  subject text not null,
  state text not null,
  create_time timestamptz not null,
  constraint token_identity_one_owner primary key (tenant, identity_id),
  constraint token_identity_of_principal foreign key (tenant, principal)
    references authority.principal (tenant, principal),
  constraint token_identity_is_a_digest check (octet_length(identity_id) = 32),
  constraint token_identity_state_known check (state in ('active', 'revoked')),
  constraint token_identity_short
    check (octet_length(issuer) between 1 and 1024 and octet_length(subject) between 1 and 256)
);
create index token_identity_by_principal on authority.token_identity (tenant, principal);

-- Which principals are one person, who decides once (semantics 7). Kept for ever; a link that was revoked may be
-- verified anew, in a row of its own.
create table authority.principal_link (
  tenant text not null,
  link_number bigint generated always as identity,
  principal text not null,                      -- the two in one order, so that a pair is linked once
  other text not null,
  method text not null,                         -- how it was verified
  evidence text not null,                       -- where that can be looked up
  verified_by text not null,
  state text not null,
  verify_time timestamptz not null,
  revoke_time timestamptz,
  constraint principal_link_key primary key (tenant, link_number),
  constraint principal_link_of_principal foreign key (tenant, principal)
    references authority.principal (tenant, principal),
  constraint principal_link_to_principal foreign key (tenant, other)
    references authority.principal (tenant, principal),
  constraint principal_link_in_order check (principal collate "C" < other collate "C"),
  constraint principal_link_method_known check (method in ('in_person', 'directory', 'document')),
  constraint principal_link_has_evidence check (octet_length(evidence) between 1 and 512),
  constraint principal_link_state_known check (state in ('verified', 'revoked')),
  constraint principal_link_revoked_has_time check ((state = 'revoked') = (revoke_time is not null))
);
create unique index principal_link_one_verified
  on authority.principal_link (tenant, principal, other) where state = 'verified';
create index principal_link_by_other on authority.principal_link (tenant, other) where state = 'verified';
