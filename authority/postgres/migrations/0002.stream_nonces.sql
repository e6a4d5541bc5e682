-- The proofs that opened streams: each opens one, whatever becomes of Redis (semantics 2).
-- depends: 0001.schema

create table authority.stream_nonce (
  tenant text not null,
  key_id bytea not null,                        -- of the principal's key that signed the proof
  nonce bytea not null,
  use_time timestamptz not null,
  constraint stream_nonce_opens_one_stream primary key (tenant, key_id, nonce),
  constraint stream_nonce_is_of_a_proof check (octet_length(key_id) = 32 and octet_length(nonce) between 16 and 32)
);
create index stream_nonce_by_age on authority.stream_nonce (tenant, use_time);
