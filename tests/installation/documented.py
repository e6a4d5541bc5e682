"""What the documentation shows of the command line, as tests run it and compare.

A block that begins with ```console holds commands, each on a line of its own after `$ `, and under each what it
prints. In what is printed, `…` stands for anything within a line, and a line of `…` alone for any lines or none. Blanks
are compared as one blank, for columns are as wide as what stands in them. Words in capitals in a command are for the
test to replace: `$ authority why RECORD`.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_BLOCK: Final = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)
_ANYTHING: Final = "…"


@dataclass(frozen=True, slots=True)
class Example:
    """One command of a document and what it is said to print."""

    command: str
    printed: tuple[str, ...]

    def arguments(self, **values: str) -> list[str]:
        """The words after `authority`, with the placeholders of these names replaced."""
        first, *words = shlex.split(self.command)
        assert first.endswith("authority"), self.command
        return [values.get(word, word) for word in words]

    def difference(self, printed: str) -> str:
        """Empty when this was printed; else both, to be read by a person."""
        if re.fullmatch("".join(_patterns(self.printed)), "".join(f"{_plain(line)}\n" for line in _lines(printed))):
            return ""
        return "\n".join((f"$ {self.command}", *self.printed, "--- but it printed:", printed))


def examples(document: str, section: str) -> list[Example]:
    """The commands shown under a heading of a document (`docs/operating.md`). Raises AssertionError for none."""
    found = [
        example for heading, text in sections(document) if heading == section for example in _examples_in_blocks(text)
    ]
    assert found, f"{document} shows no command under {section!r}"
    return found


def sections(document: str) -> Iterator[tuple[str, str]]:
    """The headings of a document, each with what stands under it until the next."""
    text = (ROOT / document).read_text(encoding="utf-8")
    # A comment of a shell or of Python looks like a heading.
    outside = re.sub(
        r"^```.*?^```$",
        lambda block: re.sub("^#", "\0", block[0], flags=re.MULTILINE),
        text,
        flags=re.DOTALL | re.MULTILINE,
    )
    headings = [*_HEADING.finditer(outside)]
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=True):
        yield heading[1], text[heading.end() : end]


def _examples_in_blocks(text: str) -> Iterator[Example]:
    for block in _BLOCK.finditer(text):
        before, *commands = re.split(r"^\$ ", block[1], flags=re.MULTILINE)
        assert not before.strip(), f"output without a command: {before}"
        for one in commands:
            command, *printed = one.rstrip("\n").split("\n")
            yield Example(command, tuple(printed))


def _patterns(printed: tuple[str, ...]) -> Iterator[str]:
    for line in _lines("\n".join(printed)):
        if line.strip() == _ANYTHING:
            yield r"(?:[^\n]*\n)*"
        else:
            yield "[^\n]*".join(re.escape(part) for part in _plain(line).split(_ANYTHING)) + "\n"


def _lines(text: str) -> list[str]:
    return text.strip("\n").split("\n") if text.strip() else []


def _plain(line: str) -> str:
    return re.sub(r"\s+", " ", line).strip()
