"""`make bench` prints its figures, in a run as small as can be. What they are is nobody's business here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.options import parse

ROOT = Path(__file__).parents[2]
TINY = (
    "--rounds=1",
    "--unary-commits=16",
    "--many-commits=64",
    "--exchanges=8",
    "--concurrent=8",
    "--batch-size=16",
    "--recall-tenants=3",
    "--recall-records=50",
)
FIGURES = {
    "unary_commit_vs_echo",
    "unary_commit_p50_ms",
    "unary_commit_p99_ms",
    "replays_per_s",
    "batch_commit_vs_pgbench",
    "stream_commit_vs_pgbench",
    "batch_issues_per_s",
    "exchanges_per_s",
    "grant_chain_vs_ed25519",
    "recall_alone_ms",
    "recall_among_ms",
    "recall_among_vs_alone",
}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_figure_is_a_line_of_json(tmp_path: Path) -> None:
    # given a folder to work in, when the benchmark runs
    command = [sys.executable, "-m", "bench", *TINY, f"--data={tmp_path}"]
    ran = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False)
    # then it prints every figure, and leaves nothing behind
    assert ran.returncode == 0, ran.stderr + ran.stdout
    figures = [json.loads(line) for line in ran.stdout.splitlines()]
    assert {figure["name"] for figure in figures} == FIGURES
    for figure in figures:
        assert figure.keys() == {"name", "value", "spread", "detail"}
        assert figure["value"] > 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wrong", ["0", "-1", "two", "1.5", ""])
def test_a_number_that_is_none_is_told_in_words(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(["many"], [f"--rounds={wrong}"])

    assert ended.value.code == 2
    assert f"error: argument --rounds: {wrong!r} is no whole number of at least 1" in capsys.readouterr().err


def test_the_options_say_what_holds_when_they_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["many"], ["--help"])

    told = " ".join(capsys.readouterr().out.split())
    assert f"rounds of each measurement; {parse(['many'], []).rounds} when left out" in told
