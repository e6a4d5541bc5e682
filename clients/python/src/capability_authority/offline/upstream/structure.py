"""The closed schema of an envelope, judged whole: every issue is found, in upstream's order."""

import re
from typing import Final

from capability_authority.offline.upstream.fields import TOKEN, Fields, Issues, as_object
from capability_authority.offline.upstream.values import (
    ActionEnvelope,
    ActionRef,
    AuthoritativeSource,
    Issue,
    IssueCode,
)
from capability_authority.offline.upstream.vocabulary import (
    ACTIONS,
    AUTHORITIES,
    IDENTITY_NAMESPACES,
    PRIVACY_CLASSES,
    SCHEMA_VERSION,
    TENANT_NAMESPACES,
)

__all__ = ["MOST_RESOURCES", "read_action_envelope"]

MOST_RESOURCES: Final = 32

_ENVELOPE_FIELDS: Final = frozenset(
    {
        "action",
        "actor",
        "audience",
        "authoritativeSource",
        "capabilityId",
        "causationId",
        "contentDigest",
        "correlationId",
        "eventId",
        "expiresAt",
        "idempotencyKey",
        "issuer",
        "occurredAt",
        "policyReceiptId",
        "privacyClass",
        "requestDigest",
        "resourceRefs",
        "schemaVersion",
        "sequence",
        "subject",
        "tenantRef",
        "validationReceiptId",
    }
)
_SOURCE_FIELDS: Final = frozenset({"authority", "sourceDigest", "sourceId", "sourceType", "sourceVersion", "tenantRef"})
_SOURCE_TYPE: Final = re.compile(r"[a-z][a-z0-9.-]{1,63}/[a-z][a-z0-9.-]{0,63}")
_SEQUENCE: Final = re.compile(r"0|[1-9][0-9]*")
_SEQUENCE_LENGTH: Final = 40
_REFERENCE_LENGTH: Final = 512
_TENANT_LENGTH: Final = 256
_ACTION_LENGTH: Final = 128
_CLASS_LENGTH: Final = 2
_SPACE_ACTION: Final = "ruview.semantic.publish"
"""What is seen in a room is told of at the higher privacy classes alone."""
_SPACE_CLASSES: Final = frozenset({"P2", "P3"})


def read_action_envelope(value: object) -> ActionEnvelope | tuple[Issue, ...]:
    """The envelope, or everything that is wrong with its structure."""
    issues = Issues()
    if not as_object(value):
        issues.note("$", IssueCode.INVALID_TYPE)
        return tuple(issues)
    fields = Fields(value, "$", issues)
    fields.refuse_unknown(_ENVELOPE_FIELDS)
    fields.word("schemaVersion", {SCHEMA_VERSION})
    event_id = fields.token("eventId")
    issuer, audience = _parties(fields)
    subject = fields.reference("subject", IDENTITY_NAMESPACES, longest=_REFERENCE_LENGTH)
    actor = None
    if "actor" in value:
        actor = fields.reference("actor", IDENTITY_NAMESPACES, longest=_REFERENCE_LENGTH)
    tenant = fields.reference("tenantRef", TENANT_NAMESPACES, longest=_TENANT_LENGTH)
    action = fields.word("action", ACTIONS, longest=_ACTION_LENGTH)
    resource_refs = _resource_refs(fields)
    request_digest, content_digest = (fields.digest(name, optional=True) for name in ("requestDigest", "contentDigest"))
    idempotency_key = fields.token("idempotencyKey", optional=True)
    correlation_id, causation_id = fields.token("correlationId"), fields.token("causationId", optional=True)
    sequence = fields.text("sequence", longest=_SEQUENCE_LENGTH, form=_SEQUENCE, optional=True)
    policy_receipt_id = fields.token("policyReceiptId")
    capability_id = fields.token("capabilityId", optional=True)
    validation_receipt_id = fields.token("validationReceiptId", optional=True)
    occurred_ms, expires_ms = _times(fields)
    privacy_class = _privacy_class(fields, action)
    _miss_what_the_action_needs(fields, action)
    source = _source(fields, action, tenant)
    if issues or not (event_id and issuer and audience and subject and tenant and action and correlation_id):
        return tuple(issues)
    if not (policy_receipt_id and privacy_class and source) or occurred_ms is None:
        return tuple(issues)
    return ActionEnvelope(
        event_id=event_id,
        issuer=issuer,
        audience=audience,
        subject=subject,
        actor=actor,
        tenant=tenant,
        action=action,
        resource_refs=resource_refs,
        request_digest=request_digest,
        content_digest=content_digest,
        idempotency_key=idempotency_key,
        correlation_id=correlation_id,
        causation_id=causation_id,
        source=source,
        sequence=sequence,
        policy_receipt_id=policy_receipt_id,
        capability_id=capability_id,
        validation_receipt_id=validation_receipt_id,
        occurred_ms=occurred_ms,
        expires_ms=expires_ms,
        privacy_class=privacy_class,
    )


