"""What a run reports, and with which exit code."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import grpc
import pytest
from grpc import aio

from capability_authority.v1.proposal_service_pb2 import CreateProposalResponse
from capability_authority_conformance.problems import SuiteMalformed
from tests.conformance.conftest import SUITE, Runs
from tests.conformance.targets import PROPOSE, Authority, answering, refusing, refusing_as, well

NOT_YET = """- name: a-wish
  holds: There is more.
  covers: [nothing]
  not_yet: There is no service for it.
"""
PROPOSED = answering(CreateProposalResponse().SerializeToString())
DENIED = refusing_as("NOT_ALLOWED", grpc.StatusCode.PERMISSION_DENIED)


async def test_a_green_run(runs: Runs) -> None:
    async with Authority({**well(), PROPOSE: PROPOSED}).serving() as target:
        ran = await runs(target, SUITE + NOT_YET)
    assert ran.code == 0
    assert ran.last_line == "conformance: 2 passed, 0 failed, 1 not yet"
    assert "not yet: small/a-wish: There is no service for it." in ran.out
    assert sorted(line.split()[1] for line in ran.err.splitlines()) == ["small/a-key-set", "small/a-proposal", "yet"]
    assert ran.report["complete"]
    assert (ran.report["passed"], ran.report["failed"], ran.report["not_yet"]) == (2, 0, 1)


CROWD = """- name: a-crowd
  holds: Ten are answered alike.
  covers: [nothing]
  steps:
  - say: when ten ask at once
    call: {rpc: GetKeySet, as: nobody, callers: 10, together: {different: {issuer: 1}}}
"""


async def test_a_case_of_a_crowd_is_run_after_the_others(runs: Runs) -> None:
    cases = CROWD + NOT_YET + SUITE[SUITE.index("- name") :]
    async with Authority({**well(), PROPOSE: PROPOSED}).serving() as target:
        ran = await runs(target, SUITE[: SUITE.index("- name")] + cases, jobs=4)
    assert ran.code == 0
    assert ran.last_line == "conformance: 3 passed, 0 failed, 1 not yet"
    assert [line.split()[1] for line in ran.err.splitlines()][-1] == "small/a-crowd"


async def test_a_suite_that_is_malformed_is_told_before_anybody_is_asked(runs: Runs) -> None:
    with refusing() as target, pytest.raises(SuiteMalformed, match="has no RPC"):
        await runs(target, SUITE.replace("rpc: GetKeySet,", "rpc: GetKeySets,"))


async def test_a_case_for_another_audience_is_not_yet_run(runs: Runs) -> None:
    suite = SUITE.replace("holds: There is a proposal.", "holds: It is so.\n  needs_audience: elsewhere")
    async with Authority({**well(), PROPOSE: DENIED}).serving() as target:
        ran = await runs(target, suite)
    assert ran.code == 0
    assert ran.last_line == "conformance: 1 passed, 0 failed, 1 not yet"
    assert "not yet: small/a-proposal: The target's audience is 'a'" in ran.out


async def test_a_run_that_tries_nothing_is_no_pass(runs: Runs) -> None:
    async with Authority({**well(), PROPOSE: PROPOSED}).serving() as target:
        ran = await runs(target, SUITE + NOT_YET, only=["small/a-wish"])
    assert ran.code == 2
    assert ran.last_line == "conformance: 0 passed, 0 failed, 1 not yet"
    assert "nothing was tried" in ran.err


async def test_a_known_failing_list_without_end_is_none(runs: Runs) -> None:
    with refusing() as target, pytest.raises(SuiteMalformed, match="more than 1048576 bytes"):
        await runs(target, SUITE, known_failing=Path("/dev/zero"))


async def test_a_red_run_says_what_was_asked_expected_and_got(runs: Runs, tmp_path: Path) -> None:
    junit = tmp_path / "report.xml"
    async with Authority({**well(), PROPOSE: DENIED}).serving() as target:
        ran = await runs(target, SUITE, report_junit=junit)
    assert ran.code == 1
    assert ran.last_line == "conformance: 1 passed, 1 failed, 0 not yet"
    told = ran.out[ran.out.index("FAILED: small/a-proposal") :]
    for said in ("There is a proposal.", "step 1: when an agent proposes", "CreateProposal as agent", "expected: OK"):
        assert said in told
    assert "got: NOT_ALLOWED (PERMISSION_DENIED)" in told

    failure = ET.parse(junit).find("testsuite[@name='small']/testcase[@name='a-proposal']/failure")  # noqa: S314
    assert failure is not None
    assert "when an agent proposes" in (failure.text or "")
    failed = ran.report["cases"][1]
    assert failed["verdict"] == "failed"
    assert failed["failure"]["steps"] == ["step 1: when an agent proposes"]
    assert json.dumps(ran.report)


async def test_what_the_target_could_not_judge_is_asked_again(runs: Runs) -> None:
    # Given a target that has no room at first
    refused = refusing_as("OVERLOADED", grpc.StatusCode.RESOURCE_EXHAUSTED)
    answers = iter((refused, refused, PROPOSED))

    async def later(request: bytes, context: "aio.ServicerContext[bytes, bytes]") -> bytes:
        return await next(answers)(request, context)

    async with Authority({**well(), PROPOSE: later}).serving() as target:
        ran = await runs(target, SUITE)

    # Then it is judged by what it answers in the end, and the report says so
    assert ran.code == 0, ran
    assert "asked again: 1 calls that were answered OVERLOADED" in ran.out
    assert ran.report["asked_again"] == {"OVERLOADED": 1}


async def test_what_is_known_to_fail_does_not_fail_the_run(runs: Runs, tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text("small/a-proposal  # not built\n")
    async with Authority({**well(), PROPOSE: DENIED}).serving() as target:
        ran = await runs(target, SUITE, known_failing=known)
    assert ran.code == 0
    assert ran.last_line == "conformance: 1 passed, 0 failed, 0 not yet"
    assert "known failing: small/a-proposal: not built" in ran.out


async def test_what_is_known_to_fail_and_passes_fails_the_run(runs: Runs, tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text("small/a-proposal  # not built\n")
    async with Authority({**well(), PROPOSE: PROPOSED}).serving() as target:
        ran = await runs(target, SUITE, known_failing=known)
    assert ran.code == 1
    assert ran.last_line == "conformance: 1 passed, 1 failed, 0 not yet"
    assert "PASSED, though listed as failing: small/a-proposal" in ran.out
