"""Signed action envelopes of the upstream project, `cognitum.action.v1`: read, verified and made without a server.

    found = verify_action_envelope(parse(text), audience="ruflo.memory", tenant=tenant, now_ms=now, hooks=hooks)

Codes, issue codes, their paths and the order of judgement are those of the published upstream verifier. Text is read
more strictly than by a lenient JSON parser: a key that stands twice in it has two readings, and is refused. The service
takes such an envelope as the proof of a commit (semantics §5).
"""

from capability_authority.offline.upstream.health import Availability, Check, Health, IdentityCheck, availability
from capability_authority.offline.upstream.making import (
    ActionEnvelopeInvalid,
    action_time,
    commit_action_envelope,
    sign_action_envelope,
)
from capability_authority.offline.upstream.signed import read_signed_envelope, read_signed_envelope_json
from capability_authority.offline.upstream.structure import read_action_envelope
from capability_authority.offline.upstream.values import (
    ActionEnvelope,
    ActionEnvelopeRefused,
    ActionRef,
    AuthoritativeSource,
    Denial,
    Issue,
    IssueCode,
    SignedActionEnvelope,
)
from capability_authority.offline.upstream.verification import (
    MOST_AGE_MS,
    MOST_SKEW_MS,
    EnvelopeHooks,
    Reservation,
    VerifiedActionEnvelope,
    envelope_digest,
    judge_destination,
    judge_encoding,
    judge_signature,
    judge_times,
    replay_key,
    verify_action_envelope,
)
from capability_authority.offline.upstream.vocabulary import (
    ACTIONS,
    AUTHORITIES,
    COMMIT_VALIDATED,
    IDENTITY_NAMESPACES,
    SCHEMA_VERSION,
    TENANT_NAMESPACES,
    ActionRule,
)

__all__ = [
    "ACTIONS",
    "AUTHORITIES",
    "COMMIT_VALIDATED",
    "IDENTITY_NAMESPACES",
    "MOST_AGE_MS",
    "MOST_SKEW_MS",
    "SCHEMA_VERSION",
    "TENANT_NAMESPACES",
    "ActionEnvelope",
    "ActionEnvelopeInvalid",
    "ActionEnvelopeRefused",
    "ActionRef",
    "ActionRule",
    "AuthoritativeSource",
    "Availability",
    "Check",
    "Denial",
    "EnvelopeHooks",
    "Health",
    "IdentityCheck",
    "Issue",
    "IssueCode",
    "Reservation",
    "SignedActionEnvelope",
    "VerifiedActionEnvelope",
    "action_time",
    "availability",
    "commit_action_envelope",
    "envelope_digest",
    "judge_destination",
    "judge_encoding",
    "judge_signature",
    "judge_times",
    "read_action_envelope",
    "read_signed_envelope",
    "read_signed_envelope_json",
    "replay_key",
    "sign_action_envelope",
    "verify_action_envelope",
]
