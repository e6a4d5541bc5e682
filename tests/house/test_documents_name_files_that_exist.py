"""What a newcomer is sent to read is there: files that the documents for developers name exist."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
ELSEWHERE: Final = {"api.md", "data.md", "stack.md", "bootstrap.py", "buf.gen.yaml"}
"""Of the design notes, and what stands here by another name."""
SOURCES: Final = [
    "/" + file.relative_to(ROOT).as_posix()
    for folder in (
        *("authority", "bench", "clients/python", "clients/typescript/src", "clients/typescript/test", "conformance"),
        *("docs", "examples", "proto", "tests"),
    )
    for file in (ROOT / folder).rglob("*.*")
]


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/decisions.md"])
def test_every_file_that_a_document_names_is_there(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w…])[\w][\w./-]*\.(?:md|proto|py|sql|ts|yaml)\b", text)) - ELSEWHERE
    here = [*SOURCES, *(f"/{file.name}" for file in ROOT.glob("*.*"))]

    lost = {name for name in named if not any(file.endswith(f"/{name}") for file in here)}

    assert named
    assert lost == set()
