"""Messages of PolicyService."""

from authority.domain import limits
from authority.domain.decision import SignedDecision
from authority.domain.identity import Caller
from authority.domain.policy_version import PolicyVersion
from authority.domain.statement import Statement
from authority.rpc.convert import values
from authority.rpc.convert.digests import digest_text
from authority.rpc.convert.enums import DECISION_OUTCOMES
from authority.rpc.convert.marks import request_mark
from authority.rpc.convert.statements import sent_statement, statement_message
from authority.rpc.convert.times import timestamp_message
from authority.usecases.evaluate_policy import PolicyRequest
from capability_authority.v1 import policy_service_pb2 as pb


def policy_request(caller: Caller, request: pb.EvaluatePolicyRequest) -> PolicyRequest:
    """What is asked of policy; the caller would commit when no holder is named."""
    return PolicyRequest(
        proposal_id=values.uuid(request.proposal_id, "proposal_id"),
        proposal_revision=values.revision(request.proposal_revision, "proposal_revision"),
        holder=values.principal(request, "holder") if request.HasField("holder") else caller.ref,
        external_decisions=_external_decisions(request),
        mark=request_mark(caller, request),
    )


def _external_decisions(request: pb.EvaluatePolicyRequest) -> tuple[Statement, ...]:
    sent = request.external_decisions
    values.bound(sent, limits.EXTERNAL_DECISIONS, "external_decisions")
    return tuple(sent_statement(one, f"external_decisions[{number}]") for number, one in enumerate(sent))


def policy_response(decision: SignedDecision) -> pb.EvaluatePolicyResponse:
    """The signed receipt, and what it says, readable without opening it."""
    receipt = decision.receipt
    return pb.EvaluatePolicyResponse(
        decision_receipt=statement_message(decision.statement),
        outcome=DECISION_OUTCOMES.number(receipt.outcome),
        determining_policies=receipt.determining_policies,
        policy_version=digest_text(receipt.policy_version),
    )


def version_response(found: PolicyVersion) -> pb.GetPolicyVersionResponse:
    """The bundle and where it decides."""
    return pb.GetPolicyVersionResponse(
        policy_version=digest_text(found.version),
        bundle=found.bundle,
        load_time=timestamp_message(found.load_time),
        active_memory_namespaces=found.active_in,
    )
