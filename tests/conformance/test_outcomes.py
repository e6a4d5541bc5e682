"""What a refusal breaks of the contract is found by itself, whatever the case expects."""

from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from grpc import StatusCode

from capability_authority_conformance.error_table import DOMAIN, error_table
from capability_authority_conformance.target.outcome import NO_REASON, UNREADABLE, Outcome, of_status, status_as_json

RETRY = RetryInfo(retry_delay=Duration(seconds=1))


def refusal(reason: str, *more: Any, code: str = "", domain: str = DOMAIN, **facts: str) -> Outcome:
    """What is read of a refusal, whose plain status is the rich one's unless `code` says otherwise."""
    listed = error_table()[reason].code if reason in error_table() else "INTERNAL"
    status = Status(code=StatusCode[listed].value[0], message="no")
    for detail in (ErrorInfo(reason=reason, domain=domain, metadata=facts), *more):
        status.details.add().Pack(detail)
    return of_status(status, code or listed, "no")


@pytest.mark.parametrize("reason", error_table())
def test_a_refusal_as_the_error_table_has_it_breaks_nothing_and_else_does(reason: str) -> None:
    good, bad = ((RETRY,), ()) if error_table()[reason].retry else ((), (RETRY,))

    assert refusal(reason, *good).breaches == ()
    assert refusal(reason, *good).retry is error_table()[reason].retry
    assert [breach.split()[0] for breach in refusal(reason, *bad).breaches] == ["RetryInfo"]


def test_every_breach_is_told() -> None:
    assert refusal("MADE_UP").breaches == ("no reason of the contract: 'MADE_UP'",)
    assert refusal("REVOKED", domain="else").breaches == ("ErrorInfo.domain is 'else', not 'capability-authority'",)
    assert "the plain one INTERNAL" in refusal("REVOKED", code="INTERNAL").breaches[0]
    assert refusal("MALFORMED", field="content").breaches == ("BadRequest does not name the field 'content'",)
    named = BadRequest(field_violations=[BadRequest.FieldViolation(field="content")])
    assert refusal("MALFORMED", named, field="content").breaches == ()
    assert len(refusal("MALFORMED", named, field="media_type").breaches) == 1
    # Only of its shape is a request told so.
    assert refusal("NOT_FOUND", field="record_id").breaches == ()


def test_a_refusal_within_an_answer_is_read_alike() -> None:
    status = Status(code=StatusCode.NOT_FOUND.value[0], message="no")
    status.details.add().Pack(ErrorInfo(reason="NOT_FOUND", domain=DOMAIN, metadata={"field": "record_id"}))
    told = {"code": "NOT_FOUND", "reason": "NOT_FOUND", "facts": {"field": "record_id"}}
    assert status_as_json(status) == told


def test_what_breaks_is_told_from_what_refuses() -> None:
    assert Outcome(NO_REASON, "UNAVAILABLE").is_transport
    assert Outcome(UNREADABLE, "OK").is_transport
    assert not Outcome(NO_REASON, "RESOURCE_EXHAUSTED").is_transport
    assert not Outcome("DEPENDENCY_UNAVAILABLE", "UNAVAILABLE").is_transport
    assert not Outcome("OK", "OK").is_transport
