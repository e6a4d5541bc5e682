"""The payload ValidationReceipt."""

from authority.domain.validation import CERTAIN, Finding, ValidationReceipt
from authority.signing.codec import fields
from authority.signing.codec.refs import tenant_message
from authority.signing.codec.words import VALIDATION_OUTCOMES
from capability_authority.offline import timestamp
from capability_authority.v1 import statements_pb2, types_pb2


def encode_validation(receipt: ValidationReceipt) -> statements_pb2.ValidationReceipt:
    """The message that says the receipt."""
    return statements_pb2.ValidationReceipt(
        validation_id=receipt.validation_id,
        issuer=receipt.issuer,
        tenant=tenant_message(receipt.tenant),
        memory_namespace=receipt.memory_namespace,
        proposal_id=receipt.proposal_id,
        proposal_revision=receipt.proposal_revision,
        proposal_digest=receipt.proposal_digest,
        validator_profile=receipt.validator_profile,
        validator_profile_version=receipt.validator_profile_version,
        findings=[_encode_finding(finding) for finding in receipt.findings],
        outcome=VALIDATION_OUTCOMES.encode(receipt.outcome),
        validate_time=timestamp(receipt.validate_time),
        expire_time=timestamp(receipt.expire_time),
    )


def decode_validation(message: statements_pb2.ValidationReceipt) -> ValidationReceipt:
    """The receipt. Raises `Misshapen` for what none can say."""
    return ValidationReceipt(
        validation_id=fields.uuid(message.validation_id, "validation_id"),
        issuer=fields.identifier(message.issuer, "issuer"),
        tenant=fields.tenant(message.tenant, "tenant"),
        memory_namespace=fields.identifier(message.memory_namespace, "memory_namespace"),
        proposal_id=fields.uuid(message.proposal_id, "proposal_id"),
        proposal_revision=fields.revision(message.proposal_revision, "proposal_revision"),
        proposal_digest=fields.digest(message.proposal_digest, "proposal_digest"),
        validator_profile=fields.identifier(message.validator_profile, "validator_profile"),
        validator_profile_version=fields.identifier(message.validator_profile_version, "validator_profile_version"),
        findings=tuple(fields.within("findings", _decode_finding, finding) for finding in message.findings),
        outcome=VALIDATION_OUTCOMES.decode(message.outcome, "outcome"),
        validate_time=fields.instant(message, "validate_time"),
        expire_time=fields.instant(message, "expire_time"),
    )


def _encode_finding(finding: Finding) -> types_pb2.ValidationFinding:
    return types_pb2.ValidationFinding(
        validator=finding.validator,
        validator_version=finding.validator_version,
        outcome=VALIDATION_OUTCOMES.encode(finding.outcome),
        reason=finding.reason,
        confidence_permille=finding.confidence_permille,
    )


def _decode_finding(message: types_pb2.ValidationFinding) -> Finding:
    return Finding(
        validator=fields.identifier(message.validator, "validator"),
        validator_version=fields.identifier(message.validator_version, "validator_version"),
        outcome=VALIDATION_OUTCOMES.decode(message.outcome, "outcome"),
        reason=fields.optional_identifier(message.reason, "reason"),
        confidence_permille=fields.between(message.confidence_permille, 0, CERTAIN, "confidence_permille"),
    )
