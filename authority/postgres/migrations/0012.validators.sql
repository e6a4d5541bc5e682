-- By what validated content is compared: its MinHash signature, the bands that it is found by, and what it asserts. All
-- are digests of the content and say nothing without it.
-- depends: 0008.audit_and_revocations

create table authority.content_signature (
  tenant text not null,
  proposal_id uuid not null,
  revision integer not null,
  signature bytea not null,
  constraint content_signature_key primary key (tenant, proposal_id, revision),
  constraint content_signature_of_revision foreign key (tenant, proposal_id, revision)
    references authority.proposal (tenant, proposal_id, revision),
  constraint content_signature_is_one check (octet_length(signature) = 512)
);

create table authority.content_band (
  tenant text not null,
  memory_namespace text not null,
  band bytea not null,
  proposal_id uuid not null,
  revision integer not null,
  constraint content_band_key primary key (tenant, memory_namespace, band, proposal_id, revision),
  constraint content_band_of_signature foreign key (tenant, proposal_id, revision)
    references authority.content_signature (tenant, proposal_id, revision),
  constraint content_band_is_a_mark check (octet_length(band) = 16)
);

create table authority.content_assertion (
  tenant text not null,
  memory_namespace text not null,
  about bytea not null,                         -- digest of subject and predicate
  value bytea not null,                         -- digest of the value
  proposal_id uuid not null,
  revision integer not null,
  constraint content_assertion_key primary key (tenant, memory_namespace, about, value, proposal_id, revision),
  constraint content_assertion_of_revision foreign key (tenant, proposal_id, revision)
    references authority.proposal (tenant, proposal_id, revision),
  constraint content_assertion_is_of_marks check (octet_length(about) = 16 and octet_length(value) = 16)
);
