"""The files that ARCHITECTURE.md and CONTRIBUTING.md name are there, so that nobody looks for what was moved."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
FILES: Final = frozenset(
    f"/{path.relative_to(ROOT)}"
    for part in ("authority", "clients", "docs", "proto", "tests", "bench", "requirements")
    for path in (ROOT / part).rglob("*.*")
)
NAMED: Final = re.compile(r"(?<![\w/…])[\w./]*\w\.(?:py|sql|proto|cedar|cedarschema|md)\b")
OF_THE_DESIGN: Final = frozenset({"data.md", "stack.md", "api.md", "bootstrap.py"})
"""Notes that the project was built from, and what they name: spoken of, and not here."""


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_file_that_is_named_exists(document: str) -> None:
    named = set(NAMED.findall((ROOT / document).read_text(encoding="utf-8"))) - OF_THE_DESIGN

    missing = [one for one in sorted(named) if not ((ROOT / one).exists() or any(is_it(path, one) for path in FILES))]

    assert len(named) > 10
    assert missing == []


def is_it(path: str, named: str) -> bool:
    """Whether a path is what is named by its last parts."""
    return path.endswith(f"/{named}")
