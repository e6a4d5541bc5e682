"""Vectors that are malformed themselves fail the linter, which says where, and never whoever runs them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capability_authority_conformance.golden.json_schema import SchemaError, problems
from capability_authority_conformance.golden.lint import lint_vectors
from tests.vectors.vector_runs import GOLDEN

FILE = "digests.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One file of vectors and its schemas, to be spoiled."""
    schemas = tmp_path / "schemas"
    schemas.mkdir()
    shutil.copy(GOLDEN / FILE, tmp_path)
    for name in ("digests.schema.json", "common.schema.json"):
        shutil.copy(GOLDEN / "schemas" / name, schemas)
    return tmp_path


def complaints(folder: Path) -> list[str]:
    return [str(complaint) for complaint in lint_vectors(folder)]


def spoil(folder: Path, change: Callable[[Any], object], name: str = FILE) -> None:
    """Writes the file again, changed in place."""
    document = json.loads((folder / name).read_text("utf-8"))
    change(document)
    (folder / name).write_text(json.dumps(document), "utf-8")


def first(document: Any) -> Any:
    """The first test, "content"."""
    return document["groups"][0]["tests"][0]


def test_sound_vectors_have_no_complaints(folder: Path) -> None:
    assert complaints(folder) == []


IN_TEST = "digests.json: groups/0/tests/0"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda d: first(d).pop("digest"), f"{IN_TEST} (test 'content'): lacks 'digest'"),
        (lambda d: first(d).pop("id"), f"{IN_TEST}: lacks 'id'"),
        (
            lambda d: first(d).update(extra=1),
            f"{IN_TEST} (test 'content'): has 'extra', which is not known",
        ),
        (
            lambda d: first(d).update(content="ABC"),
            f"{IN_TEST}/content (test 'content'): must match ^([0-9a-f]{{2}})*$, is 'ABC'",
        ),
        (
            lambda d: first(d).update(content="ab\n"),
            f"{IN_TEST}/content (test 'content'): must match ^([0-9a-f]{{2}})*$, is 'ab\\n'",
        ),
        (
            lambda d: first(d).update(result="acceptable"),
            f"{IN_TEST}/result (test 'content'): must be one of ['valid', 'invalid'], is 'acceptable'",
        ),
        (lambda d: first(d).update(comment=""), f"{IN_TEST}/comment (test 'content'): must not be empty"),
        (
            lambda d: first(d).update(flags=[]),
            f"{IN_TEST}/flags (test 'content'): has fewer than 1 items",
        ),
        (
            lambda d: first(d).update(flags=["Ordinary", "Ordinary"]),
            f"{IN_TEST}/flags (test 'content'): has an item twice",
        ),
        (lambda d: d["groups"].__setitem__(0, 7), "digests.json: groups/0: must be object, is 7"),
        (lambda d: d.update(number_of_tests=True), "digests.json: number_of_tests: must be integer, is True"),
        (lambda d: d.update(number_of_tests=0), "digests.json: number_of_tests: is out of range: 0"),
        (lambda d: d["notes"]["Ordinary"].pop("effect"), "digests.json: notes/Ordinary: lacks 'effect'"),
    ],
)
def test_what_has_not_the_form_of_its_schema_is_told_with_its_place(
    folder: Path, change: Callable[[Any], object], complaint: str
) -> None:
    spoil(folder, change)

    assert complaints(folder) == [complaint]


def make_all_valid(document: Any) -> None:
    for group in document["groups"]:
        for test in group["tests"]:
            test.update(result="valid", reason=None)


