"""Closed vocabularies, matched by name: a domain member without its number fails when this module is imported."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Generic, TypeVar

from authority.domain import limits
from authority.domain.decision import ApprovalVerdict, DeciderKind, DecisionOutcome
from authority.domain.evidence import EvidenceState
from authority.domain.history import RecordState
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import MemoryType, ProposalState, Provenance, Visibility
from authority.domain.reasons import Reason
from authority.domain.refusal import malformed, over_limit
from authority.domain.replay import ReplayOutcome
from authority.domain.statement import KeyPurpose, KeyState
from authority.domain.validation import ValidationOutcome
from authority.rpc.refused import Refused
from authority.usecases.export_record import ExportForm
from capability_authority.v1 import (
    errors_pb2,
    evidence_service_pb2,
    interop_service_pb2,
    memory_service_pb2,
    proposal_service_pb2,
    types_pb2,
)

Member = TypeVar("Member", bound=Enum)
Number = TypeVar("Number", bound=int)


class Vocabulary(Generic[Member, Number]):
    """The members of a domain enum and the numbers by which the contract sends them."""

    def __init__(self, members: type[Member], number_of: Callable[[str], Number], prefix: str) -> None:
        self._numbers = {member: number_of(prefix + member.name) for member in members}
        self._members: dict[int, Member] = {number: member for member, number in self._numbers.items()}

    def member(self, number: int, path: str) -> Member:
        """The member with this number; MALFORMED for zero and for a number that the contract does not know."""
        if number not in self._members:
            raise Refused(malformed(path, "unknown value" if number else "required"))
        return self._members[number]

    def members(self, numbers: Sequence[int], path: str) -> tuple[Member, ...]:
        """The members with these numbers; LIMIT_EXCEEDED for more than a list of references may have."""
        if len(numbers) > limits.REFS:
            raise Refused(over_limit(path, f"{limits.REFS} items"))
        return tuple(self.member(number, f"{path}[{index}]") for index, number in enumerate(numbers))

    def optional_member(self, number: int, path: str) -> Member | None:
        """The member with this number, None for zero."""
        return self.member(number, path) if number else None

    def number(self, member: Member) -> Number:
        """The number by which the member is sent."""
        return self._numbers[member]


APPROVAL_VERDICTS = Vocabulary(ApprovalVerdict, proposal_service_pb2.DecideProposalRequest.Verdict.Value, "VERDICT_")
DECIDER_KINDS = Vocabulary(DeciderKind, proposal_service_pb2.DeciderKind.Value, "DECIDER_KIND_")
DECISION_OUTCOMES = Vocabulary(DecisionOutcome, types_pb2.DecisionOutcome.Value, "DECISION_OUTCOME_")
EVIDENCE_STATES = Vocabulary(EvidenceState, evidence_service_pb2.EvidenceState.Value, "EVIDENCE_STATE_")
ERROR_REASONS = Vocabulary(Reason, errors_pb2.ErrorReason.Value, "ERROR_REASON_")
EXPORT_FORMS = Vocabulary(ExportForm, memory_service_pb2.ExportRecordRequest.Form.Value, "FORM_")
KEY_PURPOSES = Vocabulary(KeyPurpose, types_pb2.KeyPurpose.Value, "KEY_PURPOSE_")
KEY_STATES = Vocabulary(KeyState, types_pb2.KeyState.Value, "KEY_STATE_")
MEMORY_TYPES = Vocabulary(MemoryType, types_pb2.MemoryType.Value, "MEMORY_TYPE_")
PRINCIPAL_KINDS = Vocabulary(PrincipalKind, types_pb2.PrincipalKind.Value, "PRINCIPAL_KIND_")
PROPOSAL_STATES = Vocabulary(ProposalState, proposal_service_pb2.ProposalState.Value, "PROPOSAL_STATE_")
PROVENANCES = Vocabulary(Provenance, types_pb2.Provenance.Value, "PROVENANCE_")
RECORD_STATES = Vocabulary(RecordState, memory_service_pb2.RecordState.Value, "RECORD_STATE_")
REPLAY_OUTCOMES = Vocabulary(ReplayOutcome, interop_service_pb2.ReserveReplayResponse.Outcome.Value, "OUTCOME_")
VALIDATION_OUTCOMES = Vocabulary(ValidationOutcome, types_pb2.ValidationOutcome.Value, "VALIDATION_OUTCOME_")
VISIBILITIES = Vocabulary(Visibility, types_pb2.Visibility.Value, "VISIBILITY_")
