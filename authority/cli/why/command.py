"""`authority why`: why a record is there, and whether that is proved."""

from pathlib import Path
from typing import Annotated

import typer

from authority.cli.arguments import AsJson
from authority.cli.asking import ask_as
from authority.cli.connecting import As, CredentialsFile, Roots, ServedFolder
from authority.cli.failures import REFUSED, Refused
from authority.cli.output import emit
from authority.cli.why.page import show
from authority.cli.why.story import Story
from capability_authority.client import (
    CapabilityAuthority,
    NotFound,
    RecordExport,
)


def why(
    record: Annotated[str, typer.Argument(metavar="RECORD", help="The record's id.")],
    *,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="FILE", help="Keep the export there, to be checked again anywhere."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Show why a record is there: what it says, from what, who and what allowed it, what it cost, who cites it.

    Everything comes as one export, and every signature and digest of it is checked here, against the keys of the issuer
    that the credentials pin. Where one part does not hold, that is shown, and the exit code is 1. What is revoked,
    superseded or expired is told to admins.
    """
    export: RecordExport = ask_as(credentials, data, who, tls_roots, lambda authority: _export(authority, record))
    if keep is not None:
        keep.write_bytes(export.message.SerializeToString())
    story = Story(export)
    if as_json:
        emit(story.document())
    else:
        show(story)
    return REFUSED if export.broken else 0


async def _export(authority: CapabilityAuthority, record_id: str) -> RecordExport:
    try:
        return await authority.export(record_id, form="audit", verify=False)
    except NotFound as error:
        raise Refused(f"{error}; what is revoked, superseded or expired is told to admins alone") from error
