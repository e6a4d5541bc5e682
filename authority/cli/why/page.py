"""A record's story on one screen: a panel in a terminal, plain lines in a pipe."""

from collections.abc import Iterator
from typing import Final

from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from authority.cli.output import console_for_answers, printable, say
from authority.cli.why.story import Chapter, Story
from capability_authority.client import Check, CheckVerdict, RecordExport

_MARKS: Final = {
    CheckVerdict.HOLDS: ("✓", "green"),
    CheckVerdict.VOUCHED: ("✓", "yellow"),
    CheckVerdict.BROKEN: ("✗", "bold red"),
}
_STATES: Final = {"live": "bold green", "revoked": "bold red", "superseded": "bold yellow"}
_TITLE: Final = 8
_LABEL: Final = 10
_LONGEST_LABEL: Final = 16
_WIDEST: Final = 110
"""Columns: longer lines are hard to follow with the eye."""


def show(story: Story) -> None:
    """The story, its proof at the end, and in the last line whether all of that holds."""
    console = console_for_answers()
    if console.is_terminal:
        console.print(_panel(story, console))
    else:
        _lines(story)


def _panel(story: Story, console: Console) -> Panel:
    grid = Table.grid(padding=(0, 1), pad_edge=False)
    grid.add_column(style="bold cyan", min_width=_TITLE, no_wrap=True)
    grid.add_column(style="dim", min_width=_LABEL, max_width=_LONGEST_LABEL, overflow="fold")
    grid.add_column(ratio=1, overflow="fold")
    for chapter in story.chapters:
        for number, (label, value) in enumerate(chapter.rows):
            is_said = chapter.title == "SAYS" and not label
            text = Text(printable(value), style="bold" if is_said else "")
            grid.add_row(chapter.title if number == 0 else "", Text(printable(label)), text)
        grid.add_row()
    # Where they do not fit in one line, a mark stays beside its part.
    grid.add_row("PROOF", "", Columns(_marks(story.export), padding=(0, 2)))
    for label, text in _remarks(story.export):
        grid.add_row("", Text(label), text)
    is_proved = not story.export.broken
    return Panel(
        grid,
        title=_heading(story.export),
        title_align="left",
        subtitle=Text(f" {verdict(story.export)} ", style="green" if is_proved else "bold red"),
        subtitle_align="left",
        border_style="green" if is_proved else "red",
        width=min(console.width, _WIDEST),
        padding=(1, 2),
    )


def _lines(story: Story) -> None:
    say(_heading(story.export).plain)
    marks = Text("  ").join(_marks(story.export))
    proof = [(label, text.plain) for label, text in (("", marks), *_remarks(story.export))]
    for chapter in [*story.chapters, Chapter("PROOF", proof)]:
        say()
        for number, (label, value) in enumerate(chapter.rows):
            title = chapter.title if number == 0 else ""
            say(f"{title:<{_TITLE}}  {printable(label):<{_LABEL}}  {printable(value)}".rstrip())
    say()
    say(verdict(story.export))


def _marks(export: RecordExport) -> list[Text]:
    """Every part with its mark."""
    return [Text.assemble((_MARKS[it.verdict][0], _MARKS[it.verdict][1]), f" {it.part}") for it in export.checks]


def _remarks(export: RecordExport) -> Iterator[tuple[str, Text]]:
    """A line for each part that does not simply hold."""
    for check in export.checks:
        if check.verdict is not CheckVerdict.HOLDS:
            mark, style = _MARKS[check.verdict]
            yield check.part, Text.assemble((f"{mark} ", style), (printable(check.because), _style_of(check)))


def _heading(export: RecordExport) -> Text:
    record = export.record
    text = Text(f"{printable(record.record_id)} ", style="bold")
    text.append(export.state.replace("_", " ").upper(), style=_STATES.get(export.state, "bold yellow"))
    return text.append(f" · {record.memory_type} in {printable(record.memory_namespace)}", style="default")


def verdict(export: RecordExport) -> str:
    """The last line: whether every part is proved, and which are not."""
    if not export.broken:
        return f"proved: {len(export.checks)} of {len(export.checks)} checks hold"
    parts = ", ".join(check.part for check in export.broken)
    return f"NOT PROVED: {len(export.broken)} of {len(export.checks)} checks fail: {parts}"


def _style_of(check: Check) -> str:
    return "bold red" if check.verdict is CheckVerdict.BROKEN else ""
