"""Which user a server runs as: PostgreSQL refuses root, and initdb needs a user with a passwd entry."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from authority.embedded.errors import EmbeddedUnavailable, FolderUnusable

_UNPRIVILEGED: Final = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class Account:
    """A user and its main group; a server gets no other groups unless it runs as ourselves."""

    name: str
    uid: int
    gid: int


def account_for(folder: Path) -> Account:
    """The user to run the server of `folder` as.

    Ourselves, unless we are root. Then the owner of the folder, so that the files stay readable to the server when a
    user `postgres` comes or goes later; for a new folder `postgres` if there is one, else `nobody`.

    Raises:
        EmbeddedUnavailable: The user has no passwd entry, or there is no unprivileged one.
        FolderUnusable: The folder is another user's.
    """
    owner = folder.stat().st_uid if folder.exists() else None
    me = os.geteuid()
    if me != 0:
        if owner not in (None, me):
            raise FolderUnusable(
                f"{folder} belongs to user id {owner}, not to {me}; run as that user or choose another data folder"
            )
        return _with_entry(me)
    return _with_entry(owner) if owner else _unprivileged()


def _with_entry(uid: int) -> Account:
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        raise EmbeddedUnavailable(
            f"user id {uid} has no passwd entry, which initdb needs", "run as a user that has one"
        ) from None
    return Account(entry.pw_name, uid, os.getegid() if uid == os.geteuid() else entry.pw_gid)


def _unprivileged() -> Account:
    for name in _UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(name, entry.pw_uid, entry.pw_gid)
    raise EmbeddedUnavailable(
        f"root cannot run them, and there is no user {' or '.join(_UNPRIVILEGED)}", "run as an ordinary user"
    )
