"""Why a call is refused, in order of precedence."""

from enum import Enum


class Reason(Enum):
    """The error table's reasons, highest first: where two apply, the upper one answers (architecture, Errors).

    The order is meaning, not taste: the database's `reason_rank` repeats it for the reasons it judges, and a house
    test holds the two together.
    """

    CALLER_UNAUTHENTICATED = "no valid identity or Invocation"
    MALFORMED = "the request is malformed"
    LIMIT_EXCEEDED = "the request is over a limit"
    PROOF_INVALID = "the proof is for another call, or stale"
    PROOF_REPLAYED = "the proof of this read was used before"
    HOLDER_MISMATCH = "the caller is not the holder"
    NOT_ALLOWED = "the caller's kind or rights do not allow this"
    IDEMPOTENCY_CONFLICT = "the key was used for another request"
    IN_PROGRESS = "the same key is still running"
    SIGNATURE_INVALID = "the signature is not valid"
    ISSUER_UNKNOWN = "the statement was not signed by a known issuer key for this purpose and scope"
    KEY_REVOKED = "a key that signed or is bound was revoked"
    BINDING_MISMATCH = "a bound term differs"
    GRANT_EXCEEDED = "the grant does not allow this"
    POLICY_DENIED = "policy does not allow this, or its version changed"
    NOT_YET_VALID = "not valid yet"
    EXPIRED = "expired"
    REVOKED = "revoked"
    NOT_VALIDATED = "the proposal revision is not validated"
    APPROVAL_REQUIRED = "an approval is missing"
    ALREADY_COMMITTED = "the proposal was committed already"
    BUDGET_EXHAUSTED = "a budget is exhausted"
    OVERLOADED = "too much work is waiting"
    NOT_FOUND = "absent, or not visible to this caller"
    CONTENTION = "concurrent changes kept colliding"
    DEPENDENCY_UNAVAILABLE = "a dependency is away, or the outcome is still unknown"
    NOT_IMPLEMENTED = "declared, not served yet"
    INTERNAL = "an internal fault"

    @property
    def rank(self) -> int:
        """0 for the reason that answers before every other."""
        return _RANKS[self]


_RANKS = {reason: rank for rank, reason in enumerate(Reason)}
