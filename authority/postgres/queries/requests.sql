-- name: claim_request
-- Takes a request id for this request; waits for a running one with the same id. No row: it was used before.
insert into authority.request (tenant, principal, request_id, digest, answer, create_time)
values ($1, $2, $3, $4, $5, $6)
on conflict on constraint request_used_once do nothing
returning answer

-- name: request_by_id
-- What a request id was used for, and what it made.
select digest, answer from authority.request where tenant = $1 and principal = $2 and request_id = $3
