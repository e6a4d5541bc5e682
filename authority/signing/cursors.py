"""Cursors of watches: positions that only this authority can make or read (semantics §8)."""

from pathlib import Path
from typing import Final, Self

from authority.domain import limits
from authority.domain.refusal import Refusal, malformed
from authority.signing.page_tokens import SECRET_FILE
from authority.signing.sealed_text import SECRET_BYTES, Seal
from authority.signing.secret_file import read_or_make_secret

_LABEL: Final = b"capability-authority/cursor/v1\x00"


class SealedCursors:
    """Implements the port `Cursors` under the secret of the page tokens, whose labels keep the two apart."""

    def __init__(self, secret: bytes) -> None:
        self._seal = Seal(secret, _LABEL, limits.CURSOR_BYTES)

    @classmethod
    def from_folder(cls, folder: Path) -> Self:
        """With the secret of the page tokens, made when it is missing. Raises as `SealedPageTokens.from_folder`."""
        return cls(read_or_make_secret(folder / SECRET_FILE, SECRET_BYTES))

    def seal(self, binding: str, position: str) -> str:
        """A cursor that only the same binding opens, for ever."""
        return self._seal.close(binding, position.encode("ascii"))

    def open(self, binding: str, cursor: str) -> str | Refusal:
        """The position, or MALFORMED `cursor`, in the same words for one that is foreign or made up."""
        opened = self._seal.open(binding, cursor)
        if opened is None:
            return malformed("cursor", "must be a cursor of the same query that this authority gave to this caller")
        return opened.decode("ascii")
