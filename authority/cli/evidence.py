"""`authority evidence …`: what proposals rest on, by digest, and what persons decided on it."""

from datetime import UTC
from pathlib import Path
from typing import Annotated, Final

import typer
from google.protobuf.json_format import MessageToDict

from authority.bootstrap.operator import Operator
from authority.cli.arguments import AsJson, DataFolder, Tenant, iso, parse_digest, parse_principal, short_time
from authority.cli.asking import ask_as
from authority.cli.connecting import As, CredentialsFile, Roots, ServedFolder
from authority.cli.failures import Misused, Refused
from authority.cli.operating import operate, require_known
from authority.cli.output import Json, emit, printable, say
from authority.cli.tables import table
from authority.domain.evidence import Evidence, EvidenceState
from authority.domain.proposal import Visibility
from authority.domain.references import PrincipalRef, TenantRef
from authority.usecases.administer import NotTheirs, NotThere
from capability_authority.client import CapabilityAuthority
from capability_authority.client import Evidence as KeptEvidence

app = typer.Typer(no_args_is_help=True, help="Put, read and list evidence, and enter what persons decided on it.")

Digest = Annotated[
    bytes, typer.Argument(parser=parse_digest, metavar="DIGEST", help="sha256: and 64 hexadecimal digits.")
]
By = Annotated[
    PrincipalRef,
    typer.Option("--by", parser=parse_principal, metavar="NS|ID", help="Who decided: a user or admin that may decide."),
]
Note = Annotated[str, typer.Option("--note", help="Why, for those who look later.")]

_PAGE: Final = 200
_NOTE_BYTES: Final = 1_024
_MEDIA_TYPES: Final = {".json": "application/json", ".txt": "text/plain", ".log": "text/plain"}


@app.command()
def put(  # noqa: PLR0913 - one option for each property
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="The bytes; or name --reference.")] = None,
    *,
    reference: Annotated[str, typer.Option(metavar="URI", help="Where the bytes are kept, instead of FILE.")] = "",
    digest: Annotated[str, typer.Option(metavar="DIGEST", help="Of the bytes that are kept there.")] = "",
    media_type: Annotated[
        str, typer.Option(metavar="TYPE", help="As application/pdf; known for .json, .txt and .log.")
    ] = "",
    visibility: Annotated[Visibility, typer.Option(help="Who may know of it.")] = Visibility.PRIVATE,
    scope: Annotated[str, typer.Option(metavar="ID", help="Which channel or team, with that visibility.")] = "",
    vouch: Annotated[bool, typer.Option("--vouch", help="Sign that the caller made exactly these bytes.")] = False,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> None:
    """Put evidence that proposals can name by its digest. It waits until a person approved it who did not put it."""
    content = None if file is None else file.read_bytes()
    kind = media_type or _MEDIA_TYPES.get(file.suffix if file else "", "")
    if (content is None) == (not reference):
        raise Misused("name either FILE or --reference with --digest")
    if not kind:
        raise Misused("name the --media-type, as in --media-type application/pdf")
    if vouch and content is None:
        raise Misused("--vouch signs for bytes: name FILE")

    async def ask(authority: CapabilityAuthority) -> KeptEvidence:
        claim = authority.vouch_for(content, media_type=kind) if vouch and content is not None else None
        return await authority.put_evidence(
            content,
            media_type=kind,
            reference=reference,
            digest=digest,
            visibility=visibility.value,
            visibility_scope=scope,
            claim=claim,
        )

    kept = ask_as(credentials, data, who, tls_roots, ask)
    if as_json:
        emit(_document(kept))
    else:
        say(kept.digest)
        say(f"{kept.state}, for {kept.visibility}{', vouched for' if kept.signed_by else ''}")


