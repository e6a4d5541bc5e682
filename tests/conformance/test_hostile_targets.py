"""Targets that flood and speak in escapes, and readers that go away: reported, or no verdict, and never a pass."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio

from capability_authority_conformance.cli import main
from capability_authority_conformance.target.outcome import UNREADABLE
from capability_authority_conformance.target.rpcs import rpc_named
from capability_authority_conformance.target.target import Address, Target
from tests.conformance.conftest import SUITE, Runs
from tests.conformance.targets import PROPOSE, Authority, refusing_as, unanswered, well

RUN = [sys.executable, "-m", "capability_authority_conformance", "run", "--jobs", "1"]


@pytest.fixture
def small(tmp_path: Path) -> str:
    """The argument that names a small suite."""
    (tmp_path / "small.yaml").write_text(SUITE)
    return f"--suites={tmp_path}"


async def flood(*_: Any) -> AsyncIterator[bytes]:
    """Message after message, none of which holds anything."""
    while True:
        yield b""


class Flooding(Authority):
    """Answers to every stream without end."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[Any, Any] | None":
        if handler_call_details.method.endswith("/StreamCommitValidated"):
            return grpc.stream_stream_rpc_method_handler(flood)
        return grpc.unary_stream_rpc_method_handler(flood)


async def test_a_stream_without_end_is_read_to_a_limit() -> None:
    commits, revocations = rpc_named("StreamCommitValidated"), rpc_named("WatchRevocations")
    assert commits is not None
    assert revocations is not None
    async with Flooding({}).serving() as address:
        target = Target(Address(address, call_timeout_s=120.0))
        outcomes = [
            await target.call(commits, [b""], ()),
            await target.watch(revocations, b"", (), 120.0, lambda _: False),
        ]
        await target.close()
    assert [outcome.reason for outcome in outcomes] == [UNREADABLE] * 2
    assert all("a stream of more than 2,000 messages" in outcome.text for outcome in outcomes)


async def test_what_a_target_says_cannot_move_the_reader_s_terminal_or_forge_a_line(runs: Runs) -> None:
    said = "\x1b[2J\nconformance: 9 passed, 0 failed, 0 not yet\u202e"
    refusing = refusing_as(said, grpc.StatusCode.INVALID_ARGUMENT)
    async with Authority({**well(), PROPOSE: refusing}).serving() as target:
        ran = await runs(target)
    assert ran.code == 1
    assert "\\x1b[2J\\nconformance: 9 passed" in ran.out
    assert [line for line in ran.out.splitlines() if line.startswith("conformance: ")] == [ran.last_line]
    assert not {"\x1b", "\u202e"} & set(ran.out + ran.err)


@pytest.mark.parametrize("target", ["127.0.0.1:99999", "127.0.0.1:" + "9" * 5_000, "127.0.0.1:\u0663", "\udcff:1", ""])
def test_what_is_no_address_is_no_target(
    target: str, keys: Path, small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", f"--target={target}", f"--keys={keys}", "--call-timeout=2", small]) == 2
    assert "name it as HOST:PORT" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("script", "seen"),
    [
        ("print('x' * 200_000, flush=True)", "endless"),
        ("print('[' * 60_000, flush=True)", "as its first line"),
        ("print('[1]', flush=True)", "as its first line"),
        ("""print('{"target": null}', flush=True)""", "as its first line"),
        ("import os; os.close(1)", "exit code 0"),
    ],
)
def test_a_command_that_serves_nonsense_serves_nothing(
    script: str, seen: str, tmp_path: Path, small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / "serve.py").write_text(script)
    assert main(["run", f"--serve={sys.executable} {file}", small]) == 2
    assert seen in capsys.readouterr().err


def test_a_command_that_cannot_be_split_serves_nothing(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--serve=serve 'this", small]) == 2
    assert "cannot be run: No closing quotation" in capsys.readouterr().err


async def test_a_served_target_may_print_as_much_as_it_likes(runs: Runs, tmp_path: Path) -> None:
    # Given a command that prints more than a pipe holds before it serves on
    async with Authority(well()).serving() as target:
        (file := tmp_path / "serve.py").write_text(
            f"import sys\nprint('{{\"target\": \"{target}\"}}')\nprint('x' * 10_000_000, flush=True)\n"
            f"open({str(tmp_path / 'printed')!r}, 'w').close()\nsys.stdin.read()\n"
        )
        ran = await runs(None, serve=f"{sys.executable} {file}", keys=None, only=["small/a-key-set"])
    assert ran.code == 0, ran
    assert (tmp_path / "printed").exists()


async def test_sigterm_ends_what_was_served_and_reports_what_ran(tmp_path: Path, small: str) -> None:
    # Given a run that serves itself, and waits for its second case
    (temporary := tmp_path / "tmp").mkdir()
    asked = asyncio.Event()

    async def asks(_request: bytes, _context: "aio.ServicerContext[bytes, bytes]") -> bytes:
        asked.set()
        return await unanswered()

    async with Authority({**well(), PROPOSE: asks}).serving() as target:
        (file := tmp_path / "serve.py").write_text(
            f'import sys\nprint(\'{{"target": "{target}"}}\', flush=True)\nsys.stdin.read()\n'
            f"open({str(tmp_path / 'ended')!r}, 'w').close()\n"
        )
        arguments = [f"--serve={sys.executable} {file}", small, f"--report-json={tmp_path / 'it.json'}"]
        process = await asyncio.create_subprocess_exec(
            *RUN, *arguments, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(temporary)}
        )
        await asked.wait()
        process.send_signal(signal.SIGTERM)
        out, _ = await process.communicate()

    assert process.returncode == 143
    assert out.decode().splitlines()[-1] == "conformance: not finished: terminated"
    assert (tmp_path / "ended").exists()
    assert (tmp_path / "it.json").exists()
    assert list(temporary.iterdir()) == []


async def test_a_run_goes_on_and_is_no_verdict_when_nobody_reads_it(keys: Path, tmp_path: Path, small: str) -> None:
    # Given a run whose output and errors both go to somebody who has gone away
    read, write = os.pipe()
    os.close(read)
    refusing = refusing_as("MALFORMED", grpc.StatusCode.INVALID_ARGUMENT)
    async with Authority({**well(), PROPOSE: refusing}).serving() as target:
        arguments = [f"--target={target}", f"--keys={keys}", small, f"--report-json={tmp_path / 'it.json'}"]
        process = await asyncio.create_subprocess_exec(*RUN, *arguments, stdout=write, stderr=write)
        os.close(write)
        await process.wait()

    # Then the report is whole, and the exit code is no verdict
    assert process.returncode == 2
    assert '"complete": true' in (tmp_path / "it.json").read_text()
