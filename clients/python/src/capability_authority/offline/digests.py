"""SHA-256 digests in two forms: 32 raw bytes inside signed payloads, "sha256:…" everywhere else (semantics §3)."""

import hashlib
import re
from typing import Final

from capability_authority.offline.errors import DigestError

__all__ = ["DIGEST_BYTES", "DigestError", "from_wire", "sha256", "to_wire"]

DIGEST_BYTES: Final = 32
_PREFIX: Final = "sha256:"
_WIRE_FORM: Final = re.compile(r"sha256:[0-9a-f]{64}")


def sha256(data: bytes) -> bytes:
    """The SHA-256 of `data`: 32 raw bytes."""
    return hashlib.sha256(data).digest()


def to_wire(digest: bytes) -> str:
    """The wire form of a digest: "sha256:" and 64 lowercase hexadecimal digits.

    Raises `DigestError` when `digest` is not 32 bytes.
    """
    if len(digest) != DIGEST_BYTES:
        raise DigestError(f"a digest has {DIGEST_BYTES} bytes, not {len(digest)}")
    return _PREFIX + digest.hex()


def from_wire(text: str) -> bytes:
    """The 32 raw bytes of a digest in its wire form.

    Nothing is trimmed or folded: uppercase, surrounding whitespace, a trailing newline or another length raise
    `DigestError` (semantics §2: a full match).
    """
    if _WIRE_FORM.fullmatch(text) is None:
        raise DigestError('a digest is written "sha256:" and 64 lowercase hexadecimal digits')
    return bytes.fromhex(text.removeprefix(_PREFIX))
