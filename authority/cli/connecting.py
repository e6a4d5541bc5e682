"""How a command that calls the service finds it, and who it calls as."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from authority.cli.endpoint import DEFAULT_DATA, Endpoint, find_endpoint
from authority.cli.failures import Misused, Refused
from authority.signing.possession import new_key
from capability_authority.client import Credentials, CredentialsRefused, Reference, TlsRoots

CREDENTIALS = "credentials"
"""The folder below a data folder that holds a credentials file for each demo principal."""

_NOBODY = Reference("nobody", "nobody")

CredentialsFile = Annotated[
    Path | None,
    typer.Option("--credentials", metavar="FILE", envvar="AUTHORITY_CREDENTIALS", help="Who calls, and where."),
]
As = Annotated[
    str | None,
    typer.Option("--as", metavar="TENANT/NAME", help="One of the credentials in the data folder, as in acme/agent."),
]
ServedFolder = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="Data folder of a running embedded authority; ./.authority when there."),
]
Roots = Annotated[
    Path | None,
    typer.Option("--tls-roots", metavar="PEM", help="Who may vouch for a server that is not on this machine."),
]


@dataclasses.dataclass(frozen=True, slots=True)
class Caller:
    """Who calls which authority."""

    credentials: Credentials
    tls: TlsRoots | None
    is_known: bool
    """False for nobody: such a caller can prove nothing."""


def find_caller(credentials: Path | None, data: Path | None, who: str | None, tls_roots: Path | None) -> Caller:
    """The caller that is meant: of the data folder by name, else of the file, else nobody.

    Where the authority is, a data folder knows better than a file, which may be older than the present address.

    Raises Refused and Misused, OSError for the TLS roots.
    """
    tls = None if tls_roots is None else TlsRoots.from_file(tls_roots)
    if who is None and credentials is not None and data is None:
        return Caller(_of_file(credentials), tls, is_known=True)
    folder = _folder(data)
    endpoint = find_endpoint(folder)
    if who is None and credentials is None:
        return Caller(_nobody(endpoint), tls, is_known=False)
    found = _of_folder(folder, who) if who is not None else _of_file(credentials or Path())
    return Caller(dataclasses.replace(found, target=endpoint.target), tls, is_known=True)


def require_named(caller: Caller, what: str = "this") -> Caller:
    """The caller, who can prove who it is. Raises Misused for nobody, as `what` must be signed."""
    if not caller.is_known:
        raise Misused(f"{what} must be signed: name the caller by --as TENANT/NAME or --credentials FILE")
    return caller


def credentials_file(data: Path, tenant: str, name: str) -> Path:
    """Where the data folder keeps the credentials of a demo principal."""
    return data / CREDENTIALS / f"{tenant}-{name}.json"


def _folder(data: Path | None) -> Path:
    if data is None and not DEFAULT_DATA.is_dir():
        raise Misused("say where the authority is: --data DIR of a running embedded one, or --credentials FILE")
    return data or DEFAULT_DATA


def _of_file(file: Path) -> Credentials:
    try:
        return Credentials.from_file(file)
    except CredentialsRefused as error:
        raise Refused(f"the credentials cannot be used: {error}") from None


def _of_folder(folder: Path, who: str) -> Credentials:
    tenant, slash, name = who.rpartition("/")
    known = ["/".join(file.stem.rsplit("-", 1)) for file in sorted((folder / CREDENTIALS).glob("*-*.json"))]
    if not slash or who not in known:
        raise Misused(f"--as: {who!r} is none of TENANT/NAME in {folder / CREDENTIALS}: {', '.join(known) or 'none'}")
    return _of_file(credentials_file(folder, tenant, name))


def _nobody(endpoint: Endpoint) -> Credentials:
    """A caller whose key no authority knows: enough for what needs no proof."""
    return Credentials(
        target=endpoint.target,
        issuer=endpoint.issuer,
        audience=endpoint.audience,
        tenant=_NOBODY,
        principal=_NOBODY,
        private_key=new_key(),
    )