def _parties(fields: Fields) -> tuple[str | None, str | None]:
    """Issuer and audience; upstream judges the words once it has both texts."""
    issuer, audience = fields.text("issuer", longest=64), fields.text("audience", longest=64)
    for name, party in (("issuer", issuer), ("audience", audience)):
        if party is not None and party not in AUTHORITIES:
            fields.note(name, IssueCode.INVALID_AUTHORITY)
    return issuer, audience


def _resource_refs(fields: Fields) -> tuple[str, ...]:
    value = fields.members.get("resourceRefs")
    if not isinstance(value, list) or not 0 < len(value) <= MOST_RESOURCES:
        fields.note("resourceRefs", IssueCode.INVALID_TYPE)
        return ()
    found: list[str] = []
    for index, resource in enumerate(value):
        is_token = isinstance(resource, str) and len(resource) <= _REFERENCE_LENGTH and TOKEN.fullmatch(resource)
        if not is_token:
            fields.note(f"resourceRefs[{index}]", IssueCode.INVALID_FORMAT)
        elif resource in found:
            fields.note(f"resourceRefs[{index}]", IssueCode.UNSUPPORTED_VALUE)
        else:
            found.append(resource)
    return tuple(found)


def _times(fields: Fields) -> tuple[int | None, int | None]:
    occurred, expires = fields.time("occurredAt"), fields.time("expiresAt", optional=True)
    if occurred is not None and expires is not None and expires <= occurred:
        fields.note("expiresAt", IssueCode.UNSUPPORTED_VALUE)
    return occurred, expires


def _privacy_class(fields: Fields, action: str | None) -> str | None:
    found = fields.text("privacyClass", longest=_CLASS_LENGTH)
    if found is not None and found not in PRIVACY_CLASSES:
        fields.note("privacyClass", IssueCode.UNSUPPORTED_VALUE)
    if action == _SPACE_ACTION and found is not None and found not in _SPACE_CLASSES:
        fields.note("privacyClass", IssueCode.PRIVACY_CEILING_EXCEEDED)
    return found


def _miss_what_the_action_needs(fields: Fields, action: str | None) -> None:
    for name in ACTIONS[action].required if action else ():
        if name not in fields.members:
            fields.note(name, IssueCode.MISSING)


def _source(envelope: Fields, action: str | None, tenant: ActionRef | None) -> AuthoritativeSource | None:
    value, path = envelope.members.get("authoritativeSource"), f"{envelope.path}.authoritativeSource"
    if not as_object(value):
        envelope.issues.note(path, IssueCode.INVALID_TYPE)
        return None
    fields = Fields(value, path, envelope.issues)
    fields.refuse_unknown(_SOURCE_FIELDS)
    authority = fields.text("authority", longest=64)
    source_tenant = fields.reference("tenantRef", TENANT_NAMESPACES, longest=_TENANT_LENGTH)
    source_type = fields.text("sourceType", longest=128, form=_SOURCE_TYPE)
    source_id = fields.text("sourceId", longest=_REFERENCE_LENGTH)
    source_version = fields.token("sourceVersion", longest=128)
    source_digest = fields.digest("sourceDigest")
    _judge_owner(fields, authority, source_type, action)
    if tenant and source_tenant and tenant != source_tenant:
        fields.note("tenantRef", IssueCode.TENANT_MISMATCH)
    if not (authority and source_tenant and source_type and source_id and source_version and source_digest):
        return None
    return AuthoritativeSource(
        authority=authority,
        tenant=source_tenant,
        source_type=source_type,
        source_id=source_id,
        source_version=source_version,
        source_digest=source_digest,
    )


def _judge_owner(fields: Fields, authority: str | None, source_type: str | None, action: str | None) -> None:
    if authority is None:
        return
    if authority not in AUTHORITIES:
        fields.note("authority", IssueCode.INVALID_AUTHORITY)
        return
    if source_type is not None and not source_type.startswith(f"{authority}/"):
        fields.note("sourceType", IssueCode.INVALID_AUTHORITY)
    if action and authority not in ACTIONS[action].owners:
        fields.note("authority", IssueCode.INVALID_AUTHORITY)
