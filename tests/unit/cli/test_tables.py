"""Tables keep every word in one piece, whatever the width."""

from collections.abc import Sequence
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from authority.cli.tables import laid_out, table

DIGEST = f"sha256:{'0123456789abcdef' * 4}"
Rows: TypeAlias = Sequence[tuple[str, ...]]

KEYS: tuple[tuple[str, ...], Rows] = (
    ("PURPOSE", "STATE", "SCOPE", "MADE (UTC)", "COMPROMISED SINCE", "KEY"),
    [
        ("capability", "active", "everywhere", "2026-09-21 14:13", "", DIGEST),
        ("receipt", "revoked", "cognitum-tenant|harbour-books clients/rules", "2026-09-21 14:13", "", DIGEST),
    ],
)
INSPECTED = (
    ("STATEMENT", ""),
    [("kind", "commit-receipt.v1"), ("digest", DIGEST), ("proposal_content_digest", DIGEST)],
)


def lines_of(columns: tuple[str, ...], rows: Rows, width: int) -> list[str]:
    return [line.plain for line in laid_out(columns, [[Text(cell) for cell in row] for row in rows], width)]


@pytest.mark.parametrize(("columns", "rows"), [KEYS, INSPECTED], ids=["keys", "inspected"])
@pytest.mark.parametrize("width", [80, 200])
def test_no_word_is_broken_and_no_line_too_long(columns: tuple[str, ...], rows: Rows, width: int) -> None:
    lines = lines_of(columns, rows, width)

    expected = sorted(word for row in [columns, *rows] for cell in row for word in cell.split())
    assert sorted(word for line in lines for word in line.split()) == expected
    assert max(map(len, lines)) <= width


def test_what_does_not_fit_beside_the_others_goes_below_its_row() -> None:
    assert lines_of(*KEYS, 80)[:6] == [
        "PURPOSE     STATE    SCOPE                          MADE (UTC)       COMPROMISED",
        "                                                                     SINCE",
        "  KEY",
        "capability  active   everywhere                     2026-09-21",
        "                                                    14:13",
        f"  {DIGEST}",
    ]
    assert lines_of(*INSPECTED, 80) == [
        "STATEMENT",
        "kind                     commit-receipt.v1",
        "digest",
        f"  {DIGEST}",
        "proposal_content_digest",
        f"  {DIGEST}",
    ]


def test_what_begins_a_row_goes_above_the_rest() -> None:
    rows = [("short", "one two"), (DIGEST, "three four")]

    assert lines_of(("NAME", "WHAT"), rows, 40) == ["NAME   WHAT", "short  one two", DIGEST, "       three four"]


def test_where_there_is_room_a_row_is_a_line() -> None:
    assert len(lines_of(*KEYS, 200)) == 3
    assert len(lines_of(*INSPECTED, 200)) == 4


@given(
    rows=st.lists(st.tuples(*[st.text(st.sampled_from("ab |-日 "), max_size=60)] * 3), min_size=1, max_size=4),
    width=st.integers(1, 120),
)
def test_words_survive_any_width(rows: Rows, width: int) -> None:
    lines = lines_of(("A", "B", "C"), rows, width)

    expected = sorted(word for row in [("A", "B", "C"), *rows] for cell in row for word in cell.split())
    assert sorted(word for line in lines for word in line.split()) == expected


def test_a_table_in_a_pipe_is_neither_folded_nor_padded(capsys: pytest.CaptureFixture[str]) -> None:
    table(("A", "B"), [("x" * 150, "[red]y[/red]"), (Text("z", style="red"), "\x1b[2J")])

    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == f"{'x' * 150}  [red]y[/red]"
    assert lines[2].split() == ["z", "\\x1b[2J"]
    assert all(line == line.rstrip() for line in lines)


def test_an_empty_table_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    table(("A",), [])

    assert capsys.readouterr().out == "none\n"
