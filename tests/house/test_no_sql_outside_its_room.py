"""All SQL stays in authority/postgres; that the drivers do, import-linter checks."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import authority

PACKAGE = Path(authority.__file__).parent
ROOM = PACKAGE / "postgres"
_SQL = re.compile(
    r"\b(select\s.+\sfrom|insert\s+into|update\s+\w+(\.\w+)?\s+set|delete\s+from|create\s+(table|role|database)"
    r"|set_config|pg_advisory)\b",
    re.IGNORECASE | re.DOTALL,
)


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Every module of the service outside the room."""
    for file in PACKAGE.rglob("*.py"):
        if ROOM not in file.parents:
            yield str(file.relative_to(PACKAGE)), ast.parse(file.read_text("utf-8"))


def documented(tree: ast.Module) -> set[ast.AST]:
    """The docstrings: they may speak of anything."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def test_no_sql_outside_its_room() -> None:
    found = [
        (name, node.value)
        for name, tree in modules()
        for node in set(ast.walk(tree)) - documented(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _SQL.search(node.value)
    ]
    assert found == []


def test_sql_is_recognised_where_it_is() -> None:
    # given the room itself, then the rule finds what it looks for
    files = [*ROOM.rglob("*.sql"), *ROOM.glob("*.py")]
    assert sum(bool(_SQL.search(file.read_text("utf-8"))) for file in files) > 10
