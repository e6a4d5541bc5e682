"""From a status to an exception, whatever its details hold."""

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from grpc import aio
from hypothesis import given
from hypothesis import strategies as st

from capability_authority.client.errors import BY_REASON, AuthorityError, DeadlineExceeded, Expired, TransportError
from capability_authority.client.rpcs import RPCS
from capability_authority.client.statuses import KeyedCall, failure_in, failure_of
from capability_authority.v1.capability_service_pb2 import (
    BatchCommitValidatedRequest,
    CommitValidatedRequest,
    GetKeySetRequest,
    Presentation,
)
from capability_authority.v1.proposal_service_pb2 import CreateProposalRequest

DETAILS_KEY = "grpc-status-details-bin"
REFUSED = grpc.StatusCode.FAILED_PRECONDITION
CALL = KeyedCall(RPCS["CommitValidated"], "commit_idempotency_key", "nightly-1")


def error_with(details: bytes | None, code: grpc.StatusCode = REFUSED, text: str = "expired") -> aio.AioRpcError:
    """What gRPC raises for such a trailer."""
    trailer = aio.Metadata() if details is None else aio.Metadata((DETAILS_KEY, details))
    return aio.AioRpcError(code, aio.Metadata(), trailer, details=text)


def status(*details: object, code: grpc.StatusCode = REFUSED, text: str = "expired") -> bytes:
    """A rich status as bytes."""
    number, _ = code.value
    message = Status(code=number, message=text)
    for detail in details:
        message.details.add().Pack(detail)
    data: bytes = message.SerializeToString()
    return data


def info(reason: str, domain: str = "capability-authority") -> object:
    """An ErrorInfo with one fact."""
    return ErrorInfo(reason=reason, domain=domain, metadata={"field": "x"})


def test_every_reason_comes_out_as_its_exception() -> None:
    for reason, kind in BY_REASON.items():
        error = failure_of(CALL, error_with(status(info(reason))))
        assert type(error) is kind
        assert (error.reason, error.metadata, error.message, error.key) == (
            reason,
            {"field": "x"},
            "expired",
            "nightly-1",
        )


def test_the_status_of_an_item_in_a_batch_comes_out_alike() -> None:
    delay = RetryInfo()
    delay.retry_delay.FromMilliseconds(1_250)
    for reason in BY_REASON:
        told = status(info(reason), delay)
        assert failure_in(CALL, Status.FromString(told)).failure == failure_of(CALL, error_with(told)).failure
    assert failure_in(CALL, Status(code=99)).code is grpc.StatusCode.UNKNOWN


def test_retry_info_is_read_in_seconds() -> None:
    delay = RetryInfo()
    delay.retry_delay.FromMilliseconds(1_250)

    error = failure_of(CALL, error_with(status(info("EXPIRED"), delay)))

    assert (error.failure.retry_delay, error.retryable) == (1.25, True)


def test_a_negative_delay_is_none_at_all() -> None:
    delay = RetryInfo()
    delay.retry_delay.FromMilliseconds(-5)

    assert failure_of(CALL, error_with(status(info("EXPIRED"), delay))).failure.retry_delay == 0.0


def test_details_that_contradict_the_status_or_cannot_be_read_are_ignored() -> None:
    broken_any = AnyMessage(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=b"\xff")
    broken = Status(code=REFUSED.value[0], message="expired", details=[broken_any])
    ignored = [
        None,
        b"\xff\xff",
        status(info("EXPIRED"), code=grpc.StatusCode.ABORTED),
        status(info("EXPIRED"), text="something else"),
        status(info("EXPIRED", domain="proxy.example")),
        status(info("")),
        broken.SerializeToString(),
    ]

    kinds = {type(failure_of(CALL, error_with(details))) for details in ignored}

    assert kinds == {TransportError}


def test_a_deadline_without_details_is_its_own_exception() -> None:
    late = error_with(None, grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded")

    assert type(failure_of(CALL, late)) is DeadlineExceeded


@given(details=st.one_of(st.none(), st.binary(max_size=200)), code=st.sampled_from(list(grpc.StatusCode)))
def test_any_trailer_gives_an_exception_that_can_be_printed(details: bytes | None, code: grpc.StatusCode) -> None:
    error = failure_of(CALL, error_with(details, code))

    assert isinstance(error, AuthorityError)
    assert "CommitValidated" in str(error)


def test_the_key_of_a_call_is_what_makes_a_retry_the_same_request() -> None:
    commit = CommitValidatedRequest(presentation=Presentation(commit_idempotency_key="nightly-1"))
    propose = CreateProposalRequest(request_id="r-1")

    assert KeyedCall.of(RPCS["CommitValidated"], commit) == CALL
    assert KeyedCall.of(RPCS["CreateProposal"], propose).key == "r-1"
    batch = RPCS["BatchCommitValidated"]
    assert KeyedCall.of(batch, BatchCommitValidatedRequest(requests=[commit])) == KeyedCall(batch, "requests")
    assert KeyedCall.of(RPCS["GetKeySet"], GetKeySetRequest()) == KeyedCall(RPCS["GetKeySet"])
    assert type(failure_of(CALL, error_with(status(info("EXPIRED"))))) is Expired
