"""`authority token-issuers …`: whose bearer tokens are taken, and whether their keys can be had."""

from dataclasses import dataclass

import typer

from authority.bootstrap.identities import token_issuers
from authority.cli.arguments import AsJson
from authority.cli.failures import REFUSED
from authority.cli.output import Json, emit
from authority.cli.tables import table
from authority.config import load_token_settings
from authority.tokens.issuers import TokenIssuer
from authority.tokens.key_set import KeySetWrong, read_key_set
from authority.tokens.sources import SourceAway

app = typer.Typer(
    no_args_is_help=True, help="List the issuers of AUTHORITY_TOKEN_ISSUERS, and try whether their keys can be had."
)

_NONE = "none: AUTHORITY_TOKEN_ISSUERS names no file here"


@app.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List whose bearer tokens are taken, for what audience, and how principals and tenants are named in them."""
    found = token_issuers(load_token_settings())
    if as_json:
        emit([_row(issuer) for issuer in found])
        return
    columns = ("ISSUER", "AUDIENCE", "ALGORITHMS", "PRINCIPAL", "TENANT", "KEYS")
    table(columns, [_cells(issuer) for issuer in found], none=_NONE)


@app.command()
def check(*, as_json: AsJson = False) -> int:
    """Ask each issuer for its keys, as the service does. The exit code is 1 when one has none that can verify."""
    found = [_tried(issuer) for issuer in token_issuers(load_token_settings())]
    if as_json:
        emit([{"issuer": one.issuer, "keys": list[Json](one.keys), "problem": one.problem} for one in found])
    else:
        table(("ISSUER", "KEYS"), [(one.issuer, one.problem or "\n".join(one.keys)) for one in found], none=_NONE)
    return REFUSED if any(one.problem for one in found) else 0


@dataclass(frozen=True, slots=True)
class _Tried:
    issuer: str
    keys: tuple[str, ...] = ()
    """Ids with their algorithms."""
    problem: str = ""


def _tried(issuer: TokenIssuer) -> _Tried:
    try:
        keys = read_key_set(issuer.keys.read(), issuer.algorithms)
    except (SourceAway, KeySetWrong) as error:
        return _Tried(issuer.issuer, problem=f"{issuer.keys.place} {error}")
    if not keys:
        return _Tried(issuer.issuer, problem=f"{issuer.keys.place} has no key with an id for {_words(issuer)}")
    return _Tried(issuer.issuer, tuple(f"{key.kid} {key.algorithm}" for key in keys.values()))


def _words(issuer: TokenIssuer) -> str:
    return ", ".join(issuer.algorithms)


def _row(issuer: TokenIssuer) -> dict[str, Json]:
    return {
        "issuer": issuer.issuer,
        "audience": issuer.audience,
        "algorithms": list[Json](issuer.algorithms),
        "principal_claim": issuer.principal_claim,
        "tenant_claim": None if issuer.tenant else issuer.tenant_claim,
        "tenant": str(issuer.tenant) if issuer.tenant else None,
        "jwks": issuer.keys.place,
    }


def _cells(issuer: TokenIssuer) -> tuple[str, ...]:
    tenant = str(issuer.tenant) if issuer.tenant else f"claim {issuer.tenant_claim}"
    claim = f"claim {issuer.principal_claim}"
    return (issuer.issuer, issuer.audience, _words(issuer), claim, tenant, issuer.keys.place)
