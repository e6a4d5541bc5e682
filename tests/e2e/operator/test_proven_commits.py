"""A commit that an envelope of upstream proves, as the documentation shows it, on an authority that one can be for."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from authority.cli.child import Child
from tests.installation.documented import ROOT, examples
from tests.unit.cli.running import ran

PAGE = (ROOT / "docs/upstream.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data folder of an authority whose audience is one of upstream's."""
    folder = tmp_path_factory.mktemp("upstream")
    child = Child.start(
        ["--data", str(folder), "--listen", "127.0.0.1:0"],
        folder / "serve.log",
        {"AUTHORITY_AUDIENCE": "ruflo.memory"},
    )
    yield folder
    child.end()


def test_a_commit_by_an_envelope_is_as_documented(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # given the script of the page
    (script,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    credentials = folder / "credentials"
    named = {
        "AUTHORITY_CREDENTIALS": str(credentials / "harbour-books-service.json"),
        "USER_CREDENTIALS": str(credentials / "harbour-books-user.json"),
    }

    # when it runs, then it prints a record
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **named},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")

    # which the commands tell of as the page says
    for example in examples("docs/upstream.md", "What proved a commit"):
        shown = ran(capsys, *example.arguments(RECORD=done.stdout.strip()), "--data", str(folder))
        assert (shown.code, example.difference(shown.out)) == (0, ""), shown