@app.command()
def read(
    digest: Digest,
    *,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the bytes there.")] = None,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> None:
    """Read evidence: whose it is, what a person said of it, and its bytes or where they are kept."""
    found = ask_as(credentials, data, who, tls_roots, lambda authority: authority.read_evidence(_text(digest)))
    if out is not None:
        if found.content is None:
            raise Refused(f"its bytes are kept elsewhere: {printable(found.reference or '')}")
        out.write_bytes(found.content)
    if as_json:
        emit(_document(found))
        return
    signed_by = f"{found.signed_by.namespace}|{found.signed_by.id}" if found.signed_by else "nobody"
    lines = (
        ("evidence", found.digest),
        ("state", found.state),
        ("type", found.media_type),
        ("put by", f"{found.put_by.namespace}|{found.put_by.id}, {found.put_time.astimezone(UTC):%Y-%m-%d %H:%M}"),
        ("vouched", f"for by {signed_by}"),
        ("for", found.visibility),
        ("kept", _kept(found, out)),
    )
    for name, value in lines:
        say(f"{name:<12} {printable(value)}")


@app.command("list")
def list_(
    *,
    tenant: Tenant,
    state: Annotated[EvidenceState | None, typer.Option(help="Only evidence in this state.")] = None,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """List the evidence of a tenant as its operator: what waits for a decision is `--state pending`."""

    async def act(operator: Operator) -> list[Evidence]:
        await require_known(operator, tenant)
        found: list[Evidence] = []
        while page := await operator.evidence.page(
            tenant, state=state, after=found[-1].digest if found else b"", size=_PAGE
        ):
            found.extend(page)
        return found

    found = operate(data, act)
    if as_json:
        emit([_listed(evidence) for evidence in found])
        return
    columns = ("STATE", "TYPE", "PUT BY", "PUT", "FOR", "KEPT", "DIGEST")
    table(columns, (_row(evidence) for evidence in found))


@app.command()
def approve(
    digest: Digest, *, tenant: Tenant, by: By, note: Note = "", data: DataFolder = None, as_json: AsJson = False
) -> None:
    """Enter that a person approved evidence who did not put it. It cannot be undone."""
    _decide(tenant, digest, EvidenceState.APPROVED, by, note, data, as_json=as_json)


@app.command()
def reject(
    digest: Digest, *, tenant: Tenant, by: By, note: Note = "", data: DataFolder = None, as_json: AsJson = False
) -> None:
    """Enter that a person rejected evidence who did not put it. It cannot be undone."""
    _decide(tenant, digest, EvidenceState.REJECTED, by, note, data, as_json=as_json)


def _decide(
    tenant: TenantRef,
    digest: bytes,
    state: EvidenceState,
    by: PrincipalRef,
    note: str,
    data: Path | None,
    *,
    as_json: bool,
) -> None:
    if len(note.encode()) > _NOTE_BYTES:
        raise Misused(f"--note: at most {_NOTE_BYTES} bytes")

    async def act(operator: Operator) -> None:
        await require_known(operator, tenant)
        try:
            await operator.evidence.decide(tenant, digest, state, by=by, note=note, now=operator.clock.now())
        except NotThere:
            raise Refused(f"no evidence {_text(digest)} of {tenant} waits for a decision") from None
        except NotTheirs:
            raise Refused(f"{by} cannot decide: it takes a user or admin with that right who did not put it") from None

    operate(data, act)
    if as_json:
        emit({"tenant": str(tenant), "digest": _text(digest), "state": state.value, "decided_by": str(by)})
    else:
        say(f"{state.value} by {by}: {_text(digest)}")


def _text(digest: bytes) -> str:
    return f"sha256:{digest.hex()}"


def _document(evidence: KeptEvidence) -> Json:
    document: Json = MessageToDict(evidence.message, preserving_proto_field_name=True)
    return document


def _kept(evidence: KeptEvidence, out: Path | None) -> str:
    if evidence.content is None:
        return f"at {evidence.reference}"
    return f"here, {len(evidence.content)} bytes" + (f"; written to {out}" if out else "; --out FILE writes them")


def _row(evidence: Evidence) -> tuple[str, ...]:
    return (
        evidence.state.value,
        evidence.media_type,
        str(evidence.put_by),
        short_time(evidence.put_time),
        evidence.visibility.value,
        "here" if evidence.reference is None else evidence.reference,
        _text(evidence.digest),
    )


def _listed(evidence: Evidence) -> Json:
    return {
        "digest": _text(evidence.digest),
        "state": evidence.state.value,
        "media_type": evidence.media_type,
        "put_by": str(evidence.put_by),
        "put_time": iso(evidence.put_time),
        "visibility": evidence.visibility.value,
        "visibility_scope": evidence.visibility_scope,
        "reference": evidence.reference,
        "signed_by": str(evidence.signed_by) if evidence.signed_by else None,
        "decided_by": str(evidence.decided_by) if evidence.decided_by else None,
        "note": evidence.note,
    }
