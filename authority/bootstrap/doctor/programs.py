"""The versions of what runs here."""

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Final

from authority.bootstrap.doctor.finding import Finding, ok, problem

_SERVICE: Final = "capability-authority"
_CLIENT: Final = "capability-authority-client"
_CONTRACT: Final = "capability_authority.v1"


def look_at_programs() -> Iterator[Finding]:
    """Python, the service, and whether its client is the one that it was made with."""
    yield ok("python", platform.python_version())
    yield ok("service", f"{_SERVICE} {version(_SERVICE)}, contract {_CONTRACT}")
    wanted = next((need.partition("==")[2] for need in requires(_SERVICE) or () if need.startswith(f"{_CLIENT}==")), "")
    try:
        installed = version(_CLIENT)
    except PackageNotFoundError:
        installed = "missing"
    if installed == wanted:
        yield ok("client", f"{_CLIENT} {installed}")
        return
    yield problem(
        "client", f"{_CLIENT} is {installed}, and this service needs {wanted}", f"pip install {_CLIENT}=={wanted}"
    )
