-- What the service sends for one commit.
-- Never changed in place: running processes know the type by its number, so a plan with other columns is a type of
-- another name, taken by a function of its own (commit_plan_2), and old processes go on with the old one.
do $$
begin
  create type authority.commit_plan as (
    tenant text,
    holder text,
    idempotency_key text,
    fingerprint bytea,
    -- what the presented capability says
    capability_id uuid,
    capability_digest bytea,
    capability_key bytea,                         -- id of the issuer key that signed it
    holder_key bytea,
    memory_namespace text,
    proposal_id uuid,
    revision integer,
    proposal_digest bytea,
    content_digest bytea,
    validator_profile text,
    validator_profile_version text,
    validation_digest bytea,
    policy_version bytea,
    decision_digest bytea,
    approval_reference uuid,                      -- null: none was required
    correlation_id text,
    -- the service's own verdict: a refusal's reason, or null and what a success writes
    carried text,
    receipt_id uuid,
    record_id uuid,
    event_id uuid,
    receipt_payload_type text,
    receipt_payload bytea,
    receipt_key bytea,
    receipt_signature bytea,
    commit_time timestamptz,
    traceparent text
  );
exception when duplicate_object then
  null; -- It is there already.
end $$;
