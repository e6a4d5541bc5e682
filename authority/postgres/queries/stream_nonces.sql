-- name: use_stream_nonce
-- Takes a nonce; waits for a transaction that is just taking it. No row: it was used before.
insert into authority.stream_nonce (tenant, key_id, nonce, use_time) values ($1, $2, $3, now())
on conflict on constraint stream_nonce_opens_one_stream do nothing
returning true as is_ours

-- name: forget_stream_nonces
-- Deletes up to so many of the tenant's that no clock can take for fresh; one transaction at a time, for two could
-- wait for each other. More go with each stream than come with it.
delete from authority.stream_nonce
where (tenant, key_id, nonce) in (
  select tenant, key_id, nonce from authority.stream_nonce
  where tenant = $1 and use_time < now() - $2::interval
    and (select pg_try_advisory_xact_lock(hashtextextended($1, 7166512843090231203)))
  order by use_time
  limit $3)
