"""`authority demo --kill`, as the documentation shows it."""

from pathlib import Path

from tests.e2e.commands import authority
from tests.installation.documented import examples


def test_f10_a06_the_service_is_killed_amid_a_commit_and_there_is_one_of_each(tmp_path: Path) -> None:
    (example,) = examples("docs/inspecting.md", "What if the service dies in the middle of a commit?")

    done = authority(*example.arguments(), cwd=tmp_path, TMPDIR=str(tmp_path))

    assert (done.returncode, example.difference(done.stderr + done.stdout)) == (0, "")
    assert list(tmp_path.iterdir()) == []
