"""A copy of programs for an account that cannot read them in place, such as in the home of root."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from authority.embedded.account import Account
from authority.embedded.errors import EmbeddedUnavailable

_SHARED: Final = (Path("/var/cache"), Path("/var/tmp"), Path(tempfile.gettempdir()))  # noqa: S108 - see _own_folder
_OURS: Final = "capability-authority-embedded"
_READ: Final = stat.S_IROTH
_ENTER: Final = stat.S_IROTH | stat.S_IXOTH
_FOR_ALL: Final = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
_EXECUTE_FOR_ALL: Final = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


def readable_copy(base: Path, parts: Sequence[Path], identity: str, account: Account) -> Path:
    """The folder to use in the place of `base`: itself if the account can read these parts of it, else a copy of them.

    Made once for an identity, in a folder that only we can write to, then used again. Permissions on the way to `base`
    are never changed.

    Raises:
        EmbeddedUnavailable: There is no place that we can write to and the account can read.
    """
    if account.uid == os.geteuid() or _may_read(base, parts, account):
        return base
    for shared in _SHARED:
        ours = shared / _OURS
        if not _may_enter(shared, account) or not _own_folder(ours):
            continue
        copy = ours / identity
        if not copy.exists():
            _copy(base, parts, copy)
        return copy
    raise EmbeddedUnavailable(
        f"user {account.name} cannot read {base}, nor is there a place to copy it to",
        "install into a folder that every user can read",
    )


def _copy(base: Path, parts: Sequence[Path], copy: Path) -> None:
    unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=copy.parent))
    try:
        for part in parts:
            shutil.copytree(base / part, unfinished / part)
        _open_for_all(unfinished)
        unfinished.rename(copy)
    except OSError:
        shutil.rmtree(unfinished)
        if not copy.exists():  # Else another process was faster.
            raise


def _open_for_all(top: Path) -> None:
    for path in _walk(top):
        mode = path.stat().st_mode
        executable = stat.S_ISDIR(mode) or mode & stat.S_IXUSR
        path.chmod(stat.S_IWUSR | _FOR_ALL | (_EXECUTE_FOR_ALL if executable else 0))


def _own_folder(path: Path) -> bool:
    """Whether this is a folder, made if missing, that nobody else can write to, so that none plants a program there."""
    try:
        path.mkdir(exist_ok=True)
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            return False
        path.chmod(stat.S_IWUSR | _FOR_ALL | _EXECUTE_FOR_ALL)
    except OSError:
        return False
    return True


def _may_read(base: Path, parts: Sequence[Path], account: Account) -> bool:
    return all(
        _may_enter((base / part).parent, account)
        and all(_allows(path.stat(), _ENTER if path.is_dir() else _READ, account) for path in _walk(base / part))
        for part in parts
    )


def _may_enter(folder: Path, account: Account) -> bool:
    return all(_allows(path.stat(), stat.S_IXOTH, account) for path in [folder, *folder.parents])


def _allows(status: os.stat_result, wanted: int, account: Account) -> bool:
    """By the permission bits alone, as of an account without supplementary groups; `wanted` as bits for others."""
    if status.st_uid == account.uid:
        granted = status.st_mode >> 6
    elif status.st_gid == account.gid:
        granted = status.st_mode >> 3
    else:
        granted = status.st_mode
    return granted & wanted == wanted


def _walk(top: Path) -> Iterator[Path]:
    yield top
    yield from top.rglob("*")
