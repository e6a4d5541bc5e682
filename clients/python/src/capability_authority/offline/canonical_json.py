r"""Canonical JSON (RFC 8785), and the stricter rule for content.

Two rules are kept apart:

* `canonicalize` follows RFC 8785 to the letter. It writes the double 1e20 as `100000000000000000000` and a NUL as
  `\u0000`, as the published vectors do.
* `parse`, `require_canonical` and `canonical_content` apply the authority's rule for content (semantics §3), which is
  I-JSON (RFC 7493) and less: no NUL, no nesting deeper than `MAX_DEPTH`, no integer literal beyond ±(2^53-1).

The number rule follows from both. A document whose canonical form holds an integer literal beyond ±(2^53-1) can be
canonicalized and digested, but is no content: no reader could tell 2^53+1 rounded from 2^53 meant. Carry such numbers
as decimal strings. Whatever `canonical_content` returns, `require_canonical` takes.
"""

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, TypeAlias

import rfc8785

from capability_authority.offline.errors import JsonError, NonCanonicalJson

__all__ = [
    "MAX_DEPTH",
    "PROBLEMS",
    "JsonError",
    "JsonValue",
    "NonCanonicalJson",
    "canonical_content",
    "canonicalize",
    "is_canonical",
    "parse",
    "require_canonical",
]

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_DEPTH: Final = 32
"""Arrays and objects inside one another, the outermost counted: `[]` has depth 1 (semantics §10)."""

PROBLEMS: Final = frozenset(
    {
        "bad_utf8",
        "duplicate_key",
        "integer_out_of_range",
        "lone_surrogate",
        "not_canonical",
        "not_json",
        "nul",
        "number_out_of_range",
        "too_deep",
        "unsupported_type",
    }
)
"""Every word that `JsonError.problem` can be."""

_LARGEST_INTEGER: Final = 2**53 - 1
_LONGEST_INTEGER_LITERAL: Final = len(str(-_LARGEST_INTEGER))
_SHOWN_NAME_CHARACTERS: Final = 64
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# The closing quote is optional so that an unterminated string is consumed once, not tried again from every quote in it.
_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_BRACKET_STEP: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NO_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in _BRACKET_STEP)


def canonicalize(value: object) -> bytes:
    """The RFC 8785 bytes of a value made of None, bool, int, float, str, list, tuple and dict with str keys.

    Raises `JsonError`: integer_out_of_range (an int beyond ±(2^53-1), case D04), number_out_of_range (NaN, infinity),
    lone_surrogate, too_deep (cyclic, or beyond the interpreter's recursion), unsupported_type.
    """
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]  # judged by the library, value by value
    except rfc8785.IntegerDomainError:
        raise JsonError("integer_out_of_range") from None
    except rfc8785.FloatDomainError:
        raise JsonError("number_out_of_range") from None
    except UnicodeEncodeError:
        raise JsonError("lone_surrogate") from None
    except rfc8785.CanonicalizationError as error:
        in_text = isinstance(error.__cause__, UnicodeEncodeError)
        raise JsonError("lone_surrogate" if in_text else "unsupported_type") from None
    except RecursionError:
        raise JsonError("too_deep") from None


def parse(data: bytes, *, max_depth: int = MAX_DEPTH) -> JsonValue:
    """Read a JSON document that could be content, canonical or not; time and memory grow linearly with `data`.

    Raises `JsonError`: bad_utf8; not_json (also a byte order mark, NaN, trailing text, nothing at all); too_deep;
    duplicate_key (after unescaping, case D06); integer_out_of_range (a literal without fraction and exponent beyond
    ±(2^53-1), case D04); number_out_of_range (a literal that overflows to infinity); nul; lone_surrogate. Of several,
    the first in document order is named.
    """
    text = _decode(data)
    if _depth(data) > max_depth:
        raise JsonError("too_deep")
    reader = _Reader()
    try:
        value = reader.read(text)
        # A raw surrogate is bad UTF-8 and a raw NUL is no JSON, so only an escape can bring either in.
        found = _first_problem(value) if reader.refused or "\\u" in text else None
    except json.JSONDecodeError:
        raise JsonError("not_json") from None
    except RecursionError:
        # Only when `max_depth` was raised beyond what the interpreter can follow.
        raise JsonError("too_deep") from None
    if found is not None:
        raise JsonError(*found)
    return value  # type: ignore[return-value]  # no `_Refused` is left in it


