"""`authority top` on a real authority: what the documentation shows, live until Ctrl-C, and by several workers."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.e2e.commands import AUTHORITY, WITHIN_S, Served, authority, environment, serving
from tests.installation.documented import examples


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two workers, by which one exchange was made: a commit and its retry."""
    # Where who names no folder finds it.
    with serving(tmp_path_factory.mktemp("busy") / ".authority", "--workers", "2") as running:
        subprocess.run([sys.executable, running.data / "try.py"], check=True, capture_output=True, timeout=WITHIN_S)
        yield running


def test_it_shows_what_the_documentation_shows(busy: Served) -> None:
    for example in examples("docs/inspecting.md", "What is it doing now?"):
        done = authority(*example.arguments(), cwd=busy.data.parent)
        shown = done.stdout.replace(", 2 workers", "")

        assert (done.returncode, example.difference(shown)) == (0, "")


def test_workers_are_counted_together_and_told_apart(busy: Served) -> None:
    seen = json.loads(authority("top", "--once", "--json", cwd=busy.data.parent).stdout)

    assert seen["workers"] == 2
    assert seen["commits"]["committed"]["total"] == 1
    assert seen["connections_most"] > 8
    # The parent relays.
    assert seen["parked"] == 0


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_it_goes_on_until_ctrl_c_which_is_no_error(busy: Served, arguments: tuple[str, ...]) -> None:
    with _live(busy, *arguments, stdout=subprocess.PIPE) as live:
        assert live.stdout is not None
        # Given two looks
        for _ in range(2):
            while "committed" not in (line := live.stdout.readline()):
                assert line, live.stderr and live.stderr.read()
        # When it is interrupted, then it ends well and says nothing
        assert _interrupted(live) == (0, "")


def test_on_a_terminal_it_has_a_screen_of_its_own_and_gives_it_back(busy: Served) -> None:
    ours, its = os.openpty()
    try:
        with _live(busy, stdout=its) as live:
            os.close(its)
            shown = b""
            while shown.count(b"committed") < 2:
                ready, _, _ = select.select([ours], [], [], WITHIN_S)
                assert ready, shown
                shown += os.read(ours, 65_536)
            assert _interrupted(live) == (0, "")
        assert _ENTERS in shown
        assert _LEAVES in shown + os.read(ours, 65_536)
    finally:
        os.close(ours)


_ENTERS, _LEAVES = b"\x1b[?1049h", b"\x1b[?1049l"
"""What has a terminal show another screen, and again the one that it showed before."""


def _live(busy: Served, *arguments: str, stdout: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [AUTHORITY, "top", "--data", str(busy.data), "--interval", "0.1", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(PYTHONUNBUFFERED="1", TERM="xterm"),
    )


def _interrupted(live: subprocess.Popen[str]) -> tuple[int, str]:
    live.send_signal(signal.SIGINT)
    _, errors = live.communicate(timeout=WITHIN_S)
    return live.returncode, errors
