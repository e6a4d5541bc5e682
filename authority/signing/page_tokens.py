"""Page tokens that only this authority can make, read or extend (semantics §8)."""

import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from pathlib import Path
from typing import Final, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from authority.domain import limits
from authority.domain.references import Instant, after
from authority.domain.refusal import Refusal, malformed
from authority.signing.secret_file import read_or_make_secret

SECRET_FILE: Final = "page-tokens.key"  # noqa: S105 - the name of a file
SECRET_BYTES: Final = 32
TOKEN_CHARACTERS: Final = 512
_VERSION: Final = b"\x01"
_LABEL: Final = b"capability-authority/page-token/v1\x00"
_NONCE_BYTES: Final = 12
_INSTANT_BYTES: Final = 8
_TAG_BYTES: Final = 16
_LEAST_BYTES: Final = len(_VERSION) + _NONCE_BYTES + _INSTANT_BYTES + _TAG_BYTES
POSITION_BYTES: Final = TOKEN_CHARACTERS * 3 // 4 - _LEAST_BYTES
"""The longest position whose token has at most 512 characters: 347."""

_ALPHABET: Final = re.compile(r"[A-Za-z0-9_-]*")


class SealedPageTokens:
    """Implements the port `PageTokens`: version, nonce and AES-256-GCM over expiry and position, in url-safe base64.

    The binding is authenticated and not carried. Equal positions give different tokens. Replicas that shall turn each
    other's pages need the same secret file.
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) != SECRET_BYTES:
            raise ValueError(f"the secret of page tokens has {SECRET_BYTES} bytes, not {len(secret)}")
        self._cipher = AESGCM(secret)

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
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = self._cipher.encrypt(nonce, expire_time.to_bytes(_INSTANT_BYTES, "big") + encoded, _bound(binding))
        return _to_text(_VERSION + nonce + sealed)

    def open(self, binding: str, token: str, now: Instant) -> str | Refusal:
        """The position, or MALFORMED `page_token`, in the same words for one that is foreign, stale or made up."""
        opened = self._unseal(binding, token)
        if opened is None or now >= int.from_bytes(opened[:_INSTANT_BYTES], "big"):
            return malformed("page_token", "must be the token of the page before, of the same query, at most 1 h old")
        return opened[_INSTANT_BYTES:].decode("utf-8")

    def _unseal(self, binding: str, token: str) -> bytes | None:
        raw = _from_text(token)
        if raw is None or len(raw) < _LEAST_BYTES or not raw.startswith(_VERSION):
            return None
        nonce, sealed = raw[len(_VERSION) :][:_NONCE_BYTES], raw[len(_VERSION) + _NONCE_BYTES :]
        try:
            return self._cipher.decrypt(nonce, sealed, _bound(binding))
        except InvalidTag:
            return None


def _bound(binding: str) -> bytes:
    return _LABEL + binding.encode("utf-8")


def _to_text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def _from_text(token: str) -> bytes | None:
    """The bytes, or None unless `token` is the one way to write them: a token has one form."""
    if len(token) > TOKEN_CHARACTERS or len(token) % 4 == 1 or _ALPHABET.fullmatch(token) is None:
        return None
    raw = urlsafe_b64decode(token + "=" * (-len(token) % 4))
    return raw if _to_text(raw) == token else None
