"""The data folder of an embedded authority, and the room on the disk that it is on."""

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from authority.bootstrap.doctor.finding import Finding, ok, problem, warning
from authority.config_reading import OTHERS
from authority.embedded import EmbeddedUnavailable
from authority.embedded.account import account_for
from authority.embedded.binaries import postgres_programs, valkey_program

ENOUGH_BYTES: Final = 1024**3
TOO_FEW_BYTES: Final = 128 * 1024**2
_GB: Final = 1024**3
_PRIVATE: Final = ("endpoint.json", "postgres.password", "valkey.password")


def look_at_data(data: Path, *, is_served: bool) -> Iterator[Finding]:
    """Whether the folder can be served, and is for its owner alone."""
    if not data.is_dir():
        yield problem("data folder", f"{data} is not there", "`authority serve` makes one")
        return
    state = "is served" if is_served else "is not served, so that its servers are not looked at"
    exposed = [name for name in _PRIVATE if (data / name).exists() and _others_may(data / name)]
    for name in exposed:
        yield problem("data folder", f"others may read {data / name}", f"chmod 600 {data / name}")
    if not exposed:
        yield (
            ok("data folder", f"{data} {state}")
            if is_served
            else warning("data folder", f"{data} {state}", "start it by `authority serve`, and look again")
        )
    try:
        account = account_for(data / "postgres")
        postgres_programs(account)
        valkey_program(account)
    except EmbeddedUnavailable as error:
        yield problem("embedded servers", str(error), "see above")
    else:
        yield ok("embedded servers", f"can run here, as {account.name}")


def look_at_disk(folder: Path, enough: int = ENOUGH_BYTES, too_few: int = TOO_FEW_BYTES) -> Finding:
    """Whether there is room left where the folder is."""
    place = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
    free = shutil.disk_usage(place).free
    found = f"{free / _GB:,.1f} GB free where {folder} is"
    if free < too_few:
        return problem("disk", found, "make room now: PostgreSQL stops when it cannot write")
    if free < enough:
        return warning("disk", found, "make room")
    return ok("disk", found)


def _others_may(file: Path) -> bool:
    return bool(stat.S_IMODE(file.stat().st_mode) & OTHERS)
