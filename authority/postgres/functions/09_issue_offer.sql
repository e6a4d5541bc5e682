-- What the service sends for one request for a capability. Never changed in place: as commit_plan.
do $$
begin
  create type authority.issue_offer as (
    tenant text,
    -- who asks, under which request id, and the digest of what is asked
    principal text,
    request_id text,
    request_digest bytea,
    -- the commit key that the capability is for, and what the key stands for
    holder text,
    idempotency_key text,
    fingerprint bytea,
    -- the service's own verdict: a refusal's reason, or null and the capability that a success keeps
    carried text,
    capability_id uuid,
    capability_digest bytea,
    proposal_id uuid,
    revision integer,
    payload_type text,
    payload bytea,
    capability_key bytea,                         -- id of the issuer key that signed it
    signature bytea,
    not_before_time timestamptz,
    expire_time timestamptz,
    correlation_id text
  );
exception when duplicate_object then
  null; -- It is there already.
end $$;

-- Under which grant an offer is made, and what it costs beside one use.
do $$
begin
  create type authority.grant_spend as (
    ordinal bigint,                               -- of the offer
    tenant text,
    grant_digest bytea,                           -- of the last block; the chain is read from what is kept of it
    tokens bigint,
    usd_micros bigint
  );
exception when duplicate_object then
  null; -- It is there already.
end $$;
