"""Every command that the documentation shows with its output is run by a test, which names document and heading."""

from pathlib import Path
from typing import Final

import pytest

from tests.installation.documented import Example, examples, sections

ROOT: Final = Path(__file__).parents[2]
DOCUMENTS: Final = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("**/*.md"))
TESTS: Final = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py"))]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_under_a_heading_are_run_by_a_test_that_names_it(document: str) -> None:
    shown = [heading for heading, text in sections(document) if "```console" in text]

    untested = [heading for heading in shown if not any(f'"{document}", "{heading}"' in test for test in TESTS)]

    assert untested == [], f"no test calls examples({document!r}, …) for these headings"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_block_of_commands_can_be_read(document: str) -> None:
    for heading, text in sections(document):
        if "```console" in text:
            assert all(example.arguments() for example in examples(document, heading))


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (("a  b",), "a b\n", True),
        (("a b",), "a c\n", False),
        (("took … s",), "took 1.5 s\n", True),
        (("took … s",), "took 1.5 s\nand more\n", False),
        (("a", "…", "z"), "a\nb\nc\nz\n", True),
        (("a", "…", "z"), "a\nz\n", True),
        (("a", "…", "z"), "a\nb\n", False),
        ((), "", True),
        ((), "anything\n", False),
        (("a.c",), "abc\n", False),
    ],
)
def test_what_is_printed_is_what_is_shown(shown: tuple[str, ...], printed: str, *, same: bool) -> None:
    assert (Example("authority x", shown).difference(printed) == "") is same
