"""The strings of a JSON document, however deep it is: nobody has judged the form of what is put as evidence."""

import json
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Final

NAME: Final = None
"""What stands in place of a name where the string is one itself."""


def json_strings(text: str) -> list[tuple[str | None, str]]:
    """Each string of the document with the name that it stands under, "" for none, and each name with `NAME`.

    In the order of the document. Raises ValueError and RecursionError for what cannot be read.
    """
    return list(_walked(json.loads(text)))


def _walked(document: object) -> Iterator[tuple[str | None, str]]:
    """One loop for all depths: generators within generators would hand each string up through all of them."""
    under_way: list[tuple[bool, Iterator[tuple[str, object]]]] = [(False, iter([("", document)]))]
    while under_way:
        is_object, members = under_way[-1]
        name, value = next(members, ("", _END))
        if value is _END:
            under_way.pop()
            continue
        if is_object:
            yield NAME, name
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, dict):
            under_way.append((True, iter(value.items())))
        elif isinstance(value, list):
            under_way.append((False, _under(name, value)))


def _under(name: str, values: Iterable[object]) -> Iterator[tuple[str, object]]:
    return zip(repeat(name), values, strict=False)


_END: Final = object()
