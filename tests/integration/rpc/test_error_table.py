"""Every reason goes through a real server and reaches a real client as the table says."""

from hashlib import sha256

import pytest

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.rpc.errors import TABLE
from tests.integration.rpc.running import GET_RECORD, ONE_RECORD, running, use_cases


@pytest.mark.parametrize("reason", Reason, ids=lambda reason: reason.name)
async def test_every_reason_reaches_the_caller(reason: Reason) -> None:
    # Given a use case that refuses.
    async def refuse(*_: object, **__: object) -> Refusal:
        return Refusal(reason, {"term": "audience", "differs": "a,b"})

    # When it is called.
    async with running(use_cases(get_record=refuse)) as service:
        failure = await service.fail()

    # Then the caller sees code, sentence, reason, facts, and whether to try again.
    assert failure.code is TABLE[reason].code
    assert failure.message == reason.value
    assert (failure.info.reason, failure.info.domain) == (reason.name, "capability-authority")
    assert dict(failure.info.metadata) == {"term": "audience", "differs": "a,b"}
    assert (failure.retry is not None) == (TABLE[reason].retry_after_ms is not None)


async def test_a_refusal_while_authenticating_is_answered_alike() -> None:
    async def refuse(*_: object, **__: object) -> Refusal:
        return Refusal(Reason.CALLER_UNAUTHENTICATED)

    async with running(use_cases(authenticate=refuse)) as service:
        failure = await service.fail()

    assert (failure.code.name, failure.reason) == ("UNAUTHENTICATED", "CALLER_UNAUTHENTICATED")


async def test_d13_an_unknown_field_is_refused_naming_its_path() -> None:
    async with running(use_cases()) as service:
        failure = await service.fail(request=ONE_RECORD + b"\xfa\x3f\x01x")

    assert (failure.code.name, failure.reason) == ("INVALID_ARGUMENT", "MALFORMED")
    assert failure.violation == ("1023", "unknown field")


@pytest.mark.parametrize("raw", [b"\x0a\x01\xff", b"\x0a\x05ab", b"\xff"])
async def test_f07_bytes_that_are_no_request_are_malformed_and_the_server_lives(raw: bytes) -> None:
    async with running(use_cases()) as service:
        first = await service.fail(request=raw)
        second = await service.fail(request=raw)

    for failure in (first, second):
        assert (failure.code.name, failure.reason) == ("INVALID_ARGUMENT", "MALFORMED")
        assert "DecodeError" not in failure.everything
        assert "google" not in failure.message


async def test_f07_a_standard_service_reads_as_strictly() -> None:
    async with running(use_cases()) as service:
        failure = await service.fail("/grpc.health.v1.Health/Check", b"\x0a\x01\xff", metadata=())

    assert (failure.code.name, failure.reason) == ("INVALID_ARGUMENT", "MALFORMED")


async def test_an_rpc_of_a_later_contract_is_not_implemented() -> None:
    async with running(use_cases()) as service:
        failure = await service.fail("/capability_authority.v1.ForecastService/Foretell", b"anything", metadata=())

    assert (failure.code.name, failure.reason) == ("UNIMPLEMENTED", "NOT_IMPLEMENTED")


async def test_an_rpc_of_nobody_is_answered_by_grpc() -> None:
    async with running(use_cases()) as service:
        failure = await service.fail("/other.Service/Method", b"")

    assert (failure.code.name, failure.status) == ("UNIMPLEMENTED", None)


async def test_facts_of_many_bytes_still_reach_the_caller() -> None:
    # Given a refusal whose facts name the longest things that can be named.
    longest = "x" * 256 + sha256(b"").hexdigest()

    async def refuse(*_: object, **__: object) -> Refusal:
        return Refusal(Reason.IDEMPOTENCY_CONFLICT, {"differs": longest, "receipt_id": longest})

    async with running(use_cases(get_record=refuse)) as service:
        failure = await service.fail(GET_RECORD)

    assert failure.info.metadata["receipt_id"] == longest
