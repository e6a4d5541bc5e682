-- name: require_clock
select authority.require_clock($1, $2)

-- name: reserve_replay
-- Takes a replay key; waits for a transaction that is just taking it, or this request id. No row: one of them was taken.
insert into authority.replay_reservation (
  tenant, replay_key, envelope_digest, reserved_by, request_id, request_digest, reserve_time, expire_time)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict do nothing
returning true as is_ours

-- name: reservations_in_the_way
-- Whoever has the replay key, and whatever the request id was used for: one row or two.
select replay_key, envelope_digest, reserved_by, request_id, request_digest, reserve_time, expire_time
from authority.replay_reservation
where tenant = $1 and (replay_key = $2 or (reserved_by = $3 and request_id = $4))

-- name: forget_replay_reservations
-- Deletes up to so many of the tenant's that nobody can accept any more; one transaction at a time, for two could wait
-- for each other. More go with each reservation than come with it.
delete from authority.replay_reservation
where (tenant, replay_key) in (
  select tenant, replay_key from authority.replay_reservation
  where tenant = $1 and expire_time < $2::timestamptz - $3::interval
    and (select pg_try_advisory_xact_lock(hashtextextended($1, 7166512843090231205)))
  order by expire_time
  limit $4)