def require_canonical(data: bytes, *, max_depth: int = MAX_DEPTH) -> JsonValue:
    """Read a document that must already be exactly its RFC 8785 form, as content must be (semantics §3).

    Raises `NonCanonicalJson` with any problem of `parse`, or not_canonical.
    """
    try:
        value = parse(data, max_depth=max_depth)
        written = canonicalize(value)
    except JsonError as error:
        raise NonCanonicalJson(error.problem, error.path) from None
    if written != data:
        raise NonCanonicalJson("not_canonical")
    return value


def is_canonical(data: bytes, *, max_depth: int = MAX_DEPTH) -> bool:
    """Whether `require_canonical` takes `data`."""
    try:
        require_canonical(data, max_depth=max_depth)
    except NonCanonicalJson:
        return False
    return True


def canonical_content(value: object, *, max_depth: int = MAX_DEPTH) -> bytes:
    """The bytes to propose and commit for `value`: its RFC 8785 form, once it is known to be acceptable content.

    Raises `JsonError` with any problem of `canonicalize` or `parse`.
    """
    data = canonicalize(value)
    parse(data, max_depth=max_depth)
    return data


@dataclass(frozen=True, slots=True)
class _Refused:
    """Stands in the tree for a value that is refused, until the walk has found its path."""

    problem: str
    below: str = ""
    """JSON pointer from the refused value to what is wrong in it."""


class _Reader:
    """The standard library's parser, with everything that it is too lenient about replaced by `_Refused`."""

    def __init__(self) -> None:
        self.refused = False

    def read(self, text: str) -> object:
        return json.loads(
            text,
            object_pairs_hook=self._members,
            parse_int=self._integer,
            parse_float=self._number,
            parse_constant=lambda _: self._refuse("not_json"),
        )

    def _refuse(self, problem: str, below: str = "") -> _Refused:
        self.refused = True
        return _Refused(problem, below)

    def _members(self, pairs: list[tuple[str, object]]) -> object:
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        counts = Counter(name for name, _ in pairs)
        repeated = next(name for name, count in counts.items() if count > 1)
        return self._refuse("duplicate_key", f"/{_shown_name(repeated)}")

    def _integer(self, literal: str) -> object:
        # The length first: converting a long literal takes quadratic time.
        if len(literal) <= _LONGEST_INTEGER_LITERAL and abs(value := int(literal)) <= _LARGEST_INTEGER:
            return value
        return self._refuse("integer_out_of_range")

    def _number(self, literal: str) -> object:
        value = float(literal)
        return value if math.isfinite(value) else self._refuse("number_out_of_range")


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise JsonError("bad_utf8") from None


def _depth(data: bytes) -> int:
    """How deep a parser would get, told from the brackets outside strings before anything recurses."""
    brackets = _STRING.sub(b"", data).translate(None, delete=_NO_BRACKETS)
    return max(accumulate(map(_BRACKET_STEP.__getitem__, brackets)), default=0)


def _first_problem(value: object) -> tuple[str, str] | None:
    """The first problem in document order and the JSON pointer to it. Recursion is bounded by `_depth`."""
    match value:
        case _Refused():
            return value.problem, value.below
        case str():
            return _text_problem(value)
        case list():
            members = ((str(index), item) for index, item in enumerate(value))
        case dict():
            members = ((name, item) for name, item in value.items())
        case _:
            return None
    for name, item in members:
        found = _text_problem(name) or _first_problem(item)
        if found is not None:
            problem, below = found
            return problem, f"/{_shown_name(name)}{below}"
    return None


def _text_problem(text: str) -> tuple[str, str] | None:
    if "\x00" in text:
        return "nul", ""
    if _SURROGATE.search(text) is not None:
        return "lone_surrogate", ""
    return None


def _shown_name(name: str) -> str:
    """A name as a segment of a JSON pointer (RFC 6901), printable and cut short."""
    cut = name if len(name) <= _SHOWN_NAME_CHARACTERS else name[:_SHOWN_NAME_CHARACTERS] + "…"
    return cut.encode("utf-8", "backslashreplace").decode("utf-8").replace("~", "~0").replace("/", "~1")
