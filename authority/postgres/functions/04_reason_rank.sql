-- The error table's order for the reasons below "settled": what the service carries in and what live state adds. One is
-- above: a bearer token may have a replay, and commits nothing new, so that this is carried, too.
-- A house test compares it with authority/domain/reasons.py.
create or replace function authority.reason_rank(reason text) returns integer
language sql immutable parallel safe as $$
  select array_position(array[
    'HOLDER_MISMATCH', 'SIGNATURE_INVALID', 'ISSUER_UNKNOWN', 'KEY_REVOKED', 'BINDING_MISMATCH', 'GRANT_EXCEEDED', 'POLICY_DENIED',
    'NOT_YET_VALID', 'EXPIRED', 'REVOKED', 'NOT_VALIDATED', 'APPROVAL_REQUIRED', 'ALREADY_COMMITTED', 'NOT_FOUND'
  ], reason)
$$;
