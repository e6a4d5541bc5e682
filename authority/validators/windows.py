"""Long text in parts: a regular expression keeps the interpreter to itself until it is through with its text."""

from collections.abc import Iterator
from typing import Final

from authority.validators.threads import require_time

WINDOW: Final = 16 * 1024
OVERLAP: Final = 1024


def windows(text: str, size: int = WINDOW, overlap: int = OVERLAP) -> Iterator[str]:
    """The text in parts of `size` characters, each with the last `overlap` of the one before; "" for an empty text.

    Raises TimeoutError in a validator's thread that is over its limit: nobody waits for the rest.
    """
    for at in range(0, max(len(text), 1), size - overlap):
        require_time()
        yield text[at : at + size]
        if at + size >= len(text):
            return
