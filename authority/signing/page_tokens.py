"""Page tokens that only this authority can make, read or extend (semantics §8)."""

from pathlib import Path
from typing import Final, Self

from authority.domain import limits
from authority.domain.references import Instant, after
from authority.domain.refusal import Refusal, malformed
from authority.signing.sealed_text import PLAIN_BYTES, SEALED_CHARACTERS, SECRET_BYTES, Seal
from authority.signing.secret_file import read_or_make_secret

SECRET_FILE: Final = "page-tokens.key"  # noqa: S105 - the name of a file
TOKEN_CHARACTERS: Final = SEALED_CHARACTERS
_LABEL: Final = b"capability-authority/page-token/v1\x00"
_INSTANT_BYTES: Final = 8
POSITION_BYTES: Final = PLAIN_BYTES - _INSTANT_BYTES
"""The longest position whose token has at most 512 characters: 347."""


class SealedPageTokens:
    """Implements the port `PageTokens`: expiry and position, sealed.

    Equal positions give different tokens. Replicas that shall turn each other's pages need the same secret file.
    """

    def __init__(self, secret: bytes) -> None:
        self._seal = Seal(secret, _LABEL)

    @classmethod
    def from_folder(cls, folder: Path) -> Self:
        """With the secret in `<folder>/page-tokens.key`, made when it is missing.

        Raises `SecretRefused` for a file that others have rights on, or that is none; `OSError` when it cannot be read
        or made.
        """
        return cls(read_or_make_secret(folder / SECRET_FILE, SECRET_BYTES))

    def seal(self, binding: str, position: str, now: Instant) -> str:
        """A token of at most 512 characters that only the same binding opens, for one hour.

        `position` has at most 347 bytes: positions are ids. Raises `ValueError` for a longer one.
        """
        encoded = position.encode("utf-8")
        if len(encoded) > POSITION_BYTES:
            raise ValueError(f"a position has at most {POSITION_BYTES} bytes, not {len(encoded)}")
        expire_time = after(now, limits.PAGE_TOKEN_LIFETIME_MS)
        return self._seal.close(binding, expire_time.to_bytes(_INSTANT_BYTES, "big") + encoded)

    def open(self, binding: str, token: str, now: Instant) -> str | Refusal:
        """The position, or MALFORMED `page_token`, in the same words for one that is foreign, stale or made up."""
        opened = self._seal.open(binding, token)
        is_whole = opened is not None and len(opened) >= _INSTANT_BYTES
        if opened is None or not is_whole or now >= int.from_bytes(opened[:_INSTANT_BYTES], "big"):
            return malformed("page_token", "must be the token of the page before, of the same query, at most 1 h old")
        return opened[_INSTANT_BYTES:].decode("utf-8")
