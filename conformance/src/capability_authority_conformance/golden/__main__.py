"""Writes every file of vectors: `python -m capability_authority_conformance.golden FOLDER`."""

import sys
from pathlib import Path

from capability_authority_conformance.golden.files import generated


def main(arguments: list[str]) -> int:
    """Writes the files into the one folder that is named; the exit code."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m capability_authority_conformance.golden FOLDER\n")
        return 2
    folder = Path(arguments[0])
    for name, text in generated().items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
