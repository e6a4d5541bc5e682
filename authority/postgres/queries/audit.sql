-- name: append_audit_event
-- One state change; in the transaction that makes it, or not at all.
insert into authority.audit_event (
  tenant, kind, actor, subject, previous_state, next_state, costs, correlation_id, trace_id, create_time)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
