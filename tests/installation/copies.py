"""Copies of the folders of stopped servers, as a backup of the file system makes them."""

import os
import shutil
from pathlib import Path


def copied(folder: Path, to: Path) -> Path:
    """The copy: contents, modes and owners. A server that runs may be copied torn; stop or kill it first."""
    shutil.copytree(folder, to, symlinks=True)
    for original in (folder, *folder.rglob("*")):
        status = original.lstat()
        os.chown(to / original.relative_to(folder), status.st_uid, status.st_gid, follow_symlinks=False)
    return to
