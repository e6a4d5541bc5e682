"""Messages of ProposalService."""

import math

from authority.domain.identity import Caller
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.refusal import malformed
from authority.domain.review import AwaitedReview
from authority.domain.validation import Finding
from authority.rpc.convert import values
from authority.rpc.convert.costs import cost_messages
from authority.rpc.convert.decisions import decision_message
from authority.rpc.convert.digests import digest_text, evidence_digests
from authority.rpc.convert.enums import (
    MEMORY_TYPES,
    PRINCIPAL_KINDS,
    PROPOSAL_STATES,
    PROVENANCES,
    VALIDATION_OUTCOMES,
    VISIBILITIES,
)
from authority.rpc.convert.grants import optional_grant
from authority.rpc.convert.marks import request_mark
from authority.rpc.convert.said_memory import said_memory
from authority.rpc.convert.statements import optional_statement_message, statement_message
from authority.rpc.convert.times import optional_instant, optional_timestamp, timestamp_message
from authority.rpc.refused import Refused
from authority.usecases.create_proposal import ProposalRequest
from authority.usecases.paging import Page
from authority.usecases.ports import RecordedValidation, WithdrawnProposal
from authority.usecases.read_proposals import FoundProposal
from authority.usecases.validate_proposal import ValidationRequest
from authority.usecases.withdraw_proposal import ProposalWithdrawal
from capability_authority.v1 import proposal_service_pb2 as pb
from capability_authority.v1 import types_pb2


def proposal_request(caller: Caller, request: pb.CreateProposalRequest) -> ProposalRequest:
    """What is proposed."""
    return ProposalRequest(
        proposal_id=values.uuid(request.proposal_id, "proposal_id") if request.proposal_id else "",
        memory_namespace=values.identifier(request.memory_namespace, "memory_namespace"),
        memory_type=MEMORY_TYPES.member(request.memory_type, "memory_type"),
        said=said_memory(request),
        evidence_digests=evidence_digests(request.evidence_digests, "evidence_digests"),
        validator_profile=values.optional_identifier(request.validator_profile, "validator_profile"),
        expire_time=optional_instant(request, "expire_time"),
        grant=optional_grant(request),
        mark=request_mark(caller, request),
    )


def proposal_message(stored: StoredProposal) -> pb.Proposal:
    """The revision as it is sent; its content is empty where the store left it out."""
    revision = stored.revision
    return pb.Proposal(
        proposal_id=revision.proposal_id,
        revision=revision.revision,
        state=PROPOSAL_STATES.number(stored.state),
        memory_namespace=revision.memory_namespace,
        proposer=values.principal_message(revision.proposer),
        proposer_kind=PRINCIPAL_KINDS.number(revision.proposer_kind),
        provenance=PROVENANCES.number(revision.provenance),
        memory_type=MEMORY_TYPES.number(revision.memory_type),
        content=stored.content,
        content_digest=digest_text(revision.content_digest),
        media_type=revision.media_type,
        source_refs=revision.source_refs,
        subject_refs=revision.subject_refs,
        evidence_digests=[digest_text(raw) for raw in revision.evidence_digests],
        validator_profile=revision.validator_profile,
        visibility=VISIBILITIES.number(revision.visibility),
        visibility_scope=revision.visibility_scope,
        valid_from_time=optional_timestamp(revision.valid_from_time),
        valid_until_time=optional_timestamp(revision.valid_until_time),
        record_expire_time=optional_timestamp(revision.record_expire_time),
        correlation_id=revision.correlation_id,
        costs=cost_messages(revision.costs),
        proposal_digest=digest_text(stored.digest),
        create_time=timestamp_message(revision.create_time),
        supersedes_record_id=revision.supersedes_record_id,
        expire_time=optional_timestamp(revision.expire_time),
        actor_chain=[values.principal_message(actor) for actor in revision.actor_chain],
        subject=values.principal_message(revision.subject) if revision.subject else None,
    )


