"""Validators that others host: a real one in a process of its own, and hosts that do everything wrong."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio

from authority.domain.material import Material
from authority.domain.validation import Finding, ValidationOutcome, ValidatorName
from authority.validators.catalog import built_in
from authority.validators.hosted import Hosted
from authority.validators.judging import FAILED, TIMED_OUT, InstalledValidators
from authority.validators.profile_file import read_profiles
from authority.validators.profiles import panel
from capability_authority.v1 import types_pb2 as types
from capability_authority.v1 import validator_service_pb2 as pb
from capability_authority.v1.validator_service_pb2_grpc import (
    ValidatorServiceServicer,
    add_ValidatorServiceServicer_to_server,
)
from tests.integration.rpc.certificates import self_signed

ROOT = Path(__file__).parents[2]
NAME = ValidatorName("house-style", "1")
Judge = Callable[[pb.JudgeRequest], Awaitable[pb.JudgeResponse]]


def answer(**differs: object) -> Judge:
    """A host that answers a pass but for what differs."""
    said = {"validator": NAME.name, "validator_version": NAME.version, "outcome": types.VALIDATION_OUTCOME_PASS}

    async def judge(_: pb.JudgeRequest) -> pb.JudgeResponse:
        return pb.JudgeResponse(finding=types.ValidationFinding(**{**said, **differs}))  # type: ignore[arg-type]

    return judge


async def hang(_: pb.JudgeRequest) -> pb.JudgeResponse:
    """Never answers."""
    await asyncio.Event().wait()
    raise AssertionError


async def fail(_: pb.JudgeRequest) -> pb.JudgeResponse:
    """Raises, and tells what it saw."""
    raise ValueError("the content was a secret")


@asynccontextmanager
async def hosting(judge: Judge, credentials: grpc.ServerCredentials | None = None) -> AsyncIterator[str]:
    """The address of a host on this machine; over TLS with credentials."""

    class Servicer(ValidatorServiceServicer):
        async def Judge(self, request: pb.JudgeRequest, context: Any) -> pb.JudgeResponse:  # noqa: N802
            try:
                return await judge(request)
            except ConnectionError:
                await context.abort(grpc.StatusCode.UNAVAILABLE)
                raise

    server = aio.server()
    add_ValidatorServiceServicer_to_server(Servicer(), server)
    address = "127.0.0.1:0"
    port = server.add_secure_port(address, credentials) if credentials else server.add_insecure_port(address)
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(0)


async def finding_of(
    address: str, *, limit_s: float = 30.0, content: bytes = b"a note", certificate: Path | None = None
) -> Finding:
    """What is found by the validator at the address."""
    hosted = Hosted(NAME, address, limit_s, certificate)
    validators = InstalledValidators({"house": panel("house", "1", [hosted])})
    profile = validators.profile("house")
    assert profile
    try:
        return (await validators.judge(profile, Material(content=content, media_type="text/plain")))[0]
    finally:
        await validators.close()


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [(ValidationOutcome.PASS, ""), (ValidationOutcome.REVIEW, "odd"), (ValidationOutcome.FAIL, "wrong:why")],
)
async def test_what_a_host_finds_is_a_finding(outcome: ValidationOutcome, reason: str) -> None:
    number = types.ValidationOutcome.Value(f"VALIDATION_OUTCOME_{outcome.name}")
    async with hosting(answer(outcome=number, reason=reason, confidence_permille=700)) as address:
        assert await finding_of(address) == Finding(NAME.name, NAME.version, outcome, reason, 700)


async def test_a_host_elsewhere_is_asked_over_tls_by_the_certificate_that_was_named(tmp_path: Path) -> None:
    certificate, key = self_signed("127.0.0.1")
    named, another = tmp_path / "named.pem", tmp_path / "another.pem"
    named.write_bytes(certificate)
    another.write_bytes(self_signed("127.0.0.1")[0])
    async with hosting(answer(), grpc.ssl_server_credentials([(key, certificate)])) as address:
        assert (await finding_of(address, certificate=named)).outcome is ValidationOutcome.PASS
        # then neither a host of another authority is asked, nor this one without TLS
        assert (await finding_of(address, certificate=another)).reason == FAILED
        assert (await finding_of(address)).reason == FAILED


async def test_a_host_sees_what_it_judges_and_not_whose_it_is() -> None:
    seen: list[pb.JudgeRequest] = []

    async def look(request: pb.JudgeRequest) -> pb.JudgeResponse:
        seen.append(request)
        return await answer()(request)

    async with hosting(look) as address:
        await finding_of(address, content=b"a fact")
    assert (seen[0].content, seen[0].validator, seen[0].validator_version) == (b"a fact", NAME.name, NAME.version)
    assert not {name for name in pb.JudgeRequest.DESCRIPTOR.fields_by_name if "tenant" in name or name.endswith("_id")}


@pytest.mark.parametrize(
    "judge",
    [
        answer(validator="another"),
        answer(validator_version="2"),
        answer(outcome=types.VALIDATION_OUTCOME_UNSPECIFIED),
        answer(outcome=77),
        answer(reason="but"),
        answer(outcome=types.VALIDATION_OUTCOME_FAIL),
        answer(outcome=types.VALIDATION_OUTCOME_FAIL, reason="two words"),
        answer(confidence_permille=2**31),
        answer(reason="x" * 10_000),
        fail,
    ],
    ids=["name", "version", "none", "unknown", "reason", "no-reason", "words", "confidence", "large", "raises"],
)
async def test_a_host_that_answers_garbage_is_a_review_and_nothing_of_it_is_told(judge: Judge) -> None:
    async with hosting(judge) as address:
        found = await finding_of(address)
    assert found == Finding(NAME.name, NAME.version, ValidationOutcome.REVIEW, FAILED, 1000)


async def test_a_host_that_hangs_is_a_review_and_one_that_is_not_there_is_one() -> None:
    async with hosting(hang) as address:
        assert (await finding_of(address, limit_s=0.2)).reason == TIMED_OUT
    found = await finding_of(address, limit_s=30)
    assert (found.outcome, found.reason) == (ValidationOutcome.REVIEW, FAILED)


async def test_a_host_that_says_it_is_unavailable_is_not_asked_again() -> None:
    asked = 0

    async def give_up(_: pb.JudgeRequest) -> pb.JudgeResponse:
        nonlocal asked
        asked += 1
        raise ConnectionError

    async with hosting(give_up) as address:
        assert (await finding_of(address)).reason == FAILED
    assert asked == 1


async def test_the_example_is_hosted_and_asked_by_an_operators_profile(tmp_path: Path) -> None:
    # given the example, in a process of its own
    host = await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "examples" / "validator_host" / "host.py"),
        "127.0.0.1:0",
        stdout=asyncio.subprocess.PIPE,
    )
    assert host.stdout
    try:
        async with asyncio.timeout(60):
            told = (await host.stdout.readline()).decode()
        assert told.startswith("hosting no-promises@1 at 127.0.0.1:"), told
        file = tmp_path / "profiles.toml"
        file.write_text(
            f'[validators.no-promises]\nversion = "1"\naddress = "{told.split()[-1]}"\ntimeout_s = 30\n'
            '[profiles.house]\nversion = "1"\nvalidators = ["schema_and_limits@1", "no-promises@1"]\n'
        )
        validators = InstalledValidators(read_profiles(file, built_in()))
        profile = validators.profile("house")
        assert profile

        # when contents are judged, then it has its say
        said = []
        for content in (b"We guarantee delivery by Friday.", b"Delivery is on Friday."):
            found = await validators.judge(profile, Material(content=content, media_type="text/plain"))
            said.append([one.reason for one in found])
        assert said == [["", "promise"], ["", ""]]
        await validators.close()
    finally:
        host.terminate()
        await host.wait()
