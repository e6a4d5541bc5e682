"""YAML of which nothing is guessed: no duplicate keys, no anchors, no tags, and only true and false are booleans."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import yaml

from capability_authority_conformance.values import Json

__all__ = ["Document", "YamlRefused", "read_yaml"]

_MOST_DEPTH: Final = 64
_LARGEST_INTEGER: Final = 2**53 - 1
"""Beyond it a number of JSON is no longer told from its neighbours."""
_LONGEST_NUMBER: Final = 40


class YamlRefused(Exception):
    """The text is no such YAML."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


@dataclass(frozen=True, slots=True)
class Document:
    """A document, and the line on which each of its values stands, by its path from the top."""

    value: Json
    lines: Mapping[tuple[str | int, ...], int]

    def line(self, *path: str | int) -> int:
        """The line of the value at the path, or of the nearest one around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # PyYAML ships no types
    """Scalars as JSON has them: `no`, `on`, `2026-01-01` and `1:30` are texts."""


_Loader.yaml_implicit_resolvers = {}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(?:null|~|)$"), ["n", "~", ""])
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^-?(?:0|[1-9][0-9]*)$"), list("-0123456789"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^-?(?:0|[1-9][0-9]*)\.[0-9]+$"), list("-0123456789")
)


def read_yaml(text: str) -> Document:
    """Read one document. Raises `YamlRefused` with the line."""
    try:
        _go_through(text)
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlRefused(mark.line + 1 if mark else 1, f"no YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise YamlRefused(1, f"no YAML: {error}") from None
    if node is None:
        raise YamlRefused(1, "nothing is written there")
    lines: dict[tuple[str | int, ...], int] = {}
    return Document(_value(node, (), lines), lines)


def _go_through(text: str) -> None:
    """Refuses what is not read here before anything is built of it, which recurses."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1
        if getattr(event, "anchor", None) or getattr(event, "tag", None):
            raise YamlRefused(line, "anchors, aliases and tags are not read here")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MOST_DEPTH:
            raise YamlRefused(line, f"lists and mappings stand more than {_MOST_DEPTH} deep in each other")


def _value(node: yaml.Node, path: tuple[str | int, ...], lines: dict[tuple[str | int, ...], int]) -> Json:
    line = node.start_mark.line + 1
    lines[path] = line
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, index), lines) for index, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, lines)
    tag, text = node.tag, str(node.value)
    if tag.endswith(":bool"):
        return text == "true"
    if tag.endswith(":null"):
        return None
    return text if tag.endswith(":str") else _number(tag, text, line)


def _number(tag: str, text: str, line: int) -> Json:
    """A number that JSON holds as it is written."""
    # The length first: converting a long one takes long, or is refused.
    if len(text) <= _LONGEST_NUMBER:
        number: int | float = int(text) if tag.endswith(":int") else float(text)
        if math.isfinite(number) and (isinstance(number, float) or abs(number) <= _LARGEST_INTEGER):
            return number
    raise YamlRefused(line, f"the number {text[:_LONGEST_NUMBER]} is too large, or too long; write a text")


def _mapping(
    node: yaml.MappingNode, path: tuple[str | int, ...], lines: dict[tuple[str | int, ...], int]
) -> dict[str, Json]:
    members: dict[str, Json] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise YamlRefused(line, "a key is no text")
        key = str(key_node.value)
        if key in members:
            raise YamlRefused(line, f"the key {key!r} stands there twice")
        members[key] = _value(value_node, (*path, key), lines)
        lines[(*path, key)] = line
    return members
