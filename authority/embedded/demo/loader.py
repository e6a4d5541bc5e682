"""Reads the demo's data, which is package data."""

from importlib import resources
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from authority.embedded.demo.lines import DemoProposal, DemoTenant

Line = TypeVar("Line")


class DemoDataError(ValueError):
    """A line of the demo's data is not what it should be; the message names file, line and field."""


def load_proposals() -> tuple[DemoProposal, ...]:
    """The proposals in the order in which they are to be run. Raises DemoDataError."""
    return read_lines("proposals.jsonl", _shipped("proposals.jsonl"), TypeAdapter(DemoProposal))


def load_tenants() -> tuple[DemoTenant, ...]:
    """The firms. Raises DemoDataError."""
    return read_lines("tenants.jsonl", _shipped("tenants.jsonl"), TypeAdapter(DemoTenant))


def read_lines(name: str, text: str, adapter: TypeAdapter[Line]) -> tuple[Line, ...]:
    """One value a line of `text`; `name` is what the file is called when a line is wrong. Raises DemoDataError."""
    lines = enumerate(text.removesuffix("\n").split("\n"), start=1)
    return tuple(_read_line(f"{name} line {number}", line, adapter) for number, line in lines)


def _read_line(place: str, line: str, adapter: TypeAdapter[Line]) -> Line:
    try:
        return adapter.validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DemoDataError(f"{place}{f', {field}' if field else ''}: {first['msg']}") from error


def _shipped(name: str) -> str:
    return resources.files("authority.embedded.demo").joinpath(name).read_text(encoding="utf-8")
