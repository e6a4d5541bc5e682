"""Every `make TARGET` that is named, in pages, comments and messages, is a target that `make help` shows."""

import re
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[2]
READ: Final = (".md", ".py", ".yaml", ".proto", ".toml", ".ts")
FOLDERS: Final = ("authority", "bench", "clients", "conformance", "docs", "examples", "proto", "requirements", "tests")
NAMED: Final = re.compile(r"`make ([a-z][a-z-]*)")


def test_every_make_target_that_is_named_exists() -> None:
    shown = re.findall(r"^([a-z-]+):.*## ", (REPOSITORY / "Makefile").read_text("utf-8"), re.MULTILINE)
    files = [path for path in REPOSITORY.iterdir() if path.suffix in READ]
    files += [path for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*") if path.suffix in READ]

    absent = {
        f"{path.relative_to(REPOSITORY)}: make {name}"
        for path in files
        if "node_modules" not in path.parts and path.is_file() and path.name != Path(__file__).name
        for name in NAMED.findall(path.read_text("utf-8"))
        if name not in shown
    }

    assert absent == set()
