-- name: make_standstill
-- Whoever writes an event waits for the lock. It waits as long as it takes: the commit function's own patience is short.
create or replace function public.stand_still() returns trigger language plpgsql set lock_timeout = 0 as $$
begin
  perform pg_advisory_xact_lock_shared(4711);
  return new;
end $$;
select pg_advisory_lock(4711);
create trigger stand_still before insert on authority.outbox
for each row execute function public.stand_still()

-- name: end_standstill
select pg_advisory_unlock_all();
drop trigger stand_still on authority.outbox;
drop function public.stand_still()

-- name: let_go_on
select pg_advisory_unlock_all()

-- name: standing_still
-- The backends that wait there.
select l.pid
from pg_locks l join pg_stat_activity a on a.pid = l.pid
where l.locktype = 'advisory' and l.objid = 4711 and not l.granted and a.datname = current_database()

-- name: break_off
-- Ends a backend as a crash of its connection would, and waits until it has gone.
select pg_terminate_backend($1, 10000)