def newest_or_revision(request: pb.GetProposalRequest) -> int:
    """The revision asked for, 0 for the newest."""
    if request.revision < 0:
        raise Refused(malformed("revision", "must not be negative"))
    return request.revision


def get_response(found: FoundProposal) -> pb.GetProposalResponse:
    """The revision and its newest validation receipt. It came with content, so that it was erased if it has none."""
    return pb.GetProposalResponse(
        proposal=proposal_message(found.proposal),
        content_erased=not found.proposal.content,
        validation_receipt=optional_statement_message(found.validation_receipt),
        decisions=map(decision_message, found.decisions),
    )


def listed_state(request: pb.ListProposalsRequest) -> ProposalState | None:
    """The state asked for, None for every one."""
    return PROPOSAL_STATES.optional_member(request.state, "state")


def list_response(page: Page[StoredProposal]) -> pb.ListProposalsResponse:
    """A page of proposals."""
    return pb.ListProposalsResponse(
        proposals=[proposal_message(proposal) for proposal in page.items], next_page_token=page.next_token
    )


def review_page(request: pb.ListProposalsRequest) -> str:
    """The memory namespace whose queue is asked for."""
    if request.state:
        raise Refused(malformed("state", "must be unspecified beside awaits_review"))
    return values.identifier(request.memory_namespace, "memory_namespace")


def review_response(page: Page[AwaitedReview]) -> pb.ListProposalsResponse:
    """A page of what waits for persons, and why each does."""
    return pb.ListProposalsResponse(
        proposals=[proposal_message(awaited.proposal) for awaited in page.items],
        next_page_token=page.next_token,
        reviews=[
            pb.AwaitedReview(
                findings=[_finding_message(finding) for finding in awaited.findings],
                asking_policies=awaited.asking_policies,
                persons_needed=awaited.persons_needed,
                persons_approving=awaited.persons_approving,
            )
            for awaited in page.items
        ],
    )


def validation_request(
    caller: Caller, request: pb.ValidateProposalRequest, deadline: float = math.inf
) -> ValidationRequest:
    """Which revision to judge."""
    return ValidationRequest(
        proposal_id=values.uuid(request.proposal_id, "proposal_id"),
        revision=values.revision(request.revision, "revision"),
        mark=request_mark(caller, request),
        deadline=deadline,
    )


def still_validating() -> pb.ValidateProposalResponse:
    """Only that validators are at it."""
    return pb.ValidateProposalResponse(state=PROPOSAL_STATES.number(ProposalState.VALIDATING))


def validation_response(recorded: RecordedValidation) -> pb.ValidateProposalResponse:
    """The signed receipt, and what it says, readable without opening it."""
    receipt = recorded.signed.receipt
    return pb.ValidateProposalResponse(
        validation_receipt=statement_message(recorded.signed.statement),
        outcome=VALIDATION_OUTCOMES.number(receipt.outcome),
        findings=[_finding_message(finding) for finding in receipt.findings],
        state=PROPOSAL_STATES.number(recorded.state),
    )


def withdrawal(caller: Caller, request: pb.WithdrawProposalRequest) -> ProposalWithdrawal:
    """Which proposal to withdraw."""
    return ProposalWithdrawal(
        proposal_id=values.uuid(request.proposal_id, "proposal_id"), mark=request_mark(caller, request)
    )


def withdrawal_response(withdrawn: WithdrawnProposal) -> pb.WithdrawProposalResponse:
    """When it was withdrawn first."""
    return pb.WithdrawProposalResponse(
        withdraw_time=timestamp_message(withdrawn.withdraw_time), replayed=withdrawn.replayed
    )


def _finding_message(finding: Finding) -> types_pb2.ValidationFinding:
    return types_pb2.ValidationFinding(
        validator=finding.validator,
        validator_version=finding.validator_version,
        outcome=VALIDATION_OUTCOMES.number(finding.outcome),
        reason=finding.reason,
        confidence_permille=finding.confidence_permille,
    )