def make_all_invalid(document: Any) -> None:
    for group in document["groups"]:
        for test in group["tests"]:
            test.update(result="invalid", reason="mismatch")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda d: first(d).update(id="nothing"), "digests.json: test 'nothing': has an id that 2 tests have"),
        (
            lambda d: first(d).update(flags=["Unheard"]),
            "digests.json: test 'content': has the flag 'Unheard', which is not in notes",
        ),
        (
            lambda d: d["notes"].update(Spare=d["notes"]["Ordinary"]),
            "digests.json: notes/Spare: is a flag that no test has",
        ),
        (
            lambda d: d["groups"][0]["tests"].pop(),
            "digests.json: number_of_tests: says 19, and there are 18",
        ),
        (
            lambda d: first(d).update(reason="mismatch"),
            "digests.json: test 'content': is valid, and its reason is 'mismatch'",
        ),
        (
            lambda d: first(d).update(result="invalid"),
            "digests.json: test 'content': is invalid, and its reason is None",
        ),
        (make_all_valid, "digests.json: has 0 invalid and 19 valid tests: more must be invalid"),
        (make_all_invalid, "digests.json: has no valid test: whoever refuses everything would pass"),
    ],
)
def test_what_does_not_hold_together_is_told_with_its_place(
    folder: Path, change: Callable[[Any], object], complaint: str
) -> None:
    spoil(folder, change)

    assert complaints(folder) == [complaint]


@pytest.mark.parametrize(
    "text", ["", "{", "[1,", '{"a":1,"a":1}', "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")]
)
def test_what_is_no_json_is_told(folder: Path, text: str) -> None:
    (folder / FILE).write_text(text, "latin-1")

    (complaint,) = complaints(folder)

    assert complaint.startswith("digests.json: is no JSON: ")


@pytest.mark.parametrize("text", ["null", "[]", "1", '"a"'])
def test_what_is_json_and_no_file_of_vectors_is_told(folder: Path, text: str) -> None:
    (folder / FILE).write_text(text, "utf-8")

    (complaint,) = complaints(folder)

    assert complaint.startswith("digests.json: must be object, is ")


def test_files_and_schemas_come_in_pairs(folder: Path) -> None:
    (folder / FILE).rename(folder / "digest.json")

    assert complaints(folder) == [
        "digest.json: has no schema schemas/digest.schema.json",
        "digests.schema.json: is the schema of no file",
    ]


def test_a_folder_without_vectors_is_told(tmp_path: Path) -> None:
    assert complaints(tmp_path) == [f"{tmp_path}: holds no vectors"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda s: s.update(maxItems=1), "the schema of the document says what is not checked: ['maxItems']"),
        (
            lambda s: s["properties"]["about"].update({"$ref": "common.schema.json#/$defs/none"}),
            "there is no common.schema.json#/$defs/none",
        ),
        (lambda s: s["properties"]["about"].update(type="number"), "number is no type that is checked"),
    ],
)
def test_a_schema_that_says_more_than_is_checked_is_refused(
    folder: Path, change: Callable[[Any], object], problem: str
) -> None:
    spoil(folder, change, "schemas/digests.schema.json")

    assert complaints(folder) == [f"digests.schema.json: cannot be used: {problem}"]


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "[]",
        "[" * 100_000,
        '{"required": 1}',
        '{"properties": {"about": {"pattern": null}}}',
        '{"properties": {"about": {"pattern": "("}}}',
        '{"properties": {"groups": {"items": 1}}}',
        '{"properties": {"about": {"minLength": "a"}}}',
        '{"$ref": "digests.schema.json#/$defs/a", "$defs": {"a": {"$ref": "digests.schema.json#/$defs/a"}}}',
        "{",
    ],
)
def test_a_schema_that_is_none_is_complained_of(folder: Path, text: str) -> None:
    (folder / "schemas" / "digests.schema.json").write_text(text, "utf-8")

    (complaint,) = complaints(folder)

    assert complaint.startswith("digests.schema.json: cannot be used: ")


def test_what_lets_everything_through_does_not_let_the_linter_stumble(folder: Path) -> None:
    (folder / "schemas" / "digests.schema.json").write_text("{}", "utf-8")
    spoil(folder, lambda d: d.update(groups=[{"tests": [None]}]))

    (complaint,) = complaints(folder)

    assert complaint.startswith("digests.schema.json: cannot be used: ")


def test_nesting_without_end_is_no_json(folder: Path) -> None:
    (folder / FILE).write_text("[" * 100_000, "utf-8")

    (complaint,) = complaints(folder)

    assert complaint.startswith("digests.json: is no JSON: ")


def test_a_schema_is_asked_only_what_it_can_say() -> None:
    with pytest.raises(SchemaError, match="not checked"):
        list(problems({"anyOf": []}, {}, {}))
