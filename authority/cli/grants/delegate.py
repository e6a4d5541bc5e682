"""`authority grants delegate`: a grant is handed on, narrower, without asking any server."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from authority.cli.arguments import AsJson, parse_instant, parse_principal
from authority.cli.failures import Refused
from authority.cli.grants.terms import parse_terms
from authority.cli.output import Json, emit, note, printable, say
from authority.cli.statement_argument import find_argument
from authority.domain.references import Instant, PrincipalRef
from authority.domain.statement import Statement
from authority.signing.delegation import Narrower, NotHandedOn, hand_on
from authority.signing.inspection import Described, describe, serialized, statement_json
from capability_authority.client import Credentials


def delegate(
    grant: Annotated[str, typer.Argument(metavar="FILE|-|BASE64", help="The grant that you hold.")],
    *,
    credentials: Annotated[
        Path,
        typer.Option(metavar="FILE", envvar="AUTHORITY_CREDENTIALS", help="Yours, with the key that the grant binds."),
    ],
    to: Annotated[PrincipalRef, typer.Option(parser=parse_principal, metavar="NS|ID", help="The new holder.")],
    to_key: Annotated[
        str,
        typer.Option(
            metavar="HEX|sha256:…", help="Its public key; or the id of its credential, and then it hands nothing on."
        ),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIMENSION=VALUE",
            help="What is narrower, once for each: names divided by commas, an amount, yes or no. Nothing denies all.",
        ),
    ] = None,
    expires: Annotated[
        Instant | None,
        typer.Option(parser=parse_instant, metavar="TIME", help="When it ends, as 2027-01-31T08:00:00Z."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the serialized grant to this new file.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Hand a grant on to another holder, as it is or narrower, and sign that with your own key.

    No server is asked. What is not named stays as it is in your grant; what would be wider is refused by its dimension.
    Whoever is shown the new grant has to be shown yours as well, and all of its ancestors.
    """
    terms: dict[str, Any] = {**parse_terms(only or ()), "expire_ms": expires}
    parent = find_argument(grant)
    try:
        child = hand_on(parent, Credentials.from_file(credentials).signing_key, to, to_key, Narrower(**terms))
    except NotHandedOn as error:
        raise Refused(f"not handed on: {error}") from None
    if out is not None:
        _write(out, child)
    _tell(child, out, as_json=as_json)
    return 0


def _write(out: Path, child: Statement) -> None:
    """A grant is no secret without the key that it binds. What stands there already is somebody's."""
    try:
        with out.open("xb") as file:
            file.write(serialized(child))
    except FileExistsError:
        raise Refused(f"--out: {out} is there already, and is not written over") from None


def _tell(child: Statement, out: Path | None, *, as_json: bool) -> None:
    description = describe(child)
    if as_json:
        document: dict[str, Json] = {"grant": statement_json(child), "digest": description.digest}
        emit(document | {"says": dict(description.says), "file": None if out is None else str(out)})
        return
    note(f"{description.digest}, for {_ref(description.says, 'holder')} until {_text(description.says, 'expire_time')}")
    say(base64.b64encode(serialized(child)).decode() if out is None else f"written to {printable(str(out))}")


def _ref(says: Mapping[str, Described], name: str) -> str:
    ref = says[name]
    return f"{ref['namespace']}|{ref['id']}" if isinstance(ref, dict) else ""


def _text(says: Mapping[str, Described], name: str) -> str:
    return str(says[name])
