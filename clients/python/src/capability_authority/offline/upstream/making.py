"""Makes and signs envelopes, for callers in Python."""

import datetime as dt
from collections.abc import Mapping
from typing import Final

from capability_authority.offline.canonical_json import canonicalize
from capability_authority.offline.digests import to_wire
from capability_authority.offline.errors import ActionEnvelopeInvalid
from capability_authority.offline.fingerprint import capability_fingerprint
from capability_authority.offline.keys import PrivateKey
from capability_authority.offline.upstream.signed import ALGORITHM, base64url
from capability_authority.offline.upstream.structure import read_action_envelope
from capability_authority.offline.upstream.values import ActionEnvelope, ActionRef
from capability_authority.offline.upstream.verification import MOST_AGE_MS
from capability_authority.offline.upstream.vocabulary import COMMIT_VALIDATED, SCHEMA_VERSION
from capability_authority.v1.statements_pb2 import CommitCapability

__all__ = ["ActionEnvelopeInvalid", "action_time", "commit_action_envelope", "sign_action_envelope"]


_SOURCE_TYPE: Final = "ruflo.memory/validated-memory"


def commit_action_envelope(
    capability: CommitCapability,
    *,
    event_id: str,
    subject: ActionRef,
    occurred_ms: int,
    actor: ActionRef | None = None,
    issuer: str = "ruflo.memory",
    privacy_class: str = "P1",
) -> dict[str, object]:
    """The envelope that asks for exactly the commit which a capability allows; sign it with a key of its holder.

    It is about the capability's proposal, and expires when it is too old to be taken. Only an authority whose audience
    is one of `AUTHORITIES` takes such envelopes, in tenants of one of `TENANT_NAMESPACES`; signing any other raises
    `ActionEnvelopeInvalid`. Raises `DigestError` for a capability with digests that are none.
    """
    tenant = {"namespace": capability.tenant.namespace, "id": capability.tenant.id}
    fingerprint = capability_fingerprint(
        capability,
        content_digest=to_wire(capability.content_digest),
        media_type=capability.media_type,
        evidence_digests=[to_wire(digest) for digest in capability.evidence_digests],
    )
    members: dict[str, object] = {
        "schemaVersion": SCHEMA_VERSION,
        "eventId": event_id,
        "issuer": issuer,
        "audience": capability.audience,
        "subject": _members(subject),
        "tenantRef": tenant,
        "action": COMMIT_VALIDATED,
        "resourceRefs": [capability.memory_namespace],
        "requestDigest": to_wire(fingerprint),
        "contentDigest": to_wire(capability.content_digest),
        "idempotencyKey": capability.commit_idempotency_key,
        "correlationId": capability.correlation_id or event_id,
        "authoritativeSource": {
            "authority": "ruflo.memory",
            "tenantRef": tenant,
            "sourceType": _SOURCE_TYPE,
            "sourceId": capability.proposal_id,
            "sourceVersion": str(capability.proposal_revision),
            "sourceDigest": to_wire(capability.proposal_digest),
        },
        "policyReceiptId": to_wire(capability.decision_receipt_digest),
        "capabilityId": capability.capability_id,
        "validationReceiptId": to_wire(capability.validation_receipt_digest),
        "occurredAt": action_time(occurred_ms),
        "expiresAt": action_time(occurred_ms + MOST_AGE_MS),
        "privacyClass": privacy_class,
    }
    return members if actor is None else members | {"actor": _members(actor)}


def sign_action_envelope(
    envelope: Mapping[str, object], private_key: PrivateKey, *, key_id: str | None = None
) -> bytes:
    """The signed envelope as JSON text, in its RFC 8785 form; equal arguments give equal bytes.

    `envelope` has the names of the wire (`schemaVersion`, `tenantRef`, …). `key_id` is an alias under which the key is
    registered; its thumbprint unless told otherwise. Raises `ActionEnvelopeInvalid`, and `JsonError` for half a
    surrogate pair.
    """
    members = dict(envelope)
    read = read_action_envelope(members)
    if not isinstance(read, ActionEnvelope):
        raise ActionEnvelopeInvalid(read)
    return canonicalize(
        {
            "envelope": members,
            "algorithm": ALGORITHM,
            "keyId": key_id or private_key.public_key.key_id,
            "signature": base64url(private_key.sign(canonicalize(members))),
        }
    )


def action_time(ms: int) -> str:
    """An instant, in milliseconds since 1970, as envelopes write it.

    Raises `ValueError` outside the years 1 to 9999.
    """
    try:
        moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=ms)
    except OverflowError:
        raise ValueError("a time lies between the years 1 and 9999") from None
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1_000:03}Z".rjust(24, "0")


def _members(reference: ActionRef) -> dict[str, str]:
    return {"namespace": reference.namespace, "id": reference.id}
