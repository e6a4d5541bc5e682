"""A golden vector is a promise: what is pinned in frozen_vectors.txt says tomorrow what it says today.

From the first release on every vector is pinned. To pin new ones, and never to change a line, run this file:
``.venv/bin/python tests/house/test_vectors_are_frozen.py FILE…`` with names such as ``statements``.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parents[2] / "conformance" / "vectors"
PINNED = Path(__file__).with_name("frozen_vectors.txt")
SHOWN_ONLY = ("comment", "flags")
"""Members that may be worded better."""
CHANGED = "changed, or gone: a vector that others have run is never edited. Put it back, and add another behind it"


def promises(file: str) -> dict[str, str]:
    """`file id` of every vector of a file, with the SHA-256 of what it asks and of what its group shares."""
    document = json.loads((VECTORS / f"{file}.json").read_text("utf-8"))
    return {
        f"{file} {test['id']}": digest({**group, "tests": None, "about": None}, test)
        for group in document["groups"]
        for test in group["tests"]
    }


def digest(group: dict[str, Any], test: dict[str, Any]) -> str:
    asked = {name: value for name, value in test.items() if name not in SHOWN_ONLY}
    return hashlib.sha256(json.dumps([group, asked], sort_keys=True).encode()).hexdigest()


def pinned() -> dict[str, str]:
    lines = (line.split() for line in PINNED.read_text("utf-8").splitlines())
    return {f"{file} {name}": promise for file, name, promise in lines}


def test_frozen_vectors_are_as_they_were() -> None:
    promised = pinned()
    current: dict[str, str] = {}
    for file in sorted({name.split()[0] for name in promised}):
        current |= promises(file)

    changed = [name for name, promise in promised.items() if current.get(name) != promise]

    assert changed == [], CHANGED


def test_a_statement_of_every_kind_is_frozen() -> None:
    document = json.loads((VECTORS / "statements.json").read_text("utf-8"))
    valid = {test["id"] for group in document["groups"] for test in group["tests"] if test["result"] == "valid"}

    assert {f"statements {name}" for name in valid} <= set(pinned())


if __name__ == "__main__":
    kept = pinned() if PINNED.exists() else {}
    for added in sys.argv[1:]:
        kept = promises(added) | kept
    PINNED.write_text("".join(f"{name} {promise}\n" for name, promise in sorted(kept.items())), "utf-8")
