"""`authority health`: asks a running service how it is, for people and for the probes of containers."""

from pathlib import Path
from typing import Annotated

import typer

from authority.bootstrap.health import WHOLE, ClientFiles, NobodyAnswers, ask_health
from authority.cli.arguments import AsJson, parse_target
from authority.cli.endpoint import DEFAULT_DATA, find_endpoint, is_served
from authority.cli.failures import REFUSED, Misused, Refused
from authority.cli.output import emit
from authority.cli.running import run_to_end
from authority.cli.tables import table
from authority.config import load_operator_settings, names_a_database

_WHOLE = "(the whole)"


def health(
    address: Annotated[
        str | None,
        typer.Argument(
            parser=parse_target, metavar="HOST:PORT", help="Where; AUTHORITY_LISTEN or ./.authority if left out."
        ),
    ] = None,
    *,
    certificate: Annotated[
        Path | None,
        typer.Option("--tls-certificate", metavar="PEM", help="Its certificate, or who vouches for it: asks over TLS."),
    ] = None,
    client_certificate: Annotated[
        Path | None, typer.Option(metavar="PEM", help="What to show a service that asks its callers for certificates.")
    ] = None,
    client_key: Annotated[Path | None, typer.Option(metavar="PEM", help="Its private key.")] = None,
    timeout: Annotated[float, typer.Option(min=0.001, max=300, help="Seconds to wait for an answer.")] = 5.0,
    as_json: AsJson = False,
) -> int:
    """Ask a running service whether it serves: the whole, each service by its name, and Redis.

    The exit code is 0 when the whole serves and 1 when it does not, or when nobody answers, as a container's probe
    wants it. Without Redis the whole still serves: commits go on, and reads are refused.
    """
    where, client = address or _here(), _client(certificate, client_certificate, client_key)
    try:
        found = run_to_end(lambda: ask_health(where, within_s=timeout, certificate=certificate, client=client))
    except NobodyAnswers as error:
        asked = ", or ask over TLS by --tls-certificate" if certificate is None else ""
        raise Refused(
            f"nobody serves at {where} ({error}): start it by `authority serve`, or name where it is{asked}"
        ) from None
    if as_json:
        emit({"address": where, "health": {one.name: one.state for one in found}})
    else:
        table(("SERVICE", "HEALTH"), [(one.name or _WHOLE, one.state) for one in found])
    return 0 if any(one.name == WHOLE and one.is_serving for one in found) else REFUSED


def _client(server: Path | None, certificate: Path | None, private_key: Path | None) -> ClientFiles | None:
    if certificate is None and private_key is None:
        return None
    if server is None or certificate is None or private_key is None:
        raise Misused("--client-certificate and --client-key go together, and with --tls-certificate")
    return ClientFiles(certificate, private_key)


def _here() -> str:
    if not names_a_database() and DEFAULT_DATA.is_dir() and is_served(DEFAULT_DATA):
        return find_endpoint(DEFAULT_DATA).target
    return load_operator_settings().listen
