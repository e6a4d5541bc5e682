"""What a statement says, laid out for a person or a tool to look at. Nothing described here is believed.

Only `judge` verifies, and only against keys that its caller trusts.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import partial
from typing import Any, Final, TypeAlias

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from authority.domain.statement import Statement
from capability_authority.offline import (
    DIGEST_BYTES,
    PAYLOAD_CLASSES,
    SIGNED_PAYLOAD_TYPES,
    KeyRecord,
    KeyRevoked,
    KeySet,
    KeySetRefused,
    KeyUnknown,
    StatementError,
    digest_of,
    instant_ms,
    read_payload,
    to_dsse_json,
    to_wire,
    verify_statement,
)
from capability_authority.v1.statements_pb2 import (
    GrantedAmount,
    GrantedFlag,
    GrantedNames,
    Signature,
    SignedStatement,
)

Described: TypeAlias = "str | int | bool | list[Described] | dict[str, Described]"
"""A value of a payload: enums as their lowercase words, instants in ISO 8601, digests as `sha256:…`, bytes in hex."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_KIND: Final = re.compile(r"application/vnd\.capability-authority\.([a-z-]+\.v[0-9]+)\+protobuf")
_NO_DIGESTS: Final = frozenset({"nonce", "holder_public_key"})
"""Fields of bytes that may have the length of a digest and are none."""
_SAID_BY_ITSELF: Final = {
    GrantedNames.DESCRIPTOR.full_name: "names",
    GrantedAmount.DESCRIPTOR.full_name: "most",
    GrantedFlag.DESCRIPTOR.full_name: "allowed",
}
"""Messages that are there to be absent or not: what they hold is shown in their place, also when it is nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """Everything that a statement says of itself."""

    payload_type: str
    kind: str
    """Such as `commit-receipt.v1`; empty for a payload type that is none of this project."""
    digest: str
    """The statement digest, which names it (semantics §3)."""
    key_id: str
    signature: str
    """In hex."""
    says: Mapping[str, Described] = field(default_factory=dict)
    """The fields of the payload that are set, in the order of the contract."""
    problem: str = ""
    """Why the payload could not be read; `says` is empty then."""


class Verdict(Enum):
    """What is known of the signature."""

    VALID = "valid"
    """A key of the issuer, of the right purpose and scope, that still counts, signed exactly this."""
    INVALID = "invalid"
    UNKNOWN = "unknown"
    """No keys were given, or none of them is the one that the statement names."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and the sentence that explains it."""

    verdict: Verdict
    because: str


NOT_JUDGED: Final = Judgement(Verdict.UNKNOWN, "not verified: no key set was given")


class KeySetUnusable(ValueError):
    """A key set that is another issuer's, or contradicts itself; the message says which."""


def describe(statement: Statement) -> Description:
    """What the statement says, whoever signed it; a payload that breaks the reading rule is told as a problem."""
    signed = _signed(statement)
    says, problem = _read(statement)
    kind = _KIND.fullmatch(statement.payload_type)
    return Description(
        payload_type=statement.payload_type,
        kind=kind[1] if kind else "",
        digest=to_wire(digest_of(signed)),
        key_id=statement.key_id,
        signature=statement.signature.hex(),
        says=says,
        problem=problem,
    )


def says(payload_type: str, payload: bytes) -> Mapping[str, Described]:
    """What payload bytes of any type of ours say, signed or not; nothing when they have no single reading."""
    if payload_type not in PAYLOAD_CLASSES:
        return {}
    try:
        return _fields(read_payload(payload_type, payload, PAYLOAD_CLASSES[payload_type]))
    except StatementError:
        return {}


def dsse_json(statement: Statement) -> str:
    """The DSSE JSON envelope of the statement, for tools that know DSSE alone."""
    return to_dsse_json(_signed(statement))


def as_sent(statement: Statement) -> SignedStatement:
    """The statement as the message that requests carry."""
    return _signed(statement)


def serialized(statement: Statement) -> bytes:
    """The statement as bytes: what a file of one holds."""
    return _signed(statement).SerializeToString(deterministic=True)


