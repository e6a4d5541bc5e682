"""The error table: with which code a reason comes, and whether the same call may be tried again.

It is the suite's own copy, in `error_table.json`: a target that changed its table would otherwise change its judge.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["DOMAIN", "OF_SHAPE", "Row", "error_table"]

DOMAIN: Final = "capability-authority"
"""`google.rpc.ErrorInfo.domain` of every refusal."""
OF_SHAPE: Final = frozenset({"MALFORMED", "LIMIT_EXCEEDED"})
"""Where a fact names a `field`, BadRequest names it too."""


@dataclass(frozen=True, slots=True)
class Row:
    """What the table says of one reason."""

    code: str
    retry: bool
    """Whether the status carries RetryInfo."""


@cache
def error_table() -> Mapping[str, Row]:
    """Every reason, in order of precedence: where two apply, the upper one answers."""
    text = files("capability_authority_conformance").joinpath("error_table.json").read_text("utf-8")
    return {row["reason"]: Row(row["code"], row["retry"]) for row in json.loads(text)["rows"]}
