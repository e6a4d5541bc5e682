"""A vector of `reading.json`."""

from typing import Any

from google.protobuf.json_format import MessageToDict

from capability_authority.offline import PAYLOAD_CLASSES, read_payload
from capability_authority_conformance.golden.form import Test

__all__ = ["either", "read", "refused"]


def either(name: str, comment: str, flag: str, payload_type: str, payload: bytes, reason: str | None) -> Test:
    """A payload that is read when there is no reason to refuse it."""
    if reason is None:
        return read(name, comment, flag, payload_type, payload)
    return refused(name, comment, flag, payload, reason)


def read(name: str, comment: str, flag: str, payload_type: str, payload: bytes) -> Test:
    """A payload with exactly one reading."""
    message = read_payload(payload_type, payload, PAYLOAD_CLASSES[payload_type])
    return Test(name, comment, (flag,), _inputs(payload, MessageToDict(message)))


def refused(name: str, comment: str, flag: str, payload: bytes, reason: str) -> Test:
    """A payload to be refused."""
    return Test(name, comment, (flag,), _inputs(payload, None), reason)


def _inputs(payload: bytes, message: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"payload": payload.hex(), "message": message}
