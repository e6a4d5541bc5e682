"""Messages in files, each after its length in four bytes: what some processes prepare and others send."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

_LENGTH_BYTES: Final = 4


def write_messages(path: Path, messages: Iterable[bytes]) -> None:
    """Appends the messages."""
    with path.open("ab") as file:
        for message in messages:
            file.write(len(message).to_bytes(_LENGTH_BYTES))
            file.write(message)


def read_messages(paths: Sequence[Path]) -> Iterator[bytes]:
    """All messages, one file after the other."""
    for path in paths:
        with path.open("rb") as file:
            while length := file.read(_LENGTH_BYTES):
                yield file.read(int.from_bytes(length))
