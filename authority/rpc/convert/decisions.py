"""Messages of DecideProposal: one decision of a person, or many."""

from collections.abc import Sequence
from typing import TypeAlias

from authority.domain import limits
from authority.domain.decision import Approval, ApprovalVerdict
from authority.domain.identity import Caller
from authority.domain.refusal import Refusal, malformed, over_limit
from authority.rpc.convert import values
from authority.rpc.convert.digests import digest, digest_text
from authority.rpc.convert.enums import APPROVAL_VERDICTS, DECIDER_KINDS, PROPOSAL_STATES
from authority.rpc.convert.marks import request_mark
from authority.rpc.convert.times import optional_instant, timestamp_message
from authority.rpc.errors import to_status
from authority.rpc.refused import Refused, value_or_refusal
from authority.usecases.decide_proposal import ApprovalRequest
from authority.usecases.ports import RecordedApproval, RequestMark
from capability_authority.v1 import proposal_service_pb2 as pb

Asked: TypeAlias = pb.DecideProposalRequest | pb.ProposalDecision
_OF_ONE = frozenset(
    ("proposal_id", "revision", "proposal_digest", "verdict", "note", "expire_time", "holder", "max_uses")
)


def approval_request(caller: Caller, request: pb.DecideProposalRequest, traceparent: str = "") -> ApprovalRequest:
    """What was looked at and what was decided."""
    return _request(request, request_mark(caller, request), traceparent)


def approval_requests(
    caller: Caller, request: pb.DecideProposalRequest, traceparent: str = ""
) -> tuple[RequestMark, list[ApprovalRequest | Refusal]]:
    """The mark of all, and each decision; one of a bad shape is the refusal that it alone is answered with."""
    values.bound(request.decisions, limits.BATCH_ITEMS, "decisions")
    if request.ByteSize() > limits.BATCH_BYTES:
        raise Refused(over_limit("decisions", f"{limits.BATCH_BYTES} bytes together"))
    if beside := sorted(field.name for field, _ in request.ListFields() if field.name in _OF_ONE):
        raise Refused(malformed(beside[0], "must be empty beside decisions"))
    mark = request_mark(caller, request)
    return mark, [value_or_refusal(_one_of_many, mark, decision, traceparent) for decision in request.decisions]


def approval_response(recorded: RecordedApproval) -> pb.DecideProposalResponse:
    """The decision's reference and what it left."""
    return pb.DecideProposalResponse(
        approval_reference=recorded.reference, state=PROPOSAL_STATES.number(recorded.state)
    )


def approval_responses(answers: Sequence[RecordedApproval | Refusal]) -> pb.DecideProposalResponse:
    """One outcome each, in their order."""
    return pb.DecideProposalResponse(
        outcomes=(
            pb.DecisionOfMany(status=to_status(answer))
            if isinstance(answer, Refusal)
            else pb.DecisionOfMany(result=approval_response(answer))
            for answer in answers
        )
    )


def decision_message(approval: Approval) -> pb.RevisionDecision:
    """What was decided on a revision, as its readers see it."""
    return pb.RevisionDecision(
        approval_reference=approval.reference,
        verdict=APPROVAL_VERDICTS.number(approval.verdict),
        decided_by_kind=DECIDER_KINDS.number(approval.decided_by_kind),
        decided_by=values.principal_message(approval.decided_by) if approval.decided_by else None,
        note=approval.note,
        decide_time=timestamp_message(approval.decide_time),
        expire_time=timestamp_message(approval.expire_time),
        holder=values.principal_message(approval.holder) if approval.holder else None,
        max_uses=approval.max_uses or 0,
        validation_receipt_digest=digest_text(approval.validation_receipt_digest),
        policy_version=digest_text(approval.policy_version) if approval.policy_version else "",
        determining_policies=approval.determining_policies,
    )


def _one_of_many(mark: RequestMark, sent: pb.ProposalDecision, traceparent: str) -> ApprovalRequest:
    return _request(sent, mark, traceparent)


def _request(sent: Asked, mark: RequestMark, traceparent: str) -> ApprovalRequest:
    verdict = APPROVAL_VERDICTS.member(sent.verdict, "verdict")
    return ApprovalRequest(
        mark=mark,
        proposal_id=values.uuid(sent.proposal_id, "proposal_id"),
        revision=values.revision(sent.revision, "revision"),
        proposal_digest=digest(sent.proposal_digest, "proposal_digest"),
        verdict=verdict,
        note=values.note(sent.note, "note"),
        expire_time=optional_instant(sent, "expire_time"),
        holder=values.principal(sent, "holder") if _is_given(sent, "holder", verdict) else None,
        max_uses=_uses(sent.max_uses) if _is_given(sent, "max_uses", verdict) else None,
        traceparent=traceparent,
    )


def _is_given(sent: Asked, field: str, verdict: ApprovalVerdict) -> bool:
    """Whether the field is there. Only an approval can be for somebody, or for so many uses."""
    given = bool(sent.max_uses) if field == "max_uses" else sent.HasField("holder")
    if given and verdict is not ApprovalVerdict.APPROVE:
        raise Refused(malformed(field, "only an approval has one"))
    return given


def _uses(number: int) -> int:
    if number < 1:
        raise Refused(malformed("max_uses", "at least 1, or 0 for no number"))
    if number > limits.APPROVAL_USES:
        raise Refused(over_limit("max_uses", str(limits.APPROVAL_USES)))
    return number
