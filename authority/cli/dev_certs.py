"""`authority dev-certs`: everything that mutual TLS needs on one machine."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from authority.cli.arguments import AsJson, Tenant, parse_principal, parse_target
from authority.cli.failures import Misused, Refused
from authority.cli.output import Json, emit, say
from authority.config import load_operator_settings
from authority.domain.credential import Credential, CredentialForm
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.spiffe import is_trust_domain, trust_domain_of
from authority.signing.dev_certificates import LIFETIME, DevAuthority, PemPair
from capability_authority.client import ClientCertificate, Credentials, Reference, TlsRoots
from capability_authority.client.private_files import read_private_file, write_private_file

_PRIVATE_FOLDER: Final = 0o700
_MOST_BYTES: Final = 64 * 1024
_PLAIN: Final = re.compile(r"[A-Za-z0-9._-]+")
_CERTIFICATE, _KEY = "pem", "key.pem"


@dataclass(frozen=True, slots=True)
class _Client:
    principal: PrincipalRef
    spiffe_id: str
    credentials: Path


def dev_certs(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to; made if it is not there.")] = Path(
        "dev-certs"
    ),
    *,
    tenant: Tenant,
    principal: Annotated[
        list[str],
        typer.Option("--principal", metavar="NS|ID", help="Who gets a client certificate; may be repeated."),
    ],
    trust_domain: Annotated[str, typer.Option(metavar="DOMAIN", help="Of their SPIFFE ids.")] = "dev.local",
    target: Annotated[
        str, typer.Option(parser=parse_target, metavar="HOST:PORT", help="Where they will call.")
    ] = "127.0.0.1:50151",
    as_json: AsJson = False,
) -> None:
    """Make certificates to try mutual TLS with: an authority, a server's for localhost, and clients' with SPIFFE ids.

    Nothing is registered or served by it: it shows the commands for both. A folder from before gets more clients; no
    file is ever overwritten. For one machine only: the authority's private key lies beside the rest.
    """
    if not is_trust_domain(trust_domain):
        raise Misused(f"--trust-domain: {trust_domain!r} is none; one is lowercase letters, digits, dots and dashes")
    named = [(one, _spiffe_id(trust_domain, tenant, one)) for one in map(parse_principal, principal)]
    folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    authority = _authority(folder)
    if not (folder / f"server.{_CERTIFICATE}").exists():
        _write(folder, "server", authority.server())
    clients = [_client(folder, authority, tenant, one, spiffe_id, target) for one, spiffe_id in named]
    if as_json:
        emit({"folder": str(folder), "trust_domain": trust_domain, "clients": [_row(client) for client in clients]})
    else:
        _show(folder, trust_domain, tenant, clients)


def _spiffe_id(trust_domain: str, tenant: TenantRef, principal: PrincipalRef) -> str:
    parts = (tenant.namespace, tenant.id, principal.namespace, principal.id)
    spiffe_id = "spiffe://" + "/".join((trust_domain, *parts))
    if not all(map(_PLAIN.fullmatch, parts)) or trust_domain_of(spiffe_id) is None:
        raise Misused(f"{principal} of {tenant} cannot stand in a SPIFFE id: only letters, digits, dots, - and _ can")
    return spiffe_id


def _authority(folder: Path) -> DevAuthority:
    """The folder's own, a new one in a new folder."""
    now, certificate, key = datetime.now(UTC), folder / f"ca.{_CERTIFICATE}", folder / f"ca-{_KEY}"
    if not certificate.exists() and not key.exists():
        authority = DevAuthority.new(now)
        _write(folder, "ca", authority.pair)
        return authority
    try:
        return DevAuthority.read(PemPair(certificate.read_bytes(), read_private_file(key, _MOST_BYTES)), now)
    except (OSError, ValueError) as error:
        raise Refused(f"the authority in {folder} cannot be used ({error}): name another folder") from None


def _client(
    folder: Path, authority: DevAuthority, tenant: TenantRef, principal: PrincipalRef, spiffe_id: str, target: str
) -> _Client:
    pair, name = authority.client(spiffe_id), f"{principal.namespace}-{principal.id}"
    settings = load_operator_settings()
    shown = ClientCertificate(pair.certificate, pair.private_key)
    credentials = Credentials(
        target=target,
        issuer=settings.issuer,
        audience=settings.audience,
        tenant=Reference(tenant.namespace, tenant.id),
        principal=Reference(principal.namespace, principal.id),
        tls=TlsRoots(authority.pair.certificate, None, shown),
        credential_id=Credential(CredentialForm.SPIFFE, spiffe_id).id,
    )
    _write(folder, name, pair)
    file = folder / f"{name}.json"
    credentials.save(file)
    return _Client(principal, spiffe_id, file)


def _write(folder: Path, name: str, pair: PemPair) -> None:
    try:
        write_private_file(folder / f"{name}-{_KEY}", pair.private_key)
        write_private_file(folder / f"{name}.{_CERTIFICATE}", pair.certificate)
    except FileExistsError as error:
        there = error.filename2 or error.filename  # A link names its source first.
        raise Refused(f"{there} is there already, and nothing is overwritten: name another folder") from None


def _row(client: _Client) -> dict[str, Json]:
    return {
        "principal": str(client.principal),
        "spiffe": client.spiffe_id,
        "credentials": str(client.credentials),
    }


def _show(folder: Path, trust_domain: str, tenant: TenantRef, clients: list[_Client]) -> None:
    say(f"made certificates in {folder}, good for {LIFETIME.days} days and for trying on this machine alone")
    say("\nserve with them:")
    say(f"  export AUTHORITY_TLS_CERTIFICATE={folder}/server.{_CERTIFICATE}")
    say(f"  export AUTHORITY_TLS_PRIVATE_KEY={folder}/server-{_KEY}")
    say(f"  export AUTHORITY_TLS_CLIENT_CA={folder}/ca.{_CERTIFICATE} AUTHORITY_TLS_TRUST_DOMAINS={trust_domain}")
    say("  authority serve")
    for client in clients:
        say(f"\nlet {client.principal} call, as a service, and call as it:")
        say(f"  authority principals add --tenant '{tenant}' --principal '{client.principal}' --kind service \\")
        say(f"    --spiffe {client.spiffe_id}")
        say(f"  authority call ListMemoryRecords --credentials {client.credentials} \\")
        say('    --json \'{"memory_namespace": "NAME"}\'')
