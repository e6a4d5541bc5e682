"""Signed action envelopes of upstream that a case makes itself, sound or not (suite.proto: ActionEnvelope)."""

import os
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Final

from capability_authority.offline import canonicalize, read_payload
from capability_authority.offline.upstream import ActionRef, commit_action_envelope
from capability_authority.v1.statements_pb2 import CommitCapability
from capability_authority_conformance.running.statements import caller_named, statement_of
from capability_authority_conformance.set_up import Caller
from capability_authority_conformance.substitution import Names, looked_up, replaced
from capability_authority_conformance.v1.suite_pb2 import ActionEnvelope
from capability_authority_conformance.values import Json, members_of, of_value

__all__ = ["action_envelope"]

_NS_PER_MS: Final = 1_000_000
_SUBJECT: Final = ActionRef("ruflo-agent", "agent-7")


def action_envelope(made: ActionEnvelope, names: Names, callers: Mapping[str, Caller]) -> Json:
    """The envelope in its three forms. Its structure is not judged: cases sign what upstream would never take."""
    statement = statement_of(looked_up(made.capability, names))
    capability = read_payload(statement.payload_type, statement.payload, CommitCapability)
    members = commit_action_envelope(
        capability, event_id=f"event-{os.urandom(8).hex()}", subject=_SUBJECT, occurred_ms=time.time_ns() // _NS_PER_MS
    )
    given = members_of(replaced(of_value(made.members), names)) if made.HasField("members") else {}
    said = {name: value for name, value in {**members, **given}.items() if value is not None}
    unsigned = canonicalize(said)
    key = caller_named(replaced(made.signed_by, names), callers).private_key
    signed = {
        "envelope": said,
        "algorithm": "Ed25519",
        "keyId": str(replaced(made.key_id, names)) or key.public_key.key_id,
        "signature": urlsafe_b64encode(key.sign(unsigned)).decode().rstrip("="),
    }
    told: dict[str, Json] = {"unsigned": b64encode(unsigned).decode(), "signed": canonicalize(signed).decode()}
    return {**told, "envelope": {name: value for name, value in said.items() if _is_json(value)}}  # type: ignore[misc]


def _is_json(value: object) -> bool:
    return isinstance(value, (str, int, float, bool, list, dict))
