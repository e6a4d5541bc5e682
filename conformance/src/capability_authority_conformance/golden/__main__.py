"""Writes every file of vectors: `python -m capability_authority_conformance.golden FOLDER`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from capability_authority_conformance.golden.files import generated

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the files into the one folder that is named; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m capability_authority_conformance.golden",
        description="Write every file of golden vectors; what is in the folder under their names is replaced.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="one that is there")
    folder = parser.parse_args(arguments).folder
    if not folder.is_dir():
        parser.error(f"there is no folder {folder}")
    for name, text in generated().items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
