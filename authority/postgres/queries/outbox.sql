-- name: wake_relay
-- Tells whoever listens on the channel that there is something in the outbox. A transaction of nothing else waits for no
-- disk and no standby.
select pg_notify($1, '')
