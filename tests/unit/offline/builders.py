"""Messages, keys and statements for the tests of `capability_authority.offline`."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import count
from typing import Any, TypeVar, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from capability_authority.offline import PAYLOAD_CLASSES, SIGNED_PAYLOAD_TYPES, PrivateKey, timestamp
from capability_authority.v1.statements_pb2 import CommitCapability, CommitReceipt
from capability_authority.v1.types_pb2 import PrincipalRef, TenantRef

M = TypeVar("M", bound=Message)

ISSUER = "authority.example"
NOW_MS = 1_790_000_000_000
CONTENT = b'{"fact":"The nightly build takes forty minutes."}'

SIGNED_CLASSES = [PAYLOAD_CLASSES[payload_type] for payload_type in sorted(SIGNED_PAYLOAD_TYPES)]
ALL_CLASSES = list(PAYLOAD_CLASSES.values())


def private_key(name: str) -> PrivateKey:
    """A key of its own for every name, the same in every run."""
    return PrivateKey.from_seed(sha256(name.encode()).digest())


def digest(name: str) -> bytes:
    """A digest of its own for every name."""
    return sha256(name.encode()).digest()


def capability() -> CommitCapability:
    """A capability of realistic size."""
    return CommitCapability(
        capability_id="cap_01JZ7Q3V8N5T2K4W6X9Y0A1B2C",
        issuer=ISSUER,
        audience="memory.example",
        tenant=TenantRef(namespace="cognitum-tenant", id="acme"),
        memory_namespace="team/build",
        subject=PrincipalRef(namespace="workload", id="build-agent"),
        holder=PrincipalRef(namespace="workload", id="committer"),
        holder_key=private_key("holder").public_key.thumbprint,
        action="memory.commit-validated",
        proposal_id="prop_01JZ7Q3V8N5T2K4W6X9Y0A1B2C",
        proposal_revision=2,
        proposal_digest=digest("proposal"),
        content_digest=sha256(CONTENT).digest(),
        media_type="application/json",
        evidence_digests=[digest("log"), digest("trace")],
        validator_profile="baseline",
        validator_profile_version="1",
        validation_receipt_digest=digest("validation"),
        policy_version=digest("policy"),
        decision_receipt_digest=digest("decision"),
        commit_idempotency_key="commit-2026-09-21-0001",
        not_before_time=timestamp(NOW_MS),
        expire_time=timestamp(NOW_MS + 900_000),
        max_uses=1,
        correlation_id="run-4711",
    )


def receipt() -> CommitReceipt:
    """A receipt for `capability`."""
    return CommitReceipt(
        receipt_id="rcpt_01JZ7Q3V8N5T2K4W6X9Y0A1B2C",
        issuer=ISSUER,
        record_id="rec_01JZ7Q3V8N5T2K4W6X9Y0A1B2C",
        capability=capability(),
        capability_digest=digest("capability"),
        request_fingerprint=digest("fingerprint"),
        commit_time=timestamp(NOW_MS + 1_000),
    )


def filled(message_class: type[M]) -> M:
    """A message with every field set, at every depth, each to a value of its own; lists have two items."""
    message = message_class()
    _fill(message, count(1))
    return message


def _fill(message: Message, numbers: Iterator[int]) -> None:
    if isinstance(message, Timestamp):
        message.CopyFrom(timestamp(NOW_MS + next(numbers)))
        return
    for field in descriptor_of(message).fields:
        if field.message_type is not None:
            target = getattr(message, field.name)
            for part in (target.add(), target.add()) if field.is_repeated else (target,):
                _fill(part, numbers)
                part.SetInParent()
        elif field.is_repeated:
            getattr(message, field.name).extend([scalar(field, next(numbers)), scalar(field, next(numbers))])
        else:
            setattr(message, field.name, scalar(field, next(numbers)))


def descriptor_of(message: Message | type[Message]) -> Descriptor:
    """The descriptor of a message, by the name under which the stubs of protobuf know its parts."""
    return cast("Descriptor", message.DESCRIPTOR)


def scalar(field: FieldDescriptor, number: int) -> Any:  # whatever the field holds
    """A value for one scalar field; other numbers give other values, but for enums, which alternate, and flags."""
    if field.type == field.TYPE_BOOL:
        return True
    if field.enum_type is not None:
        known = [value.number for value in field.enum_type.values if value.number]
        return known[number % len(known)]
    if field.type == field.TYPE_STRING:
        return f"{field.name}-{number}"
    if field.type == field.TYPE_BYTES:
        return sha256(f"{field.name}-{number}".encode()).digest()
    return number
