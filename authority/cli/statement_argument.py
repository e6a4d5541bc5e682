"""A statement as an argument of a command: a file, standard input, or the statement itself."""

import errno
import re
import sys
from pathlib import Path

from authority.cli.failures import Refused
from authority.cli.output import printable
from authority.domain.statement import Statement
from authority.signing.statement_forms import MOST_BYTES, NotAStatement, find_statement

_SHOWN_CHARACTERS = 80
_NO_FILES_NAME = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
"""Then the argument is the statement itself."""
_LONGEST_NAME = 255
"""Of a path that is mistaken for a statement: base64 has slashes too, and no statement is as short."""
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}")


def find_argument(source: str) -> Statement:
    """The one statement in a file, on standard input (`-`), or in the argument itself. Raises Refused, OSError."""
    try:
        return find_statement(_bytes(source))
    except NotAStatement as error:
        why = "there is no such file" if _names_no_file(source) else error
        raise Refused(f"{_shown(source)}: {why}") from None


def _names_no_file(source: str) -> bool:
    """Whether the argument was meant as a path, to where nothing is."""
    if source.lstrip().startswith(("{", "[")) or len(source) > _LONGEST_NAME or "\0" in source:
        return False
    looks_so = "/" in source or _SUFFIX.fullmatch(Path(source).suffix) is not None
    return looks_so and not Path(source).exists()


def _shown(source: str) -> str:
    if source in ("", "-"):
        return "standard input" if source else "the statement"
    return printable(source if len(source) <= _SHOWN_CHARACTERS else f"{source[:_SHOWN_CHARACTERS]}…")


def _bytes(source: str) -> bytes:
    """No more than one byte beyond what a statement could have: enough to say that it is too long."""
    if source == "-":
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    if not source:
        return b""  # The path of nothing is this folder.
    try:
        with Path(source).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except ValueError:
        pass  # It holds a NUL.
    except OSError as error:
        if error.errno not in _NO_FILES_NAME:
            raise
    return source.encode(errors="surrogateescape")
