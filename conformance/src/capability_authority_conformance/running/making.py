"""What a client makes without asking anybody (suite.proto: Make)."""

import datetime as dt
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from capability_authority.offline import canonical_content, digest_of, sha256, to_wire
from capability_authority_conformance.paths import as_json
from capability_authority_conformance.running.action_envelopes import action_envelope
from capability_authority_conformance.running.statements import changed_statement, child_grant, statement_of
from capability_authority_conformance.set_up import Caller
from capability_authority_conformance.substitution import Names, NothingThere, looked_up, replaced
from capability_authority_conformance.v1.suite_pb2 import Instant, Make
from capability_authority_conformance.values import Json, of_value

__all__ = ["bytes_of", "made"]

_NS_PER_MS: Final = 1_000_000


def made(make: Make, names: Names, callers: Mapping[str, Caller]) -> Json:
    """The value to be saved. Raises `NothingThere` for a name without a value."""
    match make.WhichOneof("made"):
        case "value":
            return replaced(of_value(make.value), names)
        case "instant":
            return _instant(make.instant, names)
        case "digest_of":
            return to_wire(sha256(bytes_of(make.digest_of, names)))
        case "statement_digest":
            return to_wire(digest_of(statement_of(looked_up(make.statement_digest, names))))
        case "action_envelope" | "child_grant" | "changed_statement":
            return _signed(make, names, callers)
        case _:
            return b64encode(_bytes(make, names)).decode()


def _signed(make: Make, names: Names, callers: Mapping[str, Caller]) -> Json:
    if make.HasField("action_envelope"):
        return action_envelope(make.action_envelope, names, callers)
    if make.HasField("child_grant"):
        return as_json(child_grant(make.child_grant, names, callers))
    return as_json(changed_statement(make.changed_statement, names, callers))


def _bytes(make: Make, names: Names) -> bytes:
    if make.HasField("canonical_json"):
        return canonical_content(replaced(of_value(make.canonical_json), names))
    if make.HasField("repeated"):
        return str(replaced(make.repeated.text, names)).encode() * make.repeated.times
    return str(replaced(make.text, names)).encode()


def bytes_of(name: str, names: Names) -> bytes:
    """The bytes that were saved under a name. Raises `NothingThere` when it holds none."""
    value = looked_up(name, names)
    if not isinstance(value, str):
        raise NothingThere(f"{name!r} holds no bytes")
    return b64decode(value, validate=True)


def _instant(instant: Instant, names: Names) -> str:
    when = Timestamp()
    if instant.of:
        when.FromJsonString(str(looked_up(instant.of, names)))
    else:
        when.FromNanoseconds(time.time_ns() // _NS_PER_MS * _NS_PER_MS)
    milliseconds = when.ToMilliseconds() + instant.plus_ms
    return f"{dt.datetime.fromtimestamp(milliseconds / 1_000, dt.UTC):%Y-%m-%dT%H:%M:%S}.{milliseconds % 1_000:03}Z"
