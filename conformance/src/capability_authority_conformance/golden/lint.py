"""Finds vectors that are malformed themselves, before anything is run on them.

A vector that says less than it should, or nothing that is checked, would pass with every implementation.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from capability_authority_conformance.golden.json_schema import problems

__all__ = ["Complaint", "lint_vectors"]

_SCHEMAS: Final = "schemas"
_SUFFIX: Final = ".schema.json"
_SHARED_SCHEMA: Final = "common.schema.json"
_UNUSABLE: Final = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, re.error)
"""What a schema that is none ends with, or one that lets through what the judgement after it cannot be made of."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is wrong with a file, and where in it: a test by its id, else the place as `groups/0/key`."""

    file: str
    place: str
    problem: str

    def __str__(self) -> str:
        """In one line."""
        return f"{self.file}: {self.place}: {self.problem}" if self.place else f"{self.file}: {self.problem}"


def lint_vectors(folder: Path) -> list[Complaint]:
    """Everything that is wrong with the files of vectors in a folder; an empty list when they can be run.

    Each must have the form of its schema, in `schemas/`, and hold together: ids are unique in a file, every flag that
    is used is defined and every one that is defined is used, the number of tests is right, what is invalid has a reason
    and what is valid has none, and more tests are invalid than valid.
    """
    schemas = {path.name: path for path in sorted((folder / _SCHEMAS).glob(f"*{_SUFFIX}"))}
    files = sorted(folder.glob("*.json"))
    complaints = [complaint for path in files for complaint in _of_file(path, schemas)]
    if not files:
        complaints.append(Complaint(str(folder), "", "holds no vectors"))
    unused = set(schemas) - {_SHARED_SCHEMA} - {f"{path.stem}{_SUFFIX}" for path in files}
    return complaints + [Complaint(name, "", "is the schema of no file") for name in sorted(unused)]


def _of_file(path: Path, schemas: Mapping[str, Path]) -> Iterator[Complaint]:
    try:
        document = json.loads(path.read_text("utf-8"), object_pairs_hook=_without_repetition)
    except (OSError, ValueError, RecursionError) as error:
        yield Complaint(path.name, "", f"is no JSON: {error}")
        return
    name = f"{path.stem}{_SUFFIX}"
    if name not in schemas:
        yield Complaint(path.name, "", f"has no schema {_SCHEMAS}/{name}")
        return
    try:
        loaded = {each: json.loads(schemas[each].read_text("utf-8")) for each in (name, _SHARED_SCHEMA)}
        found = [(_place(document, where), what) for where, what in problems(loaded[name], document, loaded)]
        # What has not the form of its schema cannot be asked whether it holds together.
        found = found or list(_incoherent(path, document))
    except _UNUSABLE as error:
        yield Complaint(name, "", f"cannot be used: {error}")
        return
    for where, what in found:
        yield Complaint(path.name, where, what)


def _without_repetition(members: list[tuple[str, Any]]) -> dict[str, Any]:
    if twice := [name for name, count in Counter(name for name, _ in members).items() if count > 1]:
        raise ValueError(f"{twice[0]!r} stands twice in one object")
    return dict(members)


def _place(document: Any, path: str) -> str:  # noqa: ANN401 - JSON of any shape
    """The path, with the test's id where it leads into a test that has one."""
    parts = path.split("/")
    if parts[:1] != ["groups"] or parts[2:3] != ["tests"] or len(parts) < 4:  # noqa: PLR2004 - groups/0/tests/0
        return path
    test = document["groups"][int(parts[1])]["tests"][int(parts[3])]
    name = test.get("id") if isinstance(test, dict) else None
    return f"{path} (test {name!r})" if name else path


def _incoherent(path: Path, document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    tests = [test for group in document["groups"] for test in group["tests"]]
    if document["schema"] != f"{_SCHEMAS}/{path.stem}{_SUFFIX}":
        yield "schema", f"must name {_SCHEMAS}/{path.stem}{_SUFFIX}"
    if document["number_of_tests"] != len(tests):
        yield "number_of_tests", f"says {document['number_of_tests']}, and there are {len(tests)}"
    for name, count in Counter(test["id"] for test in tests).items():
        if count > 1:
            yield f"test {name!r}", f"has an id that {count} tests have"
    yield from _incoherent_flags(document["notes"], tests)
    yield from _incoherent_results(tests)


def _incoherent_flags(notes: Mapping[str, Any], tests: list[Any]) -> Iterator[tuple[str, str]]:
    used = {flag for test in tests for flag in test["flags"]}
    for test in tests:
        for flag in test["flags"]:
            if flag not in notes:
                yield f"test {test['id']!r}", f"has the flag {flag!r}, which is not in notes"
    for flag in sorted(set(notes) - used):
        yield f"notes/{flag}", "is a flag that no test has"


def _incoherent_results(tests: list[Any]) -> Iterator[tuple[str, str]]:
    for test in tests:
        if (test["result"] == "valid") != (test["reason"] is None):
            yield f"test {test['id']!r}", f"is {test['result']}, and its reason is {test['reason']!r}"
    results = Counter(test["result"] for test in tests)
    if results["invalid"] <= results["valid"]:
        yield "", f"has {results['invalid']} invalid and {results['valid']} valid tests: more must be invalid"
    if not results["valid"]:
        yield "", "has no valid test: whoever refuses everything would pass"
