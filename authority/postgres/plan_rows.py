"""Commit plans, and envelopes that prove them, as the commit functions take them: columns of their types, in order."""

from typing import Any

from authority.domain.action_envelope import ActionProof
from authority.domain.plan import CommitPlan
from authority.postgres.rows import key_id_bytes


def plan_row(plan: CommitPlan) -> tuple[Any, ...]:
    """One element of the function's array: the columns of the type commit_plan. A refused plan has nothing to write."""
    claim, terms, receipt = plan.claim, plan.capability.terms, plan.receipt
    return (
        str(claim.tenant),
        str(claim.holder),
        claim.idempotency_key,
        claim.fingerprint,
        terms.capability_id,
        plan.capability.digest,
        key_id_bytes(plan.capability.statement.key_id),
        terms.holder_key,
        terms.memory_namespace,
        terms.proposal_id,
        terms.proposal_revision,
        terms.proposal_digest,
        terms.content_digest,
        terms.validator_profile,
        terms.validator_profile_version,
        terms.validation_receipt_digest,
        terms.policy_version,
        terms.decision_receipt_digest,
        terms.approval_reference or None,
        terms.correlation_id,
        plan.refusal.reason.name if plan.refusal else None,
        plan.receipt_id,
        plan.record_id,
        plan.event_id,
        receipt.payload_type if receipt else None,
        receipt.payload if receipt else None,
        key_id_bytes(receipt.key_id) if receipt else None,
        receipt.signature if receipt else None,
        plan.planned_time,
        plan.traceparent,
    )


def proof_row(ordinal: int, proof: ActionProof) -> tuple[Any, ...]:
    """The envelope that proves the plan with this number, counted from one: the columns of the type commit_proof."""
    envelope, says = proof.envelope, proof.envelope.says
    return (
        ordinal,
        envelope.presented,
        envelope.digest,
        envelope.key_name,
        key_id_bytes(proof.key_id),
        says.subject.namespace,
        says.subject.id,
        says.actor.namespace if says.actor else None,
        says.actor.id if says.actor else None,
    )
