"""What a grant allows, as an option that is given once for each dimension: `--only uses=3 --only tools=search`."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from authority.cli.failures import Misused
from authority.domain import limits
from authority.domain.grant import AMOUNT_DIMENSIONS, EXACT_DIMENSIONS, FLAG_DIMENSIONS, SELECTOR_DIMENSIONS

Term: TypeAlias = "list[str] | int | bool"

_LISTS: Final = (*EXACT_DIMENSIONS, *SELECTOR_DIMENSIONS)
_DEPTH: Final = "delegation_depth"
DIMENSIONS: Final = (*_LISTS, *AMOUNT_DIMENSIONS, *FLAG_DIMENSIONS, _DEPTH)
_FLAGS: Final = {"yes": True, "no": False}


def parse_terms(texts: Sequence[str]) -> dict[str, Term]:
    """The dimensions that are named: lists of names divided by commas, amounts, and `yes` or `no`. Raises Misused.

    A list may be empty, `tools=`: it denies all. Given again, a list grows; nothing else is given twice.
    """
    terms: dict[str, Term] = {}
    for text in texts:
        dimension, sign, value = text.partition("=")
        if not sign or dimension not in DIMENSIONS:
            raise Misused(f"{text!r} is not DIMENSION=VALUE with a dimension of: {', '.join(DIMENSIONS)}")
        term, before = _term(dimension, value), terms.get(dimension)
        if isinstance(term, list) and isinstance(before, list):
            term = [*before, *term]
        elif before is not None:
            raise Misused(f"{dimension} is given twice")
        terms[dimension] = term
    return terms


def _term(dimension: str, value: str) -> Term:
    if dimension in _LISTS:
        return [name for name in value.split(",") if name]
    if dimension in FLAG_DIMENSIONS:
        if value not in _FLAGS:
            raise Misused(f"{dimension} is yes or no, not {value!r}")
        return _FLAGS[value]
    most = limits.DELEGATION_DEPTH if dimension == _DEPTH else limits.INT64_MAX
    if not (value.isascii() and value.isdigit() and int(value) <= most):
        raise Misused(f"{dimension} is a whole number from 0 to {most}, not {value!r}")
    return int(value)
