"""Ed25519 keys that are safe to trust once loaded, and the files private keys live in (semantics §2, §3)."""

import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from capability_authority.offline.digests import sha256, to_wire
from capability_authority.offline.errors import KeyFileExposed, KeyRefused

__all__ = [
    "PUBLIC_KEY_BYTES",
    "SEED_BYTES",
    "SIGNATURE_BYTES",
    "KeyFileExposed",
    "KeyRefused",
    "PrivateKey",
    "PublicKey",
    "load_private_key_file",
    "save_private_key_file",
]

PUBLIC_KEY_BYTES: Final = 32
SEED_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64

_FIELD_PRIME: Final = 2**255 - 19
_ORDER_EIGHT_Y: Final = int.from_bytes(
    bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little"
)
_SMALL_ORDER_Y: Final = frozenset({0, 1, _FIELD_PRIME - 1, _ORDER_EIGHT_Y, _FIELD_PRIME - _ORDER_EIGHT_Y})
"""The y coordinates of the eight points of small order; no other point shares them."""

_OWNER_ONLY: Final = 0o600
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_KEY_FILE_BYTES: Final = 16 * 1024


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An Ed25519 public key that only its private key can sign for.

    Made from its 32 raw bytes. Raises `KeyRefused` for another length, for the eight points of small order, for which
    anyone can make signatures, and for encodings that are not the one canonical encoding of their point (case E03;
    neither pyca/cryptography nor node:crypto refuses any of them). Bytes that encode no point at all are taken, and
    verify nothing.
    """

    raw: bytes = field(repr=False)
    thumbprint: bytes = field(init=False, repr=False, compare=False)
    """SHA-256 of `raw`: 32 bytes."""
    key_id: str = field(init=False, compare=False)
    """The thumbprint as "sha256:" and 64 lowercase hexadecimal digits."""
    _verifier: Ed25519PublicKey = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _refuse_weak_encoding(self.raw)
        object.__setattr__(self, "thumbprint", sha256(self.raw))
        object.__setattr__(self, "key_id", to_wire(self.thumbprint))
        object.__setattr__(self, "_verifier", Ed25519PublicKey.from_public_bytes(self.raw))

    def verify(self, signature: bytes, message: bytes) -> bool:
        """Whether `signature` was made over `message` by this key; False, never an error, for any wrong length."""
        try:
            self._verifier.verify(signature, message)
        except InvalidSignature:
            return False
        return True


class PrivateKey:
    """An Ed25519 private key. Its secret is never shown by `repr` and leaves only through `to_pem`."""

    __slots__ = ("_signer", "public_key")

    public_key: PublicKey

    def __init__(self, signer: Ed25519PrivateKey) -> None:
        self._signer = signer
        self.public_key = PublicKey(signer.public_key().public_bytes_raw())

    def __repr__(self) -> str:
        return f"PrivateKey(key_id={self.public_key.key_id!r})"

    @classmethod
    def generate(cls) -> Self:
        """A new key from the operating system's random source."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_seed(cls, seed: bytes) -> Self:
        """The key of a 32-byte seed (RFC 8032, section 5.1.5). Raises `KeyRefused` for another length."""
        if len(seed) != SEED_BYTES:
            raise KeyRefused(f"an Ed25519 seed has {SEED_BYTES} bytes, not {len(seed)}")
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def from_pem(cls, pem: bytes) -> Self:
        """The key of an unencrypted PEM document. Raises `KeyRefused` for anything else."""
        try:
            signer = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            # The causes quote the document, so they are not passed on.
            raise KeyRefused("not an unencrypted private key in PEM form") from None
        if not isinstance(signer, Ed25519PrivateKey):
            raise KeyRefused("a private key of another algorithm than Ed25519")
        return cls(signer)

    def to_pem(self) -> bytes:
        """The key as an unencrypted PKCS #8 PEM document. Write it with `save_private_key_file`."""
        return self._signer.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, message: bytes) -> bytes:
        """The 64-byte signature over `message`; equal messages give equal signatures (RFC 8032)."""
        return self._signer.sign(message)


def load_private_key_file(path: str | os.PathLike[str]) -> PrivateKey:
    """Read a private key from a PEM file; symbolic links are followed, as mounted secrets need.

    Raises `KeyFileExposed` when group or others have any right on the file, `KeyRefused` when it is no regular file or
    holds no unencrypted Ed25519 key, and `OSError` when it cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        # Judged on the open file, so that it cannot be exchanged in between.
        _require_private(os.fspath(path), os.fstat(descriptor).st_mode)
        pem = os.read(descriptor, _KEY_FILE_BYTES)
    finally:
        os.close(descriptor)
    try:
        return PrivateKey.from_pem(pem)
    except KeyRefused as error:
        raise KeyRefused(f"{os.fspath(path)}: {error}") from None


def save_private_key_file(path: str | os.PathLike[str], private_key: PrivateKey) -> None:
    """Write a private key to a new PEM file of mode 0600: whole and durable, or not at all.

    Raises `FileExistsError` when `path` exists, whatever it is: a key is never overwritten.
    """
    target = Path(path)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(private_key.to_pem())
            file.flush()
            os.fsync(file.fileno())
        # A link, unlike a rename, fails when the target exists.
        os.link(draft, target)
    finally:
        draft.unlink()
    _sync_directory(target.parent)


def _refuse_weak_encoding(raw: bytes) -> None:
    if len(raw) != PUBLIC_KEY_BYTES:
        raise KeyRefused(f"an Ed25519 public key has {PUBLIC_KEY_BYTES} bytes, not {len(raw)}")
    y = int.from_bytes(raw, "little") & ~(1 << 255)
    if y >= _FIELD_PRIME:
        raise KeyRefused("the public key is not the canonical encoding of a point")
    if y in _SMALL_ORDER_Y:
        raise KeyRefused("the public key is a point of small order: anyone can sign for it")


def _require_private(path: str, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise KeyRefused(f"{path} is not a regular file")
    if mode & _OTHERS:
        raise KeyFileExposed(
            f"{path} has mode {stat.S_IMODE(mode):04o}, which gives others rights on a private key; "
            f"remedy: chmod 600 {path}"
        )


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
