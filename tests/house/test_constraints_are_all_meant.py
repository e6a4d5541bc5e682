"""Constraint names are vocabulary: each one in the migrations has a meaning, and a test that trips it."""

import re
from importlib import resources

from tests.integration.postgres.constraints import TRIPS

_NAMED = re.compile(r"^\s*(?:(?:add )?constraint|create unique index) (\w+)", re.MULTILINE)


def migrations() -> str:
    """The text of all numbered migrations, without comments."""
    files = resources.files("authority.postgres").joinpath("migrations").iterdir()
    text = "\n".join(file.read_text("utf-8") for file in files if file.name.endswith(".sql"))
    return re.sub(r"--.*", "", text)


def test_constraint_names_are_all_meant() -> None:
    names = _NAMED.findall(migrations())
    assert len(names) == len(set(names)), "a name is used twice"
    assert set(names) == TRIPS.keys(), "each needs its meaning in tests/integration/postgres/constraints.py"


def test_every_meaning_is_a_sentence_of_its_own() -> None:
    # A meaning may be shared by equal rules of two tables, never within one.
    meanings = [(trip.table, trip.meaning) for trip in TRIPS.values() if not trip.meaning.startswith("the ")]
    assert len(meanings) == len(set(meanings))


def test_no_constraint_is_without_a_name() -> None:
    # given every line that constrains anything, then it, or the line it goes on from, begins with a name
    statements = re.split(r",\n|;\n|\(\n", migrations())
    nameless = [
        part.strip()
        for part in statements
        if re.search(r"\b(primary key|unique \(|references|check \()", part) and "constraint " not in part
    ]
    assert nameless == []
