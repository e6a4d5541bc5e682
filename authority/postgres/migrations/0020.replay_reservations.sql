-- That a signed action envelope passes once, whichever of upstream's verifiers meets it.
-- depends: 0019.key_aliases

create table authority.replay_reservation (
  tenant text not null,
  replay_key bytea not null,                    -- SHA-256 of the text: that may be longer than an index can hold
  envelope_digest bytea not null,
  reserved_by text not null,                    -- the service that asked, and by which request
  request_id text not null,
  request_digest bytea not null,
  reserve_time timestamptz not null,
  expire_time timestamptz not null,             -- nobody accepts the envelope from then on
  constraint replay_reservation_once primary key (tenant, replay_key),
  constraint replay_reservation_of_one_request unique (tenant, reserved_by, request_id),
  constraint replay_reservation_of_principal foreign key (tenant, reserved_by)
    references authority.principal (tenant, principal),
  constraint replay_reservation_is_digests check (
    octet_length(replay_key) = 32 and octet_length(envelope_digest) = 32 and octet_length(request_digest) = 32),
  constraint replay_reservation_short check (octet_length(request_id) between 1 and 128)
);
create index replay_reservation_by_expiry on authority.replay_reservation (tenant, expire_time);
