"""Texts that only this authority can make, read or change: what page tokens and revision tokens are made of."""

import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SECRET_BYTES: Final = 32
SEALED_CHARACTERS: Final = 512
_VERSION: Final = b"\x01"
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_LEAST_BYTES: Final = len(_VERSION) + _NONCE_BYTES + _TAG_BYTES
PLAIN_BYTES: Final = SEALED_CHARACTERS * 3 // 4 - _LEAST_BYTES
"""The longest plain bytes that fit: 355."""

_ALPHABET: Final = re.compile(r"[A-Za-z0-9_-]*")


class Seal:
    """Version, nonce and AES-256-GCM over plain bytes, in url-safe base64: at most 512 characters unless told so.

    Label and binding are authenticated and not carried. Equal bytes are sealed to different texts.
    """

    def __init__(self, secret: bytes, label: bytes, characters: int = SEALED_CHARACTERS) -> None:
        if len(secret) != SECRET_BYTES:
            raise ValueError(f"the secret of sealed texts has {SECRET_BYTES} bytes, not {len(secret)}")
        self._cipher = AESGCM(secret)
        self._label = label
        self._characters = characters
        self._plain_bytes = characters * 3 // 4 - _LEAST_BYTES

    def close(self, binding: str, plain: bytes) -> str:
        """A text that only the same label and binding open. Raises `ValueError` for more bytes than fit (355)."""
        if len(plain) > self._plain_bytes:
            raise ValueError(f"at most {self._plain_bytes} bytes can be sealed, not {len(plain)}")
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return _to_text(_VERSION + nonce + self._cipher.encrypt(nonce, plain, self._bound(binding)))

    def open(self, binding: str, text: str) -> bytes | None:
        """The plain bytes, or None for a text that was not sealed so."""
        raw = _from_text(text) if len(text) <= self._characters else None
        if raw is None or len(raw) < _LEAST_BYTES or not raw.startswith(_VERSION):
            return None
        nonce, sealed = raw[len(_VERSION) :][:_NONCE_BYTES], raw[len(_VERSION) + _NONCE_BYTES :]
        try:
            return self._cipher.decrypt(nonce, sealed, self._bound(binding))
        except InvalidTag:
            return None

    def _bound(self, binding: str) -> bytes:
        return self._label + binding.encode("utf-8")


def _to_text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def _from_text(text: str) -> bytes | None:
    """The bytes, or None unless `text` is the one way to write them: what is sealed has one form."""
    if len(text) % 4 == 1 or _ALPHABET.fullmatch(text) is None:
        return None
    raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return raw if _to_text(raw) == text else None
