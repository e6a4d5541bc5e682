"""What is written can steer no terminal, and is whole where it is not shown on one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.cli import output


@given(st.text(st.characters()))
def test_printable_text_holds_nothing_that_steers_a_terminal(text: str) -> None:
    assert output.printable(text).isprintable()


def test_readable_text_stays_as_it_is() -> None:
    assert output.printable("Grüße, 日本 „so“ [bold]") == "Grüße, 日本 „so“ [bold]"


def test_escapes_are_shown() -> None:
    assert output.printable("\x1b[31m\n\u202e\ud800") == "\\x1b[31m\\n\\u202e\\ud800"


def test_json_is_one_document_in_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"text": "ü\x1b\u009b", "list": [1, None, True]}

    output.emit(value)
    many_lines = capsys.readouterr().out
    output.emit(value, in_one_line=True)
    one_line = capsys.readouterr().out

    assert json.loads(many_lines) == json.loads(one_line) == value
    assert one_line.count("\n") == 1
    assert (many_lines + one_line).replace("\n", "").isprintable()


def test_notes_leave_standard_output_alone(capsys: pytest.CaptureFixture[str]) -> None:
    output.note("by the way")

    assert capsys.readouterr() == ("", "by the way\n")
