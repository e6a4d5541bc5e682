"""The payload DecisionReceipt."""

from authority.domain import limits
from authority.domain.decision import DecisionReceipt
from authority.signing.codec import fields
from authority.signing.codec.refs import principal_message, tenant_message
from authority.signing.codec.words import DECISION_OUTCOMES
from capability_authority.offline import timestamp
from capability_authority.v1 import statements_pb2


def encode_decision(receipt: DecisionReceipt) -> statements_pb2.DecisionReceipt:
    """The message that says the receipt."""
    return statements_pb2.DecisionReceipt(
        decision_id=receipt.decision_id,
        issuer=receipt.issuer,
        tenant=tenant_message(receipt.tenant),
        memory_namespace=receipt.memory_namespace,
        holder=principal_message(receipt.holder),
        action=receipt.action,
        proposal_id=receipt.proposal_id,
        proposal_revision=receipt.proposal_revision,
        proposal_digest=receipt.proposal_digest,
        validation_receipt_digest=receipt.validation_receipt_digest,
        approval_references=receipt.approval_references,
        policy_version=receipt.policy_version,
        outcome=DECISION_OUTCOMES.encode(receipt.outcome),
        determining_policies=receipt.determining_policies,
        sequence=receipt.sequence,
        decide_time=timestamp(receipt.decide_time),
        expire_time=timestamp(receipt.expire_time),
        correlation_id=receipt.correlation_id,
        persons_needed=receipt.persons_needed,
    )


def decode_decision(message: statements_pb2.DecisionReceipt) -> DecisionReceipt:
    """The receipt. Raises `Misshapen` for what none can say."""
    return DecisionReceipt(
        decision_id=fields.uuid(message.decision_id, "decision_id"),
        issuer=fields.identifier(message.issuer, "issuer"),
        tenant=fields.tenant(message.tenant, "tenant"),
        memory_namespace=fields.identifier(message.memory_namespace, "memory_namespace"),
        holder=fields.principal(message.holder, "holder"),
        action=fields.identifier(message.action, "action"),
        proposal_id=fields.uuid(message.proposal_id, "proposal_id"),
        proposal_revision=fields.revision(message.proposal_revision, "proposal_revision"),
        proposal_digest=fields.digest(message.proposal_digest, "proposal_digest"),
        validation_receipt_digest=fields.digest(message.validation_receipt_digest, "validation_receipt_digest"),
        approval_references=fields.identifiers(message.approval_references, "approval_references"),
        policy_version=fields.digest(message.policy_version, "policy_version"),
        outcome=DECISION_OUTCOMES.decode(message.outcome, "outcome"),
        determining_policies=fields.identifiers(message.determining_policies, "determining_policies"),
        sequence=fields.between(message.sequence, 0, limits.INT64_MAX, "sequence"),
        decide_time=fields.instant(message, "decide_time"),
        expire_time=fields.instant(message, "expire_time"),
        correlation_id=fields.optional_identifier(message.correlation_id, "correlation_id"),
        persons_needed=fields.between(message.persons_needed, 0, limits.QUORUM_PERSONS, "persons_needed"),
    )
