"""A target that cannot be judged gets a clear report and exit code 2, never a pass: each kind on a real socket."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from grpc_health.v1.health_pb2 import HealthCheckResponse  # type: ignore[import-untyped]

from capability_authority.v1.proposal_service_pb2 import CreateProposalResponse, Proposal
from tests.conformance.conftest import SUITE, Ran, Runs
from tests.conformance.targets import (
    HEALTH,
    KEY_SET,
    PROPOSE,
    RECORDS,
    Authority,
    Conversation,
    answering,
    breaking,
    hangs_up,
    never,
    refusing,
    refusing_as,
    says_nothing,
    serves_web_pages,
    speaks_http1,
    speaks_tls,
    talking,
    unanswered,
    well,
)
from tests.world.certificates import TestAuthority

SHORT_S = 0.5


def is_unusable(ran: Ran, *seen: str) -> None:
    """It says what was seen, and nothing that could be taken for a verdict."""
    assert ran.code == 2, ran
    assert all(word in ran.err for word in seen), ran.err
    assert ran.last_line.startswith("conformance: not finished: "), ran.out
    assert not ran.report["complete"]
    assert ran.report["passed"] == 0


async def test_a_target_that_is_down(runs: Runs) -> None:
    with refusing() as target:
        is_unusable(await runs(target), "refuses connections", "start it", target)


async def test_a_target_that_has_no_address(runs: Runs) -> None:
    is_unusable(await runs("authority.invalid:1", call_timeout_s=5.0), "authority.invalid:1")


@pytest.mark.parametrize(
    ("conversation", "seen"),
    [
        (hangs_up, "closes every connection"),
        (speaks_http1, "does not speak HTTP/2"),
        (speaks_tls, "--tls-roots"),
        (serves_web_pages, "speaks HTTP/2 but not gRPC"),
    ],
)
async def test_a_target_that_speaks_something_else(conversation: Conversation, seen: str, runs: Runs) -> None:
    async with talking(conversation) as target:
        is_unusable(await runs(target), seen)


async def test_a_target_that_accepts_and_never_answers(runs: Runs) -> None:
    async with talking(says_nothing) as target:
        is_unusable(await runs(target, call_timeout_s=SHORT_S), "says nothing", "hangs")


@pytest.mark.parametrize("answer", [b"", b"\xff\xff", b"\x0a\x01i\x12\x01a"])
async def test_a_target_that_answers_with_wrong_messages(answer: bytes, runs: Runs) -> None:
    async with Authority({**well(), KEY_SET: answering(answer)}).serving() as target:
        is_unusable(await runs(target), "answers GetKeySet with no", "capability_authority.v1")


async def test_a_target_that_is_another_service(runs: Runs) -> None:
    async with Authority({HEALTH: well()[HEALTH]}).serving() as target:
        is_unusable(await runs(target), "is another gRPC service", "UNIMPLEMENTED")


async def test_a_target_that_hangs_or_is_too_slow(runs: Runs) -> None:
    async with Authority({**well(), KEY_SET: never}).serving() as target:
        is_unusable(await runs(target, call_timeout_s=SHORT_S), "does not answer a call in time", "--call-timeout")


async def test_a_target_that_does_not_serve_by_its_own_word(runs: Runs) -> None:
    sick = HealthCheckResponse(status=HealthCheckResponse.NOT_SERVING).SerializeToString()
    async with Authority({**well(), HEALTH: answering(sick)}).serving() as target:
        is_unusable(await runs(target), "NOT_SERVING")


async def test_a_target_that_does_not_know_the_principals(runs: Runs) -> None:
    unknown = refusing_as("CALLER_UNAUTHENTICATED", grpc.StatusCode.UNAUTHENTICATED)
    async with Authority({**well(), RECORDS: unknown}).serving() as target:
        is_unusable(await runs(target), "CALLER_UNAUTHENTICATED", "`agent`", "`two-reader`", "set-up --keys")


async def test_a_target_without_the_memory_namespaces(runs: Runs) -> None:
    absent = refusing_as("NOT_FOUND", grpc.StatusCode.NOT_FOUND)
    async with Authority({**well(), RECORDS: absent}).serving() as target:
        is_unusable(await runs(target), "no memory namespace `open`", "set-up --keys")


async def test_a_target_that_ends_in_the_middle(runs: Runs, tmp_path: Path) -> None:
    # Given a target that stops serving at the second case
    answers = well()
    authority = Authority(answers)
    ending: list[asyncio.Task[None]] = []

    async def ends(_request: bytes, _context: object) -> bytes:
        ending.append(asyncio.create_task(authority.server.stop(None)))
        return await unanswered()

    answers[PROPOSE] = ends

    # When the suite runs against it
    junit = tmp_path / "report.xml"
    async with authority.serving() as target:
        ran = await runs(target, report_junit=junit)
    await asyncio.gather(*ending)

    # Then what ran is reported, the case that broke is nobody's failure, and no report is green
    assert ran.code == 2
    assert "refuses connections" in ran.err
    assert "passed small/a-key-set" in ran.err
    assert [case["name"] for case in ran.report["cases"]] == ["small/a-key-set"]
    assert ran.last_line.startswith("conformance: not finished: ")
    assert ET.parse(junit).find("testsuite/testcase/error") is not None  # noqa: S314 - our own


async def test_a_call_that_breaks_while_the_target_lives_fails_its_case(runs: Runs) -> None:
    async with Authority({**well(), PROPOSE: breaking}).serving() as target:
        ran = await runs(target)
    assert ran.code == 1
    assert ran.last_line == "conformance: 1 passed, 1 failed, 0 not yet"
    assert "NO_REASON (INTERNAL)" in ran.out
    assert "when an agent proposes" in ran.out


async def test_a_run_has_an_end(runs: Runs) -> None:
    async with Authority({**well(), PROPOSE: never}).serving() as target:
        ran = await runs(target, time_limit_s=1.0)
    assert ran.code == 2
    assert "--time-limit" in ran.err
    assert not ran.report["complete"]


async def test_ctrl_c_reports_what_ran(keys: Path, tmp_path: Path) -> None:
    # Given a run, as a person starts it, that waits for its second case
    (tmp_path / "small.yaml").write_text(SUITE)
    asked = asyncio.Event()

    async def asks(_request: bytes, _context: object) -> bytes:
        asked.set()
        return await unanswered()

    command = [sys.executable, "-m", "capability_authority_conformance", "run", "--jobs", "1"]
    async with Authority({**well(), PROPOSE: asks}).serving() as target:
        process = await asyncio.create_subprocess_exec(
            *command, "--target", target, "--keys", keys, "--suites", tmp_path, stdout=subprocess.PIPE
        )
        await asked.wait()

        # When it is interrupted
        process.send_signal(signal.SIGINT)
        out, _ = await process.communicate()

    # Then it says what ran
    assert process.returncode == 130
    assert "small" in out.decode()
    assert out.decode().splitlines()[-1] == "conformance: not finished: interrupted"


@pytest.mark.parametrize(
    ("command", "seen"),
    [
        ("no-such-command-anywhere", "cannot be run"),
        (f"{sys.executable} -c print(1)", "did not print"),
        (f"{sys.executable} -c raise(SystemExit(3))", "exit code 3"),
    ],
)
async def test_a_command_that_serves_nothing(command: str, seen: str, runs: Runs) -> None:
    is_unusable(await runs(None, serve=command, keys=None), seen)


async def test_a_target_speaks_tls(runs: Runs, tmp_path: Path) -> None:
    # Given a target that speaks TLS
    authority, other = TestAuthority(), TestAuthority()
    roots, wrong = tmp_path / "roots.pem", tmp_path / "wrong.pem"
    roots.write_bytes(authority.pem)
    wrong.write_bytes(other.pem)
    async with Authority(well(), tls=authority.server()).serving() as target:
        # When the run trusts who vouches for it, then it is judged
        ran = await runs(target, tls_roots=roots, only=["small/a-key-set"])
        assert ran.code == 0, ran

        # And else it is not
        is_unusable(await runs(target, tls_roots=wrong), "--tls-roots")
        is_unusable(await runs(target), "--tls-roots")


async def test_an_answer_that_has_no_json_fails_its_case(runs: Runs) -> None:
    impossible = Proposal(create_time=Timestamp(seconds=2**62))
    wrong = answering(CreateProposalResponse(proposal=impossible).SerializeToString())
    async with Authority({**well(), PROPOSE: wrong}).serving() as target:
        ran = await runs(target)
    assert ran.code == 1
    assert "UNREADABLE" in ran.out


async def test_a_report_that_cannot_be_written_is_no_pass(runs: Runs, tmp_path: Path) -> None:
    async with Authority(well()).serving() as target:
        ran = await runs(target, only=["small/a-key-set"], report_junit=tmp_path / "absent" / "report.xml")
    assert ran.code == 2
    assert "cannot be written" in ran.err
    assert ran.last_line == "conformance: 1 passed, 0 failed, 0 not yet"


async def test_a_target_is_served_for_the_run(runs: Runs, tmp_path: Path) -> None:
    # Given a command that says where a target is, and notes the end of its standard input
    told, ended = tmp_path / "told", tmp_path / "ended"
    script = tmp_path / "serve.py"
    async with Authority(well()).serving() as target:
        script.write_text(
            "import json, pathlib, sys\n"
            f"pathlib.Path({str(told)!r}).write_text(pathlib.Path(sys.argv[-1]).read_text())\n"
            f"print(json.dumps({{'target': {target!r}}}), flush=True)\n"
            "sys.stdin.read()\n"
            f"pathlib.Path({str(ended)!r}).touch()\n"
        )

        # When a run serves itself with it
        ran = await runs(None, serve=f"{sys.executable} {script}", keys=None, only=["small/a-key-set"])

    # Then it was given the set-up, judged, and ended
    assert ran.code == 0, ran
    assert ran.last_line == "conformance: 1 passed, 0 failed, 0 not yet"
    assert '"conformance"' in told.read_text()
    assert ended.exists()
