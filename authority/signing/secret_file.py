"""A secret that processes of one machine share by a file only its owner can read."""

import os
import secrets
import stat
from pathlib import Path
from typing import Final

_OWNER_ONLY: Final = 0o600
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_FOLDER_MODE: Final = 0o700


class SecretRefused(Exception):
    """A secret file that others have rights on, or that does not hold a secret; the message names the remedy."""


def read_or_make_secret(path: Path, size: int) -> bytes:
    """The `size` random bytes in the file; a missing file is made, mode 0600, whole and durable or not at all.

    Of processes that find it missing at once, one makes it and all take that one. Raises `SecretRefused` when group or
    others have any right on the file or it has another size, and `OSError` when it cannot be read or made.
    """
    try:
        return read_secret(path, size)
    except FileNotFoundError:
        _make(path, size)
        return read_secret(path, size)


def read_secret(path: Path, size: int) -> bytes:
    """The secret in the file. Raises as `read_or_make_secret`, and `FileNotFoundError`, which that one mends."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        # Judged on the open file, so that it cannot be exchanged in between.
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise SecretRefused(f"{path} is not a regular file")
        mode = stat.S_IMODE(status.st_mode)
        if mode & _OTHERS:
            raise SecretRefused(f"{path} has mode {mode:04o}, which gives others rights on a secret; chmod 600 it")
        secret = os.read(descriptor, size + 1)
    finally:
        os.close(descriptor)
    if len(secret) != size:
        raise SecretRefused(f"{path} does not hold exactly {size} bytes; remove it to have another secret made")
    return secret


def _make(path: Path, size: int) -> None:
    path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(size))
            file.flush()
            os.fsync(file.fileno())
        _link_first(draft, path)
    finally:
        draft.unlink()
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _link_first(draft: Path, path: Path) -> None:
    """A link, unlike a rename, fails when the target exists: then another process was first, and its secret stands."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return
