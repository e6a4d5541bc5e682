"""The files and folders that the supervisor keeps in a data folder, readable to nobody else."""

import os
import secrets
import shutil
from pathlib import Path

from authority.embedded.account import Account
from authority.embedded.errors import EmbeddedUnavailable

_PASSWORD_BYTES = 32


def open_private(path: Path, flags: int) -> int:
    """Open a file of mode 0600, made if missing; returns the descriptor.

    A new one belongs to the owner of its folder, so that a start as root leaves nothing that the owner cannot open.
    """
    descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    if os.geteuid() == 0:
        owner = path.parent.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
    return descriptor


def server_folder(path: Path, account: Account) -> None:
    """Make sure of a folder of mode 0700 that belongs to the account.

    Raises:
        EmbeddedUnavailable: It cannot be given to the account, as without the right to change owners.
    """
    path.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(path, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_uid != account.uid:
            os.fchown(descriptor, account.uid, account.gid)
        os.fchmod(descriptor, 0o700)
    except OSError as error:
        cause = f"{path} cannot be given to user {account.name} ({error.strerror})"
        raise EmbeddedUnavailable(cause, "run as an ordinary user") from error
    finally:
        os.close(descriptor)


def put_in_place(source: Path, target: Path) -> None:
    """Give a finished file or folder its name, so that it survives a crash of the machine whole or not at all."""
    source.rename(target)
    descriptor = os.open(target.parent, os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_folder(path: Path) -> None:
    """Remove a folder with all that is in it, if it is there."""
    if path.exists():
        shutil.rmtree(path)


def read_or_make_password(path: Path) -> str:
    """The password in a file; a missing file is made with a random one, of letters, digits, `-` and `_` only."""
    if path.exists():
        return path.read_text(encoding="ascii").strip()
    password = secrets.token_urlsafe(_PASSWORD_BYTES)
    unfinished = path.with_name(path.name + ".new")
    with os.fdopen(open_private(unfinished, os.O_WRONLY | os.O_TRUNC), "w", encoding="ascii") as file:
        file.write(password + "\n")
        file.flush()
        os.fsync(file.fileno())
    put_in_place(unfinished, path)
    return password
