"""`authority serve`: runs the service until it is told to stop."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from authority.bootstrap.embedded import embedded_settings
from authority.cli.announcing import announce_embedded, announce_own_servers
from authority.cli.endpoint import DEFAULT_DATA
from authority.cli.logs import log_as
from authority.cli.output import note
from authority.cli.serving import serve_until_stopped, stopped_by_sigterm
from authority.cli.workers.serving import serve_by_workers
from authority.config import MOST_WORKERS, Settings, load_settings, names_a_database


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
        return _way(settings)(
            settings, None, _step, announce_own_servers(as_json=as_json), until_input_ends=until_input_ends
        )
    folder = (data or DEFAULT_DATA).absolute()
    if not embedded and data is None:
        note("AUTHORITY_DATABASE_URL is not set: serving embedded")
    with embedded_settings(folder, _step, **overrides) as settings:
        log_as(settings)
        return _way(settings)(
            _showing_metrics(settings),
            folder,
            _step,
            announce_embedded(folder, settings, as_json=as_json),
            until_input_ends=until_input_ends,
        )


def _showing_metrics(settings: Settings) -> Settings:
    """An embedded authority shows them without being asked: on this machine alone, and says where."""
    return settings.model_copy(update={"metrics_listen": settings.metrics_listen or "127.0.0.1:0"})


def _way(settings: Settings) -> Callable[..., int]:
    return serve_by_workers if settings.workers > 1 else serve_until_stopped


def _step(what: str) -> None:
    note(f"… {what}")
