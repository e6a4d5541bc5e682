"""Files that only their owner can read (semantics §2)."""

import os
import secrets
import stat
from pathlib import Path
from typing import Final

__all__ = ["FileExposed", "read_private_file", "write_private_file"]

_OWNER_ONLY: Final = 0o600
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class FileExposed(ValueError):
    """The file's mode gives its group or others some right on it; the message names the remedy."""


def read_private_file(path: Path, most_bytes: int) -> bytes:
    """The bytes of a regular file on which only its owner has rights; symbolic links are followed.

    Raises `FileExposed`, `ValueError` for anything but a regular file or one of more than `most_bytes`, and `OSError`
    when it cannot be read.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        # Judged on the open file, so that it cannot be exchanged in between.
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{path} is not a regular file")
        mode = stat.S_IMODE(status.st_mode)
        if mode & _OTHERS:
            raise FileExposed(
                f"{path} has mode {mode:04o}, which gives others rights on a private key; remedy: chmod 600 {path}"
            )
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise ValueError(f"{path} is larger than {most_bytes} bytes")
    return data


def write_private_file(path: Path, data: bytes) -> None:
    """Write a new file of mode 0600: whole and durable, or not at all.

    Raises `FileExistsError` when `path` exists, whatever it is, and `OSError` when it cannot be written.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # A link, unlike a rename, fails when the target exists.
        os.link(draft, path)
    finally:
        draft.unlink()
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
