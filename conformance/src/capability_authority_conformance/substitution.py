"""`${name}`: what was saved or made before, in the texts of later steps (suite.proto)."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from capability_authority_conformance.paths import Absent, found
from capability_authority_conformance.values import Json

__all__ = ["CALLER", "Names", "NothingThere", "looked_up", "names_in", "replaced"]

Names = Mapping[str, Json]

CALLER: Final = "caller"
"""Within a call of many callers: the number of the one who calls."""
_REFERENCE: Final = re.compile(r"\$\{([^}]*)\}")
_NAME: Final = re.compile(r"([A-Za-z0-9_-]+)(\[caller\])?(?:\.([^{}]+))?")


class NothingThere(LookupError):
    """What a step names was never saved, or leads nowhere: the answer it was to come from had no such field."""


def names_in(value: Json) -> Iterator[str]:
    """Every name that is referred to, without its path. A malformed reference is given as it stands, braces and all."""
    match value:
        case str():
            for reference in _REFERENCE.finditer(value):
                parts = _NAME.fullmatch(reference[1])
                yield reference[0] if parts is None else parts[1]
        case list():
            for item in value:
                yield from names_in(item)
        case dict():
            for item in value.values():
                yield from names_in(item)
        case _:
            return


def looked_up(reference: str, names: Names) -> Json:
    """What `name`, `name.path` or `name[caller].path` stands for. Raises `NothingThere`."""
    parts = _NAME.fullmatch(reference)
    if parts is None or parts[1] not in names:
        raise NothingThere(f"nothing was saved under {reference!r}")
    value = names[parts[1]]
    path = parts[3] or ""
    if parts[2]:
        path = f"{names[CALLER]}.{path}" if path else str(names[CALLER])
    there = found(value, path)
    if isinstance(there, Absent):
        raise NothingThere(f"{reference!r} leads nowhere in what was saved")
    return there


def replaced(value: Json, names: Names) -> Json:
    """The value with every reference in its texts replaced. Raises `NothingThere`."""
    match value:
        case str():
            return _replaced_text(value, names)
        case list():
            return [replaced(item, names) for item in value]
        case dict():
            return {name: replaced(item, names) for name, item in value.items()}
        case _:
            return value


def _replaced_text(text: str, names: Names) -> Json:
    whole = _REFERENCE.fullmatch(text)
    if whole is not None:
        return looked_up(whole[1], names)
    return _REFERENCE.sub(lambda reference: _as_text(looked_up(reference[1], names)), text)


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)
