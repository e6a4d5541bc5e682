-- Signed envelopes of upstream that proved commits, each kept with what was committed (semantics 5).
-- depends: 0018.spending

-- Never changed and never deleted: a receipt without such a row was proven by an Invocation or a certificate.
create table authority.upstream_proof (
  tenant text not null,
  receipt_id uuid not null,
  envelope bytea not null,                      -- the JSON text, byte for byte as it came
  digest bytea not null,                        -- of the envelope's RFC 8785 form, which is what is signed
  key_name text not null,                       -- what the envelope calls the key: a thumbprint, or an alias
  key_id bytea not null,                        -- the thumbprint of that key, by which the signature was verified
  -- whom it is about, and who acts, by upstream's rules for ids: known to nobody here
  subject_namespace text not null,
  subject_id text not null,
  actor_namespace text,
  actor_id text,
  create_time timestamptz not null,
  constraint upstream_proof_of_one_commit primary key (tenant, receipt_id),
  constraint upstream_proof_by_registered_key foreign key (tenant, key_id)
    references authority.principal_key (tenant, key_id),
  constraint upstream_proof_of_receipt foreign key (tenant, receipt_id)
    references authority.commit_receipt (tenant, receipt_id),
  constraint upstream_proof_digest_whole check (octet_length(digest) = 32),
  constraint upstream_proof_actor_whole check (num_nulls(actor_namespace, actor_id) in (0, 2))
);
