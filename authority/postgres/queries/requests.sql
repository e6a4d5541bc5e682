-- name: claim_request
-- Takes a request id for this request; waits for a running one with the same id. No row: it was used before.
insert into authority.request (tenant, principal, request_id, digest, answer, create_time)
values ($1, $2, $3, $4, $5, $6)
on conflict on constraint request_used_once do nothing
returning answer

-- name: request_by_id
-- What a request id was used for, and what it made.
select digest, answer from authority.request where tenant = $1 and principal = $2 and request_id = $3

-- name: await_standby
-- What was found holds on a new primary only if the commit that it was found in is there. Under synchronous replication
-- this write waits for the standby, which then has every earlier one (case I18).
select pg_logical_emit_message(true, 'authority.found', '') where current_setting('synchronous_standby_names') <> ''
