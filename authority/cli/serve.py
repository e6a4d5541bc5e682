"""`authority serve`: runs the service until it is told to stop."""

import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from authority.bootstrap.embedded import embedded_settings
from authority.cli.endpoint import DEFAULT_DATA, Endpoint
from authority.cli.logs import log_as
from authority.cli.output import Json, emit, note, say
from authority.cli.serving import Announce, serve_until_stopped, stopped_by_sigterm
from authority.cli.workers.serving import serve_by_workers
from authority.config import MOST_WORKERS, Settings, load_settings, names_a_database
from authority.embedded.demo import load_tenants


def serve(
    *,
    embedded: Annotated[
        bool,
        typer.Option(
            "--embedded", help="With a PostgreSQL and a Valkey of its own, as without AUTHORITY_DATABASE_URL."
        ),
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Data folder of the embedded authority; ./.authority when left out."),
    ] = None,
    listen: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Instead of AUTHORITY_LISTEN; port 0 takes a free one.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST_WORKERS,
            help="Instead of AUTHORITY_WORKERS: how many processes serve, behind the one port; 1 if not set.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Once it serves, say where in one line of JSON.")] = False,
    until_input_ends: Annotated[
        bool, typer.Option("--until-input-ends", help="Stop also when standard input ends, as with a parent process.")
    ] = False,
) -> int:
    """Run the service until Ctrl-C or SIGTERM; running calls end first.

    With AUTHORITY_DATABASE_URL and AUTHORITY_REDIS_URL it uses these servers. Without, it is embedded: it keeps all it
    needs in one data folder, makes three demo tenants to play with, and writes credentials and a try.py there.

    With several workers, one that dies is started again, and SIGHUP replaces them one after another without a pause in
    service: for a new certificate or version; the settings stay those of the start. A client's connection belongs to
    one worker, so that one client alone does not use them all.
    """
    given = {"listen": listen, "workers": workers}
    overrides: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    with stopped_by_sigterm():
        code = _serve(overrides, embedded=embedded, data=data, as_json=as_json, until_input_ends=until_input_ends)
    if not as_json:
        note("stopped")
    return code


def _serve(
    overrides: dict[str, object], *, embedded: bool, data: Path | None, as_json: bool, until_input_ends: bool
) -> int:
    if not embedded and data is None and names_a_database():
        settings = load_settings(**overrides)
        log_as(settings)
        return _way(settings)(settings, None, _step, _own_servers(as_json=as_json), until_input_ends=until_input_ends)
    folder = (data or DEFAULT_DATA).absolute()
    if not embedded and data is None:
        note("AUTHORITY_DATABASE_URL is not set: serving embedded")
    with embedded_settings(folder, _step, **overrides) as settings:
        log_as(settings)
        return _way(settings)(
            _showing_metrics(settings),
            folder,
            _step,
            _embedded(folder, settings, as_json=as_json),
            until_input_ends=until_input_ends,
        )


def _showing_metrics(settings: Settings) -> Settings:
    """An embedded authority shows them without being asked: on this machine alone, and says where."""
    return settings.model_copy(update={"metrics_listen": settings.metrics_listen or "127.0.0.1:0"})


def _way(settings: Settings) -> Callable[..., int]:
    return serve_by_workers if settings.workers > 1 else serve_until_stopped


def _step(what: str) -> None:
    note(f"… {what}")


def _own_servers(*, as_json: bool) -> Announce:
    def announce(endpoint: Endpoint, workers: Sequence[int]) -> None:
        if as_json:
            emit(_facts(endpoint, workers), in_one_line=True)
        else:
            say(_sentence(endpoint, workers))
            if endpoint.metrics:
                say(f"  metrics    {endpoint.metrics}")

    return announce


def _embedded(folder: Path, settings: Settings, *, as_json: bool) -> Announce:
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
            say(f"  callers    need TLS{shown}; the credentials in the folder do neither (docs/identities.md)")
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
