"""How a record's story looks: one screen, whatever the record says."""

import io

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from rich.cells import cell_len
from rich.console import Console

from authority.cli.why import page
from authority.cli.why.story import Story
from capability_authority.client import Check, CheckVerdict, RecordExport
from capability_authority.v1 import memory_service_pb2 as pb
from capability_authority.v1.types_pb2 import Cost, PrincipalRef

HOSTILE = "\x1b[31mred [bold]not bold[/bold] \u202etxet\r\nnext\tline"


def story(*checks: Check, **fields: object) -> Story:
    """The story of a record with these fields."""
    record = pb.MemoryRecord(record_id="r-1", memory_namespace="notes", **fields)  # type: ignore[arg-type]
    trail = pb.AuditTrail(revoke_time=Timestamp(seconds=1), revoke_note=HOSTILE)
    return Story(RecordExport(pb.RecordExport(record=record, state=pb.RECORD_STATE_REVOKED, trail=trail), checks))


@pytest.fixture(params=[60, 80, 200])
def width(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A terminal of that width."""
    screen = io.StringIO()
    console = Console(file=screen, width=width, force_terminal=True, color_system=None, highlight=False)
    monkeypatch.setattr(page, "console_for_answers", lambda: console)
    return screen


def test_a_terminal_shows_it_in_a_frame_that_fits(terminal: io.StringIO, width: int) -> None:
    # Given a long and hostile record with a check that fails
    told = story(
        Check("content", CheckVerdict.HOLDS, "fine"),
        Check("record", CheckVerdict.BROKEN, HOSTILE),
        Check("receipt", CheckVerdict.VOUCHED, "its key was revoked since"),
        content=(HOSTILE + "word " * 400).encode(),
        media_type="text/plain",
        proposer=PrincipalRef(namespace="demo", id="agent"),
        source_refs=[f"thread:{number}" for number in range(20)],
        costs=[Cost(stage=HOSTILE * 3, model=HOSTILE)],
    )
    # When it is shown
    page.show(told)
    lines = terminal.getvalue().splitlines()
    # Then no line is wider than the terminal, or than is good to read, and nothing steers it
    assert {cell_len(line) for line in lines if line} == {min(width, 110)}
    assert not any(character in terminal.getvalue() for character in "\x1b\r\u202e\t")
    text = terminal.getvalue()
    assert "[bold]not" in text
    assert "REVOKED" in lines[0]
    assert "NOT PROVED: 1 of 3 checks fail: record" in lines[-1] or "NOT PROVED" in lines[-2]
    assert "its key was revoked since" in text
    assert "and 14 more (--json)" in text


def test_a_pipe_gets_lines_that_steer_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    told = story(Check("record", CheckVerdict.BROKEN, HOSTILE), content=HOSTILE.encode(), costs=[Cost(stage=HOSTILE)])
    page.show(told)
    out = capsys.readouterr().out
    assert not any(character in out for character in "\x1b\r\u202e\t")
    assert out.splitlines()[-1] == "NOT PROVED: 1 of 1 checks fail: record"


def test_content_that_is_no_text_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    page.show(story(content=b"\xff" * 2_000, media_type="application/pdf"))
    assert "2,000 bytes of application/pdf" in capsys.readouterr().out
