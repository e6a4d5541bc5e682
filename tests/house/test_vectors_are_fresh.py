"""Vectors are made and never edited: conformance/vectors/*.json is what the generator writes, and well formed."""

import json
from pathlib import Path
from typing import Any

import pytest

from capability_authority_conformance.golden.__main__ import main
from capability_authority_conformance.golden.files import generated
from capability_authority_conformance.golden.form import BUG_TYPES
from capability_authority_conformance.golden.lint import lint_vectors

VECTORS = Path(__file__).parents[2] / "conformance" / "vectors"


def test_the_vectors_are_what_the_generator_writes() -> None:
    committed = {path.name: path.read_text("utf-8") for path in VECTORS.glob("*.json")}
    stale = sorted(name for name, text in generated().items() if committed.pop(name, None) != text)

    assert stale == [], f"{stale} are not what the generator writes: run `make vectors`"
    assert sorted(committed) == [], "nothing writes them"


def test_they_are_written_into_a_folder_that_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path / "absent")])
    assert ended.value.code == 2
    assert f"there is no folder {tmp_path / 'absent'}" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 0
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == generated()


def test_the_vectors_pass_the_linter() -> None:
    assert [str(complaint) for complaint in lint_vectors(VECTORS)] == []


def test_the_readme_says_what_each_file_asks() -> None:
    rows = (VECTORS / "README.md").read_text("utf-8").splitlines()
    told = {row.split("`")[1] for row in rows if row.startswith("| `")}

    assert told == {path.stem for path in VECTORS.glob("*.json")}


def test_kinds_of_bugs_are_those_of_the_schema() -> None:
    shared = json.loads((VECTORS / "schemas" / "common.schema.json").read_text("utf-8"))

    assert tuple(shared["$defs"]["note"]["properties"]["bugType"]["enum"]) == BUG_TYPES


def test_schemas_leave_nothing_open() -> None:
    # Given what a schema allows beyond what it names: the flags of notes, and the members of a message
    open_places = [place for path in sorted(VECTORS.glob("schemas/*.json")) for place in open_objects(path)]

    assert open_places == ["common.schema.json/$defs/notes", "common.schema.json/$defs/protojson_or_null"]


def open_objects(path: Path) -> list[str]:
    """Objects of a schema that may have members it does not name, or lack some that it names."""
    found: list[str] = []

    def look(schema: Any, place: str) -> None:
        if not isinstance(schema, dict):
            return
        is_object = "object" in (schema.get("type"), *(schema["type"] if isinstance(schema.get("type"), list) else ()))
        closed = schema.get("additionalProperties") is False
        if is_object and not (closed and set(schema["required"]) == set(schema["properties"])):
            found.append(place)
        for name, below in schema.items():
            look(below, f"{place}/{name}")

    look(json.loads(path.read_text("utf-8")), path.name)
    return found
