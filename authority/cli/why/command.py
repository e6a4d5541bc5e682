"""`authority why`: why a record is there, and whether that is proved."""

from pathlib import Path
from typing import Annotated

import typer

from authority.cli.arguments import AsJson
from authority.cli.connecting import As, Caller, CredentialsFile, Roots, ServedFolder, find_caller
from authority.cli.failures import REFUSED, Misused, Refused
from authority.cli.output import emit
from authority.cli.running import run_to_end
from authority.cli.why.page import show
from authority.cli.why.story import Story
from capability_authority.client import (
    AuthorityError,
    CapabilityAuthority,
    KeySetRefused,
    NotFound,
    PlaintextRefused,
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
    caller = find_caller(credentials, data, who, tls_roots)
    if not caller.is_known:
        raise Misused("an export must be signed for: name the caller by --as TENANT/NAME or --credentials FILE")
    export = run_to_end(lambda: _export(record, caller))
    if keep is not None:
        keep.write_bytes(export.message.SerializeToString())
    story = Story(export)
    if as_json:
        emit(story.document())
    else:
        show(story)
    return REFUSED if export.broken else 0


async def _export(record_id: str, caller: Caller) -> RecordExport:
    try:
        async with CapabilityAuthority.connect(credentials=caller.credentials, tls=caller.tls) as authority:
            return await authority.export(record_id, form="audit", verify=False)
    except NotFound as error:
        raise Refused(f"{error}; what is revoked, superseded or expired is told to admins alone") from error
    except (AuthorityError, KeySetRefused) as error:
        raise Refused(str(error)) from error
    except PlaintextRefused as error:
        raise Refused(f"{caller.credentials.target} needs TLS: name its roots by --tls-roots") from error
