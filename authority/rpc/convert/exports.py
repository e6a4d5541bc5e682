"""Messages of MemoryService that hand a record over with its proofs."""

from collections.abc import Callable

from authority.domain import limits
from authority.domain.action_envelope import KeptEnvelope
from authority.domain.decision import Approval
from authority.rpc.convert.citations import citation_message
from authority.rpc.convert.digests import digest_text
from authority.rpc.convert.enums import APPROVAL_VERDICTS, DECIDER_KINDS, EXPORT_FORMS, RECORD_STATES
from authority.rpc.convert.memory import record_message
from authority.rpc.convert.statements import optional_statement_message
from authority.rpc.convert.times import optional_timestamp, timestamp_message
from authority.rpc.convert.values import principal_message
from authority.usecases.export_record import ExportedTrail, ExportForm, RecordExport
from capability_authority.v1 import memory_service_pb2 as pb

form_of: Callable[[int, str], ExportForm] = EXPORT_FORMS.member


def export_response(export: RecordExport) -> pb.ExportRecordResponse:
    """The record with its proofs."""
    history = export.history
    return pb.ExportRecordResponse(
        export=pb.RecordExport(
            record=record_message(history.record),
            receipt=optional_statement_message(history.receipt.statement if history.receipt else None),
            attestation=optional_statement_message(export.attestation),
            state=RECORD_STATES.number(export.state),
            export_time=timestamp_message(export.export_time),
            trail=_trail(export, export.trail) if export.trail else None,
        )
    )


def _trail(export: RecordExport, exported: ExportedTrail) -> pb.AuditTrail:
    trail, history = exported.trail, export.history
    return pb.AuditTrail(
        capability=optional_statement_message(trail.capability),
        validation_receipt=optional_statement_message(trail.validation),
        decision_receipt=optional_statement_message(trail.decision),
        approvals=map(_approval, trail.approvals[-limits.EXPORT_ITEMS :]),
        revisions=[
            pb.AuditTrail.Revision(payload_type=it.payload_type, payload=it.payload) for it in exported.revisions
        ],
        revisions_left_out=exported.revisions_left_out,
        citations=map(citation_message, trail.citations[: limits.EXPORT_ITEMS]),
        has_more_citations=len(trail.citations) > limits.EXPORT_ITEMS,
        revoke_time=optional_timestamp(history.revoke_time),
        revoke_note=history.revoke_note,
        superseded_by_record_id=history.superseded_by,
        supersede_time=optional_timestamp(history.supersede_time),
        upstream_proof=_upstream_proof(trail.envelope) if trail.envelope else None,
    )


def _upstream_proof(kept: KeptEnvelope) -> pb.UpstreamProof:
    return pb.UpstreamProof(
        envelope_json=kept.presented.decode(), envelope_digest=digest_text(kept.digest), key_id=kept.key_id
    )


def _approval(approval: Approval) -> pb.AuditTrail.Approval:
    return pb.AuditTrail.Approval(
        approval_reference=approval.reference,
        verdict=APPROVAL_VERDICTS.number(approval.verdict),
        decided_by=principal_message(approval.decided_by) if approval.decided_by else None,
        note=approval.note,
        decide_time=timestamp_message(approval.decide_time),
        expire_time=timestamp_message(approval.expire_time),
        proposal_digest=digest_text(approval.proposal_digest),
        validation_receipt_digest=digest_text(approval.validation_receipt_digest),
        decided_by_kind=DECIDER_KINDS.number(approval.decided_by_kind),
        holder=principal_message(approval.holder) if approval.holder else None,
        max_uses=approval.max_uses or 0,
        policy_version=digest_text(approval.policy_version) if approval.policy_version else "",
        determining_policies=approval.determining_policies,
    )
