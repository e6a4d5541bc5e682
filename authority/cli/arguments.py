"""The arguments that several commands share, and how their texts are read."""

import ipaddress
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from authority.domain import limits
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.shape import ID_RULE, is_id, is_instant

Ref = TypeVar("Ref", TenantRef, PrincipalRef)

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_PORT = 65_535


def parse_tenant(text: str) -> TenantRef:
    """`namespace|id`. Raises BadParameter."""
    return TenantRef(*_parts(text))


def parse_principal(text: str) -> PrincipalRef:
    """`namespace|id`. Raises BadParameter."""
    return PrincipalRef(*_parts(text))


def parse_name(text: str) -> str:
    """The name of a memory namespace. Raises BadParameter."""
    if not is_id(text):
        raise typer.BadParameter(f"{text!r} is no name: use {ID_RULE}, at most {limits.ID_BYTES} bytes")
    return text


def parse_instant(text: str) -> Instant:
    """ISO 8601 with a zone, whole milliseconds. Raises BadParameter."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no time: write 2027-01-31T08:00:00Z") from None
    if moment.tzinfo is None:
        raise typer.BadParameter(f"{text!r} names no zone: add Z for UTC")
    if moment.microsecond % 1000:
        raise typer.BadParameter(f"{text!r} is finer than a millisecond")
    instant = Instant((moment - _EPOCH) // timedelta(milliseconds=1))
    if not is_instant(instant):
        raise typer.BadParameter(f"{text!r} does not lie between the years 1970 and 9999")
    return instant


def parse_public_key(text: str) -> bytes:
    """32 bytes in hexadecimal digits. Raises BadParameter."""
    return _hex(text, 32)


def parse_signature(text: str) -> bytes:
    """64 bytes in hexadecimal digits. Raises BadParameter."""
    return _hex(text, 64)


def parse_digest(text: str) -> bytes:
    """`sha256:` and 64 hexadecimal digits. Raises BadParameter."""
    if _DIGEST.fullmatch(text) is None:
        raise typer.BadParameter(f"{text!r} is not sha256: and 64 lowercase hexadecimal digits")
    return bytes.fromhex(text.removeprefix("sha256:"))


def parse_target(text: str) -> str:
    """Where a client calls: `HOST:PORT`, `[IPV6]:PORT` or `unix:PATH`. Raises BadParameter."""
    if text.startswith("unix:"):
        return text
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or not 0 < int(port) <= _LAST_PORT:
        raise typer.BadParameter(f"{text!r} is not HOST:PORT with a port from 1 to {_LAST_PORT}")
    if is_wildcard(host):
        raise typer.BadParameter(f"{text!r} is where a server listens: name the host by which clients reach it")
    return text


def is_wildcard(host: str) -> bool:
    """Whether a server listens there on every address, so that no client can be sent there."""
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_unspecified
    except ValueError:
        return host in ("", "*")


def iso(instant: Instant | None) -> str:
    """The instant as people read it; empty for None."""
    if instant is None:
        return ""
    return (_EPOCH + timedelta(milliseconds=instant)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def short_time(instant: Instant | None) -> str:
    """The instant in UTC to the minute, for tables; empty for None."""
    return "" if instant is None else f"{_EPOCH + timedelta(milliseconds=instant):%Y-%m-%d %H:%M}"


def _hex(text: str, size: int) -> bytes:
    try:
        data = bytes.fromhex(text)
    except ValueError:
        data = b""
    if len(data) != size:
        raise typer.BadParameter(f"must be {size} bytes, which are {2 * size} hexadecimal digits")
    return data


def _parts(text: str) -> tuple[str, str]:
    namespace, bar, identifier = text.partition("|")
    if not bar or not is_id(namespace) or not is_id(identifier):
        raise typer.BadParameter(f"{text!r} is not NAMESPACE|ID: two words of {ID_RULE}, in quotes because of the bar")
    return namespace, identifier


TENANT_HELP = "The tenant, as 'NAMESPACE|ID'."

DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        help="Data folder of a running embedded authority. Without it, and without AUTHORITY_ADMIN_DATABASE_URL,"
        " ./.authority is tried.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Tenant = Annotated[TenantRef, typer.Option("--tenant", parser=parse_tenant, metavar="NS|ID", help=TENANT_HELP)]
