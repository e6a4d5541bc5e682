"""The payload CommitCapability."""

from authority.domain.capability import CommitCapability
from authority.signing.codec import fields
from authority.signing.codec.refs import principal_message, tenant_message
from capability_authority.offline import timestamp
from capability_authority.v1 import statements_pb2

ONE_USE = 1
"""A commit capability is used once; any other number is MALFORMED (semantics §4)."""


def encode_capability(terms: CommitCapability) -> statements_pb2.CommitCapability:
    """The message that says the terms."""
    return statements_pb2.CommitCapability(
        capability_id=terms.capability_id,
        issuer=terms.issuer,
        audience=terms.audience,
        tenant=tenant_message(terms.tenant),
        memory_namespace=terms.memory_namespace,
        subject=principal_message(terms.subject),
        holder=principal_message(terms.holder),
        holder_key=terms.holder_key,
        action=terms.action,
        proposal_id=terms.proposal_id,
        proposal_revision=terms.proposal_revision,
        proposal_digest=terms.proposal_digest,
        content_digest=terms.content_digest,
        media_type=terms.media_type,
        evidence_digests=terms.evidence_digests,
        validator_profile=terms.validator_profile,
        validator_profile_version=terms.validator_profile_version,
        validation_receipt_digest=terms.validation_receipt_digest,
        policy_version=terms.policy_version,
        decision_receipt_digest=terms.decision_receipt_digest,
        approval_reference=terms.approval_reference,
        commit_idempotency_key=terms.commit_idempotency_key,
        not_before_time=timestamp(terms.not_before_time),
        expire_time=timestamp(terms.expire_time),
        max_uses=terms.max_uses,
        correlation_id=terms.correlation_id,
        grant_digest=terms.grant_digest,
    )


def decode_capability(message: statements_pb2.CommitCapability) -> CommitCapability:
    """The terms. Whether they hold is judged elsewhere; raises `Misshapen` for what no capability can say."""
    return CommitCapability(
        capability_id=fields.uuid(message.capability_id, "capability_id"),
        issuer=fields.identifier(message.issuer, "issuer"),
        audience=fields.identifier(message.audience, "audience"),
        tenant=fields.tenant(message.tenant, "tenant"),
        memory_namespace=fields.identifier(message.memory_namespace, "memory_namespace"),
        subject=fields.principal(message.subject, "subject"),
        holder=fields.principal(message.holder, "holder"),
        holder_key=fields.digest(message.holder_key, "holder_key"),
        action=fields.identifier(message.action, "action"),
        proposal_id=fields.uuid(message.proposal_id, "proposal_id"),
        proposal_revision=fields.revision(message.proposal_revision, "proposal_revision"),
        proposal_digest=fields.digest(message.proposal_digest, "proposal_digest"),
        content_digest=fields.digest(message.content_digest, "content_digest"),
        media_type=fields.media_type(message.media_type, "media_type"),
        evidence_digests=fields.digests(message.evidence_digests, "evidence_digests"),
        validator_profile=fields.identifier(message.validator_profile, "validator_profile"),
        validator_profile_version=fields.identifier(message.validator_profile_version, "validator_profile_version"),
        validation_receipt_digest=fields.digest(message.validation_receipt_digest, "validation_receipt_digest"),
        policy_version=fields.digest(message.policy_version, "policy_version"),
        decision_receipt_digest=fields.digest(message.decision_receipt_digest, "decision_receipt_digest"),
        approval_reference=fields.optional_uuid(message.approval_reference, "approval_reference"),
        commit_idempotency_key=fields.idempotency_key(message.commit_idempotency_key, "commit_idempotency_key"),
        not_before_time=fields.instant(message, "not_before_time"),
        expire_time=fields.instant(message, "expire_time"),
        max_uses=fields.between(message.max_uses, ONE_USE, ONE_USE, "max_uses"),
        correlation_id=fields.optional_identifier(message.correlation_id, "correlation_id"),
        grant_digest=fields.optional_digest(message.grant_digest, "grant_digest"),
    )
