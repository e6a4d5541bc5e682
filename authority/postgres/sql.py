"""Named SQL statements, kept in `queries/*.sql`: a line `-- name: x`, a comment of intent, the statement."""

import re
from functools import cache
from importlib import resources

_NAME = re.compile(r"^-- name: ([a-z_]+)$", re.MULTILINE)


@cache
def queries() -> dict[str, str]:
    """Every statement by its name. Raises ValueError when a name is used twice."""
    found: dict[str, str] = {}
    for file in sorted(resources.files(__package__).joinpath("queries").iterdir(), key=lambda entry: entry.name):
        parts = _NAME.split(file.read_text(encoding="utf-8"))[1:]
        for name, sql in zip(parts[::2], parts[1::2], strict=True):
            if name in found:
                raise ValueError(f"two queries are named {name}")
            found[name] = sql.strip()
    return found


def query(name: str) -> str:
    """The statement of that name. Raises KeyError when there is none."""
    return queries()[name]
