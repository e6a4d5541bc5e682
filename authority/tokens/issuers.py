"""Which token issuers an operator believes, and for what: a TOML file of tables `[[issuer]]` (semantics §2)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from authority.domain.references import TenantRef
from authority.domain.shape import is_id
from authority.tokens.sources import KeySource, SourceWrong, file_source, url_source

ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
"""What a token can be signed by. None has a shared secret: a public key can never stand for one (case E06)."""

_MOST_BYTES: Final = 256 * 1024
_MOST_ISSUERS: Final = 64
_TEXT_BYTES: Final = 1024
_MEMBERS: Final = frozenset(
    {"issuer", "audience", "algorithms", "jwks_file", "jwks_url", "principal_claim", "tenant_claim", "tenant"}
)


class IssuersWrong(Exception):
    """The file of token issuers cannot be used. The message names the file, the member and what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenIssuer:
    """One issuer whose tokens are taken."""

    issuer: str
    """The claim `iss`, byte for byte."""
    audience: str
    """What its tokens must be for: the claim `aud` is it, or holds it."""
    algorithms: tuple[str, ...]
    """In order: a key that names no algorithm has the first that fits it. What a token names is never asked."""
    keys: KeySource
    principal_claim: str = "sub"
    """Which claim is the subject that a principal is registered by."""
    tenant_claim: str = "tenant"
    """Which claim names the tenant, as `namespace|id`."""
    tenant: TenantRef | None = None
    """The one tenant that its tokens are for, which then need not name it."""


def read_issuers(file: Path) -> tuple[TokenIssuer, ...]:
    """The issuers of a file. Raises IssuersWrong."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise IssuersWrong(f"{file} has more than {_MOST_BYTES:,} bytes")
        tables = tomllib.loads(data.decode())
    except OSError as error:
        raise IssuersWrong(f"{file} cannot be read ({error.strerror})") from None
    except RecursionError:
        raise IssuersWrong(f"{file} is no TOML: it is too deep") from None
    except ValueError as error:
        raise IssuersWrong(f"{file} is no TOML: {error}") from None
    issuers = tables.pop("issuer", None)
    if tables or not isinstance(issuers, list) or not 0 < len(issuers) <= _MOST_ISSUERS:
        raise IssuersWrong(f"{file} must hold tables [[issuer]], from 1 to {_MOST_ISSUERS}, and nothing else")
    found = tuple(_issuer(_Table(f"{file}, issuer {number}", table)) for number, table in enumerate(issuers, 1))
    if len({one.issuer for one in found}) != len(found):
        raise IssuersWrong(f"{file} names an issuer twice")
    return found


@dataclass(frozen=True, slots=True)
class _Table:
    place: str
    members: Mapping[str, Any]

    def text(self, name: str, default: str | None = None) -> str:
        value = self.members.get(name, default)
        if not isinstance(value, str) or not 0 < len(value.encode()) <= _TEXT_BYTES:
            raise self.wrong(name, f"must be a text of at most {_TEXT_BYTES} bytes")
        return value

    def wrong(self, name: str, problem: str) -> IssuersWrong:
        return IssuersWrong(f"{self.place}: {name} {problem}")


def _issuer(table: _Table) -> TokenIssuer:
    if not isinstance(table.members, dict):
        raise table.wrong("it", "must be a table")
    if unknown := sorted(table.members.keys() - _MEMBERS):
        raise table.wrong(unknown[0], "is unknown")
    if {"tenant", "tenant_claim"} <= table.members.keys():
        raise table.wrong("tenant", "and tenant_claim exclude each other")
    return TokenIssuer(
        issuer=table.text("issuer"),
        audience=table.text("audience"),
        algorithms=_algorithms(table),
        keys=_source(table),
        principal_claim=table.text("principal_claim", "sub"),
        tenant_claim=table.text("tenant_claim", "tenant"),
        tenant=_tenant(table),
    )


def _algorithms(table: _Table) -> tuple[str, ...]:
    named = table.members.get("algorithms")
    if not isinstance(named, list) or not named or not all(isinstance(one, str) and one in ALGORITHMS for one in named):
        raise table.wrong("algorithms", f"must be a list of these: {', '.join(sorted(ALGORITHMS))}")
    return tuple(named)


def _source(table: _Table) -> KeySource:
    given = [name for name in ("jwks_file", "jwks_url") if name in table.members]
    if len(given) != 1:
        raise table.wrong("jwks_file", "or jwks_url must be given, and not both")
    text = table.text(given[0])
    try:
        return file_source(Path(text)) if given == ["jwks_file"] else url_source(text)
    except SourceWrong as error:
        raise table.wrong(given[0], str(error)) from None


def _tenant(table: _Table) -> TenantRef | None:
    if "tenant" not in table.members:
        return None
    namespace, _, identifier = table.text("tenant").partition("|")
    if not is_id(namespace) or not is_id(identifier):
        raise table.wrong("tenant", "must be NAMESPACE|ID")
    return TenantRef(namespace, identifier)
