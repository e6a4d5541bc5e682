"""Who may call, and under which policy, as docs/operating.md shows it."""

from pathlib import Path

from tests.e2e.operator.operating import Run
from tests.installation.documented import examples


def test_what_the_documentation_shows_of_who_may_call_is_printed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "writer.json"

    for example in examples("docs/operating.md", "Who may call, and under which policy"):
        shown = run(*example.arguments(FILE=str(file)))
        assert shown.code == 0, shown.err
        assert not (difference := example.difference(shown.out + shown.err)), difference

    assert file.stat().st_mode & 0o777 == 0o600
