"""Whether a regular expression of a case is judged in time, whatever the target answers."""

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["pattern_problems"]

_MOST_VARIABLE: Final = 2
_MOST_ALTERNATIVES: Final = 8
_LONGEST: Final = 256
_PLAIN: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?", re.DOTALL)
"""What no repetition hides in: an escaped character, a set of them, the beginning of a special group."""
_REPEATED_GROUP: Final = re.compile(r"\)[*+?{]")
_VARIABLE: Final = re.compile(r"[*+?]|\{\d*,\d*\}")


def pattern_problems(pattern: str) -> Iterator[str]:
    """Why it is none, or one that some text keeps busy for ever: Python tries every way in which it could match."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        yield f"is no regular expression: {error}"
        return
    bare = _PLAIN.sub("x", pattern)
    if len(pattern) > _LONGEST:
        yield f"has more than {_LONGEST} characters"
    if _REPEATED_GROUP.search(bare):
        yield "repeats a group, which can take for ever"
    if len(_VARIABLE.findall(bare)) > _MOST_VARIABLE or bare.count("|") > _MOST_ALTERNATIVES:
        most = f"{_MOST_VARIABLE} repetitions, or {_MOST_ALTERNATIVES} alternatives"
        yield f"has more than {most}, which can take for ever"
