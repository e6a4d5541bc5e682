"""Every named query is used, and every name that is used is a query."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import authority.postgres
from authority.postgres.sql import queries, query

ROOM = Path(authority.postgres.__file__).parent


def strings() -> Iterator[str]:
    """Every text in the code of the room."""
    for file in ROOM.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def asked() -> Iterator[str]:
    """The names in calls of `query`, where they stand there as they are."""
    for file in ROOM.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "query":
                yield from (str(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant))


def test_queries_are_all_used() -> None:
    assert queries().keys() - set(strings()) == set()


def test_used_names_are_all_queries() -> None:
    names = list(asked())
    assert names
    assert set(names) - queries().keys() == set()


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError):
        query("no_such_query")


def test_queries_list_their_columns() -> None:
    # A column added later must not change what a running process reads.
    assert [name for name, sql in queries().items() if "select *" in sql or "returning *" in sql] == []
