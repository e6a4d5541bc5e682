"""Domain and contract say the same words."""

import pytest
from google.protobuf.descriptor import EnumDescriptor

from authority.rpc.convert import enums
from authority.rpc.convert.enums import Vocabulary
from authority.rpc.refused import Refused
from capability_authority.v1 import (
    errors_pb2,
    evidence_service_pb2,
    interop_service_pb2,
    proposal_service_pb2,
    types_pb2,
)

PAIRS: dict[str, tuple[Vocabulary, EnumDescriptor]] = {  # type: ignore[type-arg] # of any enum
    "approval verdicts": (enums.APPROVAL_VERDICTS, proposal_service_pb2.DecideProposalRequest.Verdict.DESCRIPTOR),
    "decider kinds": (enums.DECIDER_KINDS, proposal_service_pb2.DeciderKind.DESCRIPTOR),
    "decision outcomes": (enums.DECISION_OUTCOMES, types_pb2.DecisionOutcome.DESCRIPTOR),
    "error reasons": (enums.ERROR_REASONS, errors_pb2.ErrorReason.DESCRIPTOR),
    "evidence states": (enums.EVIDENCE_STATES, evidence_service_pb2.EvidenceState.DESCRIPTOR),
    "key purposes": (enums.KEY_PURPOSES, types_pb2.KeyPurpose.DESCRIPTOR),
    "key states": (enums.KEY_STATES, types_pb2.KeyState.DESCRIPTOR),
    "memory types": (enums.MEMORY_TYPES, types_pb2.MemoryType.DESCRIPTOR),
    "principal kinds": (enums.PRINCIPAL_KINDS, types_pb2.PrincipalKind.DESCRIPTOR),
    "proposal states": (enums.PROPOSAL_STATES, proposal_service_pb2.ProposalState.DESCRIPTOR),
    "provenances": (enums.PROVENANCES, types_pb2.Provenance.DESCRIPTOR),
    "replay outcomes": (enums.REPLAY_OUTCOMES, interop_service_pb2.ReserveReplayResponse.Outcome.DESCRIPTOR),
    "validation outcomes": (enums.VALIDATION_OUTCOMES, types_pb2.ValidationOutcome.DESCRIPTOR),
    "visibilities": (enums.VISIBILITIES, types_pb2.Visibility.DESCRIPTOR),
}
HOLDER_KEYS_SIGN_FOR_HOLDERS = {"KEY_PURPOSE_HOLDER"}
"""No key of the authority has this purpose."""


@pytest.mark.parametrize("name", PAIRS)
def test_every_number_of_the_contract_is_a_member_and_back(name: str) -> None:
    vocabulary, contract = PAIRS[name]
    numbers = {
        value.number for value in contract.values if value.number and value.name not in HOLDER_KEYS_SIGN_FOR_HOLDERS
    }

    members = {number: vocabulary.member(number, "field") for number in numbers}

    assert len(set(members.values())) == len(numbers)
    assert {vocabulary.number(member) for member in members.values()} == numbers


@pytest.mark.parametrize("number", [0, -1, 9, 2**31 - 1])
def test_other_numbers_are_refused(number: int) -> None:
    with pytest.raises(Refused) as refused:
        enums.MEMORY_TYPES.member(number, "memory_type")

    assert refused.value.refusal.facts == {
        "field": "memory_type",
        "problem": "unknown value" if number else "required",
    }


def test_zero_is_nothing_where_nothing_may_be_said() -> None:
    assert enums.VISIBILITIES.optional_member(0, "visibility") is None
