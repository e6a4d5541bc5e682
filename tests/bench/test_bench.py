"""`make bench` prints its figures, in a run as small as can be. What they are is nobody's business here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TINY = ("--rounds=1", "--unary-commits=16", "--many-commits=64", "--exchanges=8", "--concurrent=8", "--batch-size=16")
FIGURES = {
    "unary_commit_vs_echo",
    "unary_commit_p50_ms",
    "unary_commit_p99_ms",
    "replays_per_s",
    "batch_commit_vs_pgbench",
    "stream_commit_vs_pgbench",
    "batch_issues_per_s",
    "exchanges_per_s",
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