def statement_json(statement: Statement) -> dict[str, str | dict[str, str]]:
    """The statement as protobuf's JSON writes it in an answer."""
    document: dict[str, str | dict[str, str]] = MessageToDict(_signed(statement))
    return document


def judge(statement: Statement, key_set: Message, issuer: str) -> Judgement:
    """Whether a key of this GetKeySet response signed the statement, and may.

    How far the response is trusted is the caller's: it came by a road that the caller chose. Times are not judged: a
    valid statement may have expired. Raises `KeySetUnusable`.
    """
    try:
        # Any message of that shape: the service messages themselves are no business of this room.
        keys = KeySet.from_response(key_set, pinned_issuer=issuer, pinned_key_ids=None)  # type: ignore[arg-type]
    except KeySetRefused as error:
        raise KeySetUnusable(str(error)) from None
    try:
        verify_statement(_signed(statement), keys)
    except KeyUnknown:
        return Judgement(Verdict.UNKNOWN, f"not verified: the key set of {issuer} has no key of this id")
    except KeyRevoked:
        return Judgement(Verdict.INVALID, _revoked(keys.record(statement.key_id)))
    except StatementError as error:
        return Judgement(Verdict.INVALID, str(error))
    return Judgement(Verdict.VALID, f"signed by a key of {issuer} that may sign such statements")


def _revoked(key: KeyRecord | None) -> str:
    since = key.compromised_since_ms if key else None
    return "the signing key was revoked" + ("" if since is None else f", compromised since {_iso(since)}")


def _signed(statement: Statement) -> SignedStatement:
    signature = Signature(key_id=statement.key_id, signature=statement.signature)
    return SignedStatement(payload_type=statement.payload_type, payload=statement.payload, signature=signature)


def _read(statement: Statement) -> tuple[Mapping[str, Described], str]:
    if statement.payload_type not in SIGNED_PAYLOAD_TYPES:
        return {}, "the payload type is of no statement that this version reads"
    try:
        message = read_payload(statement.payload_type, statement.payload, PAYLOAD_CLASSES[statement.payload_type])
    except StatementError as error:
        return {}, str(error)
    return _fields(message), ""


def _fields(message: Message) -> dict[str, Described]:
    return {descriptor.name: _value(descriptor, value) for descriptor, value in message.ListFields()}


def _value(descriptor: FieldDescriptor, value: Any) -> Described:  # noqa: ANN401 - whatever a field can hold
    show = _shower(descriptor)
    return [show(item) for item in value] if descriptor.is_repeated else show(value)


def _shower(descriptor: FieldDescriptor) -> Callable[[Any], Described]:
    if descriptor.message_type is not None:
        if within := _SAID_BY_ITSELF.get(descriptor.message_type.full_name):
            return partial(_within, within)
        return _instant if descriptor.message_type.full_name == Timestamp.DESCRIPTOR.full_name else _fields
    enum = descriptor.enum_type
    if enum is not None:
        return lambda number: _word(enum, number)
    if descriptor.type == FieldDescriptor.TYPE_BYTES:
        return bytes.hex if descriptor.name in _NO_DIGESTS else _digest
    return lambda value: value


def _within(name: str, value: Message) -> Described:
    said = getattr(value, name)
    return said if isinstance(said, bool | int) else list(said)


def _digest(value: bytes) -> str:
    return to_wire(value) if len(value) == DIGEST_BYTES else value.hex()


def _instant(value: Timestamp) -> str:
    """The reading rule has let only whole milliseconds between the years 1 and 9999 through."""
    return _iso(instant_ms(value))


def _iso(milliseconds: int) -> str:
    instant = _EPOCH + timedelta(milliseconds=milliseconds)
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _word(enum: EnumDescriptor, number: int) -> str:
    """`KEY_STATE_ACTIVE` is `active`: every value begins with the name of its enum."""
    prefix = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", enum.name).upper() + "_"
    name: str = enum.values_by_number[number].name
    return name.removeprefix(prefix).lower()
