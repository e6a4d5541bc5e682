"""The suite as a person runs it: against an authority of its own, and against one that is served already."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.conformance.mutants.table import ROOT
from tests.e2e.commands import WITHIN_S, authority, environment, serving, started

# Each starts servers and runs cases; what is stuck is told by the limits of its commands, not by pytest's.
pytestmark = pytest.mark.timeout(900)

SERVE: Final = [sys.executable, str(ROOT / "conformance" / "serve_authority.py")]
SUITE: Final = [sys.executable, "-m", "capability_authority_conformance"]
AUDIENCE: Final = "ruflo.memory"
"""One for which upstream's envelopes can be made: otherwise the cases of these would be left out."""
WHOLE_RUN_S: Final = 600.0


def suite(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs the suite's command to its end."""
    return subprocess.run(
        [*SUITE, *arguments],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=WHOLE_RUN_S,
    )


@pytest.mark.slow
def test_the_whole_suite_is_green_against_an_authority_that_is_served(tmp_path: Path) -> None:
    # Given an authority as `make serve` runs it, and the suite's keys, as `make conformance-set-up` makes both
    with serving(tmp_path / "authority", settings={"AUTHORITY_AUDIENCE": AUDIENCE}) as served:
        assert suite("set-up", "--keys", "keys", cwd=tmp_path).returncode == 0
        for expected in ("made", "nothing changed: all of it was there\n"):
            provisioned = authority("provision", "keys/setup.json", "--data", "authority", cwd=tmp_path)
            assert provisioned.returncode == 0, provisioned.stderr
            assert expected in provisioned.stdout

        # When the whole suite is run against it
        done = suite("run", "--target", served.address, "--keys", "keys", cwd=tmp_path)

        # Then it is green, and says so last
        assert done.returncode == 0, done.stdout + done.stderr
        last = done.stdout.splitlines()[-1]
        assert last.startswith("conformance: ")
        assert " 0 failed, " in last


def test_the_suite_serves_an_authority_for_itself_and_leaves_nothing(tmp_path: Path) -> None:
    (temporary := tmp_path / "tmp").mkdir()

    done = subprocess.run(
        [*SUITE, "run", "--serve", " ".join(SERVE), "--only", "errors"],
        cwd=tmp_path,
        env=environment(TMPDIR=str(temporary)),
        capture_output=True,
        text=True,
        check=False,
        timeout=WHOLE_RUN_S,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_is_served_ends_when_told_to(number: signal.Signals, tmp_path: Path) -> None:
    (temporary := tmp_path / "tmp").mkdir()
    assert suite("set-up", "--keys", "keys", cwd=tmp_path).returncode == 0

    with started([*SERVE, "keys/setup.json"], tmp_path, {"TMPDIR": str(temporary)}) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert sorted(told) == ["audience", "issuer", "target"]
        process.send_signal(number)
        code = process.wait(timeout=WITHIN_S)

    assert (code, list(temporary.iterdir())) == (0, [])


def test_a_set_up_that_cannot_be_made_is_told_and_nothing_is_served(tmp_path: Path) -> None:
    (tmp_path / "setup.json").write_text('{"tenants": [{"namespace": "a"}]}', encoding="utf-8")

    with started([*SERVE, "setup.json"], tmp_path, {}) as process:
        out, errors = process.communicate(timeout=WITHIN_S)

    assert (process.returncode, out) == (1, "")
    assert "tenants[0].id: Field required" in errors


def test_it_is_told_how_it_is_used(tmp_path: Path) -> None:
    done = subprocess.run(SERVE, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=WITHIN_S)

    assert done.returncode == 2
    assert "python -m capability_authority_conformance run --serve" in done.stderr
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - names alone
