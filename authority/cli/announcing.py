"""What `authority serve` says once it serves: where, and what to type next."""

import shlex
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from authority.cli.endpoint import Endpoint
from authority.cli.output import Json, emit, say
from authority.cli.serving import Announce
from authority.config import Settings
from authority.embedded.demo import load_tenants


def announce_own_servers(*, as_json: bool) -> Announce:
    """Of a service whose servers are named by settings: where it serves, and shows metrics."""

    def announce(endpoint: Endpoint, workers: Sequence[int]) -> None:
        if as_json:
            emit(_facts(endpoint, workers), in_one_line=True)
        else:
            say(_sentence(endpoint, workers))
            if endpoint.metrics:
                say(f"  metrics    {endpoint.metrics}")

    return announce


def announce_embedded(folder: Path, settings: Settings, *, as_json: bool) -> Announce:
    """Of an embedded authority: also what to try with it, where that can work: its credentials are for plaintext."""

    def announce(endpoint: Endpoint, workers: Sequence[int]) -> None:
        if as_json:
            emit({**_facts(endpoint, workers), "data": str(folder)}, in_one_line=True)
            return
        place = shlex.quote(_short(folder))
        tenants = ", ".join(str(tenant.ref) for tenant in load_tenants())
        say(_sentence(endpoint, workers))
        say(f"  data       {folder}")
        say(f"  tenants    {tenants}")
        if settings.tls_certificate is None:
            say(f"  try        {_program()} call GetKeySet --data {place}")
            say(f"  exchange   {shlex.quote(sys.executable)} {shlex.quote(_short(folder / 'try.py'))}")
        else:
            shown = "" if settings.tls_client_ca is None else ", and each must show a certificate"
            say(f"  callers    need TLS{shown}; the folder's credentials are for plaintext (docs/identities.md)")
        say(f"  metrics    {endpoint.metrics}")
        say(f"  watch      {_program()} top --data {place}")
        say("  stop       Ctrl-C")

    return announce


def _facts(endpoint: Endpoint, workers: Sequence[int]) -> dict[str, Json]:
    facts: dict[str, Json] = {"address": endpoint.target, "pid": endpoint.pid, "metrics": endpoint.metrics or None}
    return {**facts, "workers": list(workers)} if workers else facts


def _sentence(endpoint: Endpoint, workers: Sequence[int]) -> str:
    by = f" by {len(workers)} workers" if workers else ""
    return f"capability-authority {version('capability-authority')} serves at {endpoint.target}{by}"


def _short(path: Path) -> str:
    """Relative where that is shorter to type."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _program() -> str:
    """What to type to run this program here."""
    ours = Path(sys.argv[0])
    if ours.name != "authority":
        return f"{shlex.quote(sys.executable)} -m authority.cli"
    found = shutil.which("authority")
    return "authority" if found is not None and Path(found).resolve() == ours.resolve() else shlex.quote(sys.argv[0])
