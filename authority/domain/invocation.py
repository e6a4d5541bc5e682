"""The Invocation: proof that the holder of a key makes exactly this call (semantics §2)."""

from dataclasses import dataclass

from authority.domain import limits
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """The payload that a holder key signs for each call."""

    tenant: TenantRef
    principal: PrincipalRef
    audience: str
    method: str
    request_digest: bytes
    nonce: bytes
    issue_time: Instant


@dataclass(frozen=True, slots=True)
class Call:
    """The call as it arrived: what a fitting Invocation must name."""

    audience: str
    method: str
    request_digest: bytes
    is_read: bool
    opens_stream: bool = False
    """Whether it opens a stream: its request is the empty message."""


def judge_fit(invocation: Invocation, call: Call, now: Instant) -> Refusal | None:
    """PROOF_INVALID with what does not fit: for another RPC, audience or request, stale, or from the future."""
    works_once = call.is_read or call.opens_stream
    fresh_ms = limits.READ_FRESH_MS if works_once else limits.MUTATION_FRESH_MS
    problems = {
        "audience": invocation.audience != call.audience,
        "method": invocation.method != call.method,
        "request_digest": invocation.request_digest != call.request_digest,
        "issue_time": not -limits.NOT_BEFORE_SKEW_MS <= now - invocation.issue_time < fresh_ms,
    }
    wrong = next((name for name, is_wrong in problems.items() if is_wrong), None)
    return Refusal(Reason.PROOF_INVALID, {"proof": wrong}) if wrong else None
