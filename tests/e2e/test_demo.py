"""`authority demo`, as `make demo` runs it."""

import fcntl
import json
import re
import signal
from pathlib import Path

import pytest

from authority.embedded.demo import load_proposals
from tests.e2e.commands import AUTHORITY, WITHIN_S, authority, started

LINES = load_proposals()
COMMITTED = sum(line.expect.outcome == "committed" for line in LINES)
LAST_LINE = re.compile(
    r"demo ok: committed=(\d+) refused=(\d+) replayed=(\d+) receipts_verified=(\d+) events=(\d+) delivered=(\d+)"
    r" acts=(\d+)"
)
ACTS = 5
"""Of the story of who may do what."""
SERVERS = ("postgres.lock", "valkey.lock")


def wait_until_stopped(data: Path) -> None:
    """Returns once no process of the folder's servers is left: they hold these locks as long as one lives."""
    for name in SERVERS:
        with (data / name).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)


def test_the_demo_ends_well_and_leaves_nothing(tmp_path: Path) -> None:
    done = authority("demo", cwd=tmp_path, TMPDIR=str(tmp_path))

    assert done.returncode == 0, done.stdout + done.stderr
    match = LAST_LINE.fullmatch(done.stdout.splitlines()[-1])
    assert match is not None
    committed, refused, replayed, verified, events, delivered, acts = map(int, match.groups())
    assert committed == replayed == verified == events == delivered == COMMITTED
    assert refused == len(LINES) - COMMITTED
    assert acts == ACTS
    assert f"… {len(LINES)} of {len(LINES)}" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_demo_answers_machines(tmp_path: Path) -> None:
    data = tmp_path / "data"

    done = authority("demo", "--json", "--data", str(data), cwd=tmp_path)

    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["ok"] is True
    assert [line["name"] for line in report["lines"]] == [line.name for line in LINES]
    assert all(line["ok"] and line["came_out"] == line["expected"] for line in report["lines"])
    assert set(report["counts"].values()) == {COMMITTED}
    assert len(report["story"]) == ACTS
    assert all(act["ok"] and act["came_out"] == act["expected"] for act in report["story"])
    assert LAST_LINE.fullmatch(report["summary"])
    # It kept what it was told to keep, and stopped all that it had started.
    wait_until_stopped(data)
    assert not (data / "endpoint.json").exists()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_nothing_outlives_a_demo_that_is_ended(number: signal.Signals, code: int, tmp_path: Path) -> None:
    # Given a demo in the middle of its work
    data = tmp_path / "data"
    with started([AUTHORITY, "demo", "--data", str(data)], tmp_path, {}) as process:
        assert process.stderr is not None
        while "it serves at" not in process.stderr.readline():
            assert process.poll() is None

        # When it is ended, by SIGKILL if need be
        process.send_signal(number)
        _, errors = process.communicate(timeout=WITHIN_S)

    # Then its service and its servers end as well, and nothing is said but progress
    assert process.returncode == code
    assert "Traceback" not in errors
    wait_until_stopped(data)
