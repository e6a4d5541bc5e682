"""Commits over the wire that a signed envelope of upstream proves."""

import time
from itertools import count
from typing import Any

from capability_authority.client import Credentials
from capability_authority.offline.upstream import ActionRef, commit_action_envelope, sign_action_envelope
from capability_authority.v1.capability_service_pb2 import CommitValidatedRequest
from tests.installation.requests import commit_of
from tests.installation.team import Ready

_EVENTS = count(1)
SUBJECT = ActionRef("ruflo-agent", "agent-7")


def now_ms() -> int:
    """The time of this machine."""
    return time.time_ns() // 1_000_000


def envelope_of(ready: Ready, by: Credentials, **changed: Any) -> bytes:
    """An envelope for exactly this commit, but for what is changed, made now and signed by a member."""
    event_id = f"event-{next(_EVENTS)}"
    made = commit_action_envelope(ready.capability.terms, event_id=event_id, subject=SUBJECT, occurred_ms=now_ms())
    return sign_action_envelope(made | changed, by.signing_key)


def commit_by(ready: Ready, envelope: bytes | str) -> CommitValidatedRequest:
    """The request that holds the envelope."""
    request = commit_of(ready)
    request.upstream_envelope_json = envelope if isinstance(envelope, str) else envelope.decode()
    return request
