"""`authority policies check`: a bundle is judged without loading it."""

from pathlib import Path

import pytest

from authority.policy.bundle import bundle_version, default_bundle
from tests.unit.cli.running import ran


def test_the_shipped_bundle_is_good(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "default.cedar"
    file.write_text(default_bundle())

    result = ran(capsys, "policies", "check", str(file), "--json")

    assert result.code == 0
    assert result.document == {"version": f"sha256:{bundle_version(default_bundle()).hex()}", "problems": []}


def test_every_problem_is_told_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bad.cedar"
    file.write_text(
        'permit (principal, action, resource);\n\n@id("a")\npermit (principal, action, resource) when { no };\n'
    )

    shown = ran(capsys, "policies", "check", str(file))
    told = ran(capsys, "policies", "check", str(file), "--json")

    assert shown.code == told.code == 1
    assert f"{file}: line 3: " in shown.err
    assert any(problem.startswith("line 3: ") for problem in told.document["problems"])


@pytest.mark.parametrize(
    ("content", "why"), [(b"\xff", "is not UTF-8"), (b"x" * 100_000, "has more than 65,536 bytes")]
)
def test_what_is_no_bundle_is_refused(
    content: bytes, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.cedar"
    file.write_bytes(content)

    assert why in ran(capsys, "policies", "check", str(file)).sentence


def test_a_file_that_is_missing_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    result = ran(capsys, "policies", "check", "/nothing.cedar")

    assert result.code == 2
    assert result.sentence.startswith("Invalid value for 'FILE': file '/nothing.cedar' does not exist.")
