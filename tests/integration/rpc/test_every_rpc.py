"""Every RPC answers alike for what goes wrong, whatever its kind (cases D13, F01, F02, F04, F05, F07)."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Any

import pytest
from structlog.testing import capture_logs

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.rpc.use_cases import UseCases
from capability_authority.client.rpcs import RPCS
from tests.integration.rpc.running import INCIDENT, Failure, Running, Watching, running, use_cases
from tests.unit.rpc import requests

SECRET = "dsn=postgres://authority:SECRET@db"
GOOD = {name: rpc.good.SerializeToString() for name, rpc in requests.RPCS.items()} | {"GetKeySet": b""}
"""A good request of each RPC that has one."""
STREAM = "StreamCommitValidated"
LARGEST = 4 * 1024 * 1024
WITHIN_S = 20.0

UseCase = Callable[..., Awaitable[Any]]


async def defect(*_: object, **__: object) -> None:
    """Fails with a secret in its words."""
    raise ValueError(SECRET)


async def cancelled_inside(*_: object, **__: object) -> None:
    """Waits for something that is given up."""
    raise asyncio.CancelledError(SECRET)


async def hang(*_: object, **__: object) -> None:
    """Never ends."""
    await asyncio.Event().wait()


async def refuse(*_: object, **__: object) -> Refusal:
    """Refuses."""
    return Refusal(Reason.NOT_FOUND)


def all_are(use_case: UseCase, **others: UseCase) -> UseCases:
    """Use cases of which every verb is this one, but for these others."""
    verbs = {field.name: use_case for field in fields(UseCases) if field.name not in {"authenticate", "admit_stream"}}
    return use_cases(**verbs | others)


async def failure_of(service: Running, name: str, request: bytes) -> Failure:
    """Why the RPC fails. It does so in time, for its caller has no deadline (case F02)."""
    async with asyncio.timeout(WITHIN_S):
        if name == STREAM:
            return await service.stream().fails()
        rpc = RPCS[name]
        if rpc.is_stream:
            return await Watching(service.channel, rpc, request).fails()
        return await service.fail(rpc.path, request)


async def failures(service: Running) -> dict[str, Failure]:
    """Why each RPC fails."""
    return {name: await failure_of(service, name, GOOD.get(name, b"")) for name in RPCS}


def test_there_is_a_request_for_every_rpc() -> None:
    assert {*GOOD, STREAM} == set(RPCS)


async def test_f01_no_rpc_tells_what_went_wrong_inside() -> None:
    with capture_logs() as logs:
        async with running(all_are(defect)) as service:
            answers = await failures(service)

    for name, failure in answers.items():
        assert (failure.code.name, failure.reason) == ("INTERNAL", "INTERNAL"), name
        assert dict(failure.info.metadata) == {"incident_id": INCIDENT}, name
        assert "SECRET" not in failure.everything, name
    incidents = [entry for entry in logs if entry["event"] == "rpc_failed"]
    assert [entry["rpc_method"] for entry in incidents] == [RPCS[name].path for name in answers]
    assert "SECRET" not in str(logs)


async def test_f02_no_rpc_is_left_without_an_answer_when_something_inside_is_cancelled() -> None:
    async with running(all_are(cancelled_inside)) as service:
        answers = await failures(service)

    told = {name: (failure.code.name, failure.reason, failure.retry is not None) for name, failure in answers.items()}
    assert told == dict.fromkeys(RPCS, ("UNAVAILABLE", "DEPENDENCY_UNAVAILABLE", True))


async def test_f04_no_rpc_is_waited_for_without_end() -> None:
    # Given a server with a small cap, whose verbs never end, nor does the opening of streams
    cases = all_are(hang, admit_stream=hang)
    async with running(cases, deadline_cap=0.05, deadline_margin=0.01) as service:
        answers = await failures(service)

    assert {failure.reason for failure in answers.values()} == {"DEPENDENCY_UNAVAILABLE"}


@pytest.mark.parametrize("raw", [b"\xff\xff", b"\x0a\x01\xff"], ids=["no message", "no text"])
async def test_f07_bytes_that_are_no_request_are_malformed_and_reach_nothing(raw: bytes) -> None:
    async with running(use_cases()) as service:
        answers = {name: await failure_of(service, name, raw) for name in GOOD}

    for name, failure in answers.items():
        assert (failure.code.name, failure.reason) == ("INVALID_ARGUMENT", "MALFORMED"), name
        assert "protobuf" not in failure.everything, name


async def test_d13_a_field_that_the_contract_does_not_know_is_refused_and_reaches_nothing() -> None:
    async with running(use_cases()) as service:
        answers = {name: await failure_of(service, name, good + b"\xfa\x3f\x01x") for name, good in GOOD.items()}

    for name, failure in answers.items():
        assert (failure.reason, failure.violation) == ("MALFORMED", ("1023", "unknown field")), name


@pytest.mark.parametrize("name", ["RecallRecords", "WatchAuditEvents", "WatchRevocations"])
async def test_f05_what_grpc_does_not_take_reaches_nothing_and_the_server_lives(name: str) -> None:
    flood = b"\xfa\x3f" * (LARGEST // 2)
    async with running(use_cases(get_record=refuse)) as service:
        largest = await failure_of(service, name, flood)
        larger = await failure_of(service, name, flood + b"\xfa")
        assert (await service.fail()).reason == "NOT_FOUND"

    assert largest.reason == "MALFORMED"
    assert (larger.code.name, larger.status) == ("RESOURCE_EXHAUSTED", None)
