"""The part of JSON Schema (2020-12) that the schemas of vectors use.

What a schema says beyond it is an error, never ignored: a rule that nobody checks is worse than none.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

__all__ = ["Problem", "SchemaError", "problems"]

Problem = tuple[str, str]
"""Where in the document, as `groups/0/tests/3/payload`, and what is wrong there."""

_KNOWN: Final = frozenset(
    {
        "$comment",
        "$defs",
        "$id",
        "$ref",
        "$schema",
        "additionalProperties",
        "const",
        "description",
        "enum",
        "items",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
        "uniqueItems",
    }
)
_SHOWN_CHARACTERS: Final = 80


class SchemaError(ValueError):
    """A schema that says what is not checked here, or refers to what is not there."""


def problems(schema: Mapping[str, Any], document: object, schemas: Mapping[str, Any]) -> Iterator[Problem]:
    """Everything in which the document breaks the schema. `schemas` are those that it may refer to, by file name.

    Raises `SchemaError`.
    """
    yield from _Judge(schemas).judge(schema, document, "")


class _Judge:
    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self._schemas = schemas

    def judge(self, schema: Mapping[str, Any], value: object, path: str) -> Iterator[Problem]:
        if unknown := set(schema) - _KNOWN:
            raise SchemaError(f"the schema of {path or 'the document'} says what is not checked: {sorted(unknown)}")
        if "$ref" in schema:
            yield from self.judge(self._resolved(schema["$ref"]), value, path)
        if "type" in schema and not _is_of_type(value, schema["type"]):
            yield path, f"must be {_in_words(schema['type'])}, is {_shown(value)}"
            return
        yield from _wrong_value(schema, value, path)
        if isinstance(value, dict):
            yield from self._members(schema, value, path)
        if isinstance(value, list):
            yield from self._items(schema, value, path)

    def _members(self, schema: Mapping[str, Any], value: dict[str, Any], path: str) -> Iterator[Problem]:
        properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        for name in schema.get("required", ()):
            if name not in value:
                yield path, f"lacks {name!r}"
        for name, member in value.items():
            below = f"{path}/{name}" if path else name
            if name in properties:
                yield from self.judge(properties[name], member, below)
            elif others is False:
                yield path, f"has {name!r}, which is not known"
            elif others is not True:
                yield from self.judge(others, member, below)

    def _items(self, schema: Mapping[str, Any], value: list[Any], path: str) -> Iterator[Problem]:
        if len(value) < schema.get("minItems", 0):
            yield path, f"has fewer than {schema['minItems']} items"
        if schema.get("uniqueItems") and len({repr(item) for item in value}) != len(value):
            yield path, "has an item twice"
        if "items" in schema:
            for index, item in enumerate(value):
                yield from self.judge(schema["items"], item, f"{path}/{index}")

    def _resolved(self, reference: str) -> Mapping[str, Any]:
        name, _, pointer = reference.partition("#/$defs/")
        try:
            found: Mapping[str, Any] = self._schemas[name]["$defs"][pointer]
        except KeyError:
            raise SchemaError(f"there is no {reference}") from None
        return found


def _wrong_value(schema: Mapping[str, Any], value: object, path: str) -> Iterator[Problem]:
    if "const" in schema and value != schema["const"]:
        yield path, f"must be {schema['const']!r}, is {_shown(value)}"
    if "enum" in schema and value not in schema["enum"]:
        yield path, f"must be one of {schema['enum']}, is {_shown(value)}"
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            yield path, "must not be empty"
        if "pattern" in schema and re.search(_in_python(schema["pattern"]), value) is None:
            yield path, f"must match {schema['pattern']}, is {_shown(value)}"
    if isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield path, f"is out of range: {value}"


def _in_python(pattern: str) -> str:
    r"""The pattern as JSON Schema means it: in Python alone, a last `$` lets a line feed pass."""
    return re.sub(r"(?<!\\)\$\Z", r"\\Z", pattern)


def _is_of_type(value: object, types: str | list[str]) -> bool:
    return any(_is(value, name) for name in ([types] if isinstance(types, str) else types))


def _is(value: object, name: str) -> bool:
    match name:
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "null":
            return value is None
        case _:
            raise SchemaError(f"{name} is no type that is checked")


def _in_words(types: str | list[str]) -> str:
    return types if isinstance(types, str) else " or ".join(types)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
