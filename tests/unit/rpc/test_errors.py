"""The error table, held against the architecture and the contract."""

import pytest
from google.rpc.code_pb2 import Code  # type: ignore[import-untyped]
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal, malformed, over_limit
from authority.rpc.errors import DOMAIN, TABLE, to_status
from authority.rpc.refused import Refused, value_or_refuse
from capability_authority.v1 import errors_pb2

# The table of the architecture: code, whether the same call may be made again, reasons.
ARCHITECTURE = """
UNAUTHENTICATED      no     CALLER_UNAUTHENTICATED
INVALID_ARGUMENT     no     MALFORMED LIMIT_EXCEEDED
PERMISSION_DENIED    no     PROOF_INVALID PROOF_REPLAYED HOLDER_MISMATCH NOT_ALLOWED
ALREADY_EXISTS       no     IDEMPOTENCY_CONFLICT
ABORTED              later  IN_PROGRESS
PERMISSION_DENIED    no     SIGNATURE_INVALID ISSUER_UNKNOWN KEY_REVOKED BINDING_MISMATCH GRANT_EXCEEDED POLICY_DENIED
FAILED_PRECONDITION  no     NOT_YET_VALID EXPIRED REVOKED NOT_VALIDATED APPROVAL_REQUIRED ALREADY_COMMITTED
RESOURCE_EXHAUSTED   later  BUDGET_EXHAUSTED OVERLOADED
NOT_FOUND            no     NOT_FOUND
ABORTED              later  CONTENTION
UNAVAILABLE          later  DEPENDENCY_UNAVAILABLE
UNIMPLEMENTED        no     NOT_IMPLEMENTED
INTERNAL             no     INTERNAL
"""
EXPECTED = {
    reason: (code, retry == "later")
    for code, retry, *reasons in (line.split() for line in ARCHITECTURE.strip().splitlines())
    for reason in reasons
}


def _details(status: Status) -> dict[str, object]:
    found: dict[str, object] = {}
    for packed in status.details:
        for kind in (ErrorInfo, BadRequest, RetryInfo):
            if packed.Is(kind.DESCRIPTOR):
                found[kind.__name__] = kind.FromString(packed.value)
    assert len(found) == len(status.details)
    return found


def test_every_reason_has_a_row_and_stands_in_the_architecture() -> None:
    names = [reason.name for reason in Reason]

    assert set(TABLE) == set(Reason)
    assert list(EXPECTED) == names, "the reasons stand in the order of the table"


def test_the_contract_names_exactly_the_reasons() -> None:
    named = {name.removeprefix("ERROR_REASON_") for name in errors_pb2.ErrorReason.keys()}  # noqa: SIM118 - no dict

    assert named - {"UNSPECIFIED"} == {reason.name for reason in Reason}


@pytest.mark.parametrize("reason", Reason, ids=lambda reason: reason.name)
def test_a_status_says_code_sentence_reason_facts_and_retry(reason: Reason) -> None:
    code, retried = EXPECTED[reason.name]

    status = to_status(Refusal(reason, {"term": "audience"}))

    details = _details(status)
    assert (Code.Name(status.code), status.message) == (code, reason.value)
    assert details["ErrorInfo"] == ErrorInfo(reason=reason.name, domain=DOMAIN, metadata={"term": "audience"})
    assert ("RetryInfo" in details) == retried
    assert "BadRequest" not in details


@pytest.mark.parametrize("reason", [Reason.IN_PROGRESS, Reason.CONTENTION, Reason.OVERLOADED])
def test_a_retry_is_asked_for_after_a_moment(reason: Reason) -> None:
    retry = _details(to_status(Refusal(reason)))["RetryInfo"]

    assert isinstance(retry, RetryInfo)
    assert 0 < retry.retry_delay.ToMilliseconds() <= 1_000


@pytest.mark.parametrize(
    ("refusal", "field", "problem"),
    [
        (malformed("holder.id", "required"), "holder.id", "required"),
        (over_limit("costs", "32 items"), "costs", "at most 32 items"),
    ],
)
def test_a_refusal_of_shape_names_the_field(refusal: Refusal, field: str, problem: str) -> None:
    bad = _details(to_status(refusal))["BadRequest"]

    assert bad == BadRequest(field_violations=[BadRequest.FieldViolation(field=field, description=problem)])


def test_a_use_case_answer_is_a_value_or_is_raised() -> None:
    assert value_or_refuse("value") == "value"
    with pytest.raises(Refused) as refused:
        value_or_refuse(Refusal(Reason.EXPIRED))
    assert refused.value.refusal == Refusal(Reason.EXPIRED)
