"""`authority principals …`: who may call, and with which keys."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from authority.bootstrap.operator import Operator
from authority.cli.aliases import app as alias_app
from authority.cli.arguments import (
    AsJson,
    DataFolder,
    Tenant,
    Yes,
    parse_principal,
    parse_public_key,
    parse_signature,
    parse_target,
)
from authority.cli.failures import Misused, Refused
from authority.cli.operating import confirm, is_known, operate, operator_settings, require_known, unknown
from authority.cli.output import Json, emit, note, say
from authority.cli.shown_credentials import CertificateFile, Spiffe, Subject, TokenSubject, shown_credential, told
from authority.cli.tables import table
from authority.config import OperatorSettings
from authority.domain.credential import Credential, CredentialForm
from authority.domain.identity import RIGHTS_BY_KIND, PrincipalKind, Right, possible_rights
from authority.domain.references import PrincipalRef, TenantRef
from authority.signing.possession import PossessionUnproved, new_key, registration_message, require_possession
from authority.usecases.administer import ListedPrincipal, NewPrincipal
from authority.usecases.register_credentials import RegisteredCredential
from capability_authority.client.credentials import Credentials, Reference

app = typer.Typer(
    no_args_is_help=True, help="Add, list and revoke principals: who may call, with which keys and rights."
)

app.add_typer(alias_app, name="alias")

Principal = Annotated[
    PrincipalRef,
    typer.Option("--principal", parser=parse_principal, metavar="NS|ID", help="The principal, as 'NAMESPACE|ID'."),
]

_EITHER_KEY_OR_SHOWN = "a certificate or token stands for a key: leave out --out, --public-key, --proof and --target"


@app.command()
def add(  # noqa: PLR0913 - one option for each property
    *,
    tenant: Tenant,
    principal: Principal,
    kind: Annotated[PrincipalKind, typer.Option(help="Decides its provenance, and which rights it can have.")],
    right: Annotated[
        list[Right] | None, typer.Option(help="A right; may be repeated. Those usual for the kind when left out.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Make a key, and write it with all else a client needs here.")
    ] = None,
    public_key: Annotated[
        bytes | None,
        typer.Option(parser=parse_public_key, metavar="HEX", help="The key of who made one: 32 bytes, Ed25519."),
    ] = None,
    proof: Annotated[
        bytes | None,
        typer.Option(
            parser=parse_signature, metavar="HEX", help="Its signature over the registration message: 64 bytes."
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            parser=parse_target,
            metavar="HOST:PORT",
            help="Where it calls the authority, for --out; where the authority listens when left out.",
        ),
    ] = None,
    spiffe: Spiffe = None,
    certificate: CertificateFile = None,
    subject: Subject = None,
    token_subject: TokenSubject = None,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Register a principal of a tenant with its first key, or with what it shows instead of one.

    Either --out makes the key here, or --public-key and --proof bring one that its holder made elsewhere. The proof is
    a signature, by that key, over these four lines joined by newlines: capability-authority/key-registration/v1, the
    tenant, the principal, the public key in hex. --public-key without --proof shows them.

    Or it signs nothing: --spiffe, --certificate and --subject name the client certificate that it shows, and
    --token-subject its bearer tokens. `principals bind` adds more of them later.
    """
    rights = _rights(kind, right)
    shown = shown_credential(spiffe, certificate, subject, token_subject)
    if shown is not None:
        if any(value is not None for value in (out, public_key, proof, target)):
            raise Misused(_EITHER_KEY_OR_SHOWN)
        new = NewPrincipal(tenant=tenant, ref=principal, kind=kind, rights=rights, credential=shown)
        _tell_new(new, is_first=operate(data, lambda operator: _add(operator, new)), as_json=as_json)
        return
    settings = operator_settings(data)
    credentials = None
    if out is not None and public_key is None and proof is None:
        credentials = _new_credentials(settings, tenant, principal, _target(settings, target))
        key_id, raw_key = credentials.key_id, credentials.signing_key.public_key.raw
        _save(credentials, out)
    elif target is not None:
        raise Misused("--target is written into the file of --out: give it with --out FILE alone")
    else:
        key_id, raw_key = _proved(tenant, principal, public_key, proof, out)
    new = NewPrincipal(tenant=tenant, ref=principal, kind=kind, rights=rights, key_id=key_id, public_key=raw_key)

    try:
        is_first = operate(data, lambda operator: _add(operator, new))
    except BaseException:
        if credentials is not None and out is not None:
            out.unlink()  # A key that nobody knows.
        raise
    _tell_new(new, is_first=is_first, as_json=as_json, credentials=credentials, out=out)
    if credentials and not as_json:
        say(f"its credentials are in {out}, to call {credentials.target}: a secret, for it alone")


@app.command("list")
def list_(*, tenant: Tenant, data: DataFolder = None, as_json: AsJson = False) -> None:
    """List the principals of a tenant, revoked ones too."""

    async def act(operator: Operator) -> list[ListedPrincipal]:
        found = list(await operator.administration.list_principals(tenant))
        if not found and not await is_known(operator, tenant):
            note(unknown(tenant))
        return found

    found = operate(data, act)
    shown = [one for one in operate(data, lambda operator: operator.credentials.credentials(tenant)) if _is_live(one)]
    if as_json:
        emit([_row(principal, shown) for principal in found])
        return
    rows = ((str(p.ref), p.kind.value, _words(p.rights), p.state, "\n".join(_keys(p, shown))) for p in found)
    table(("PRINCIPAL", "KIND", "RIGHTS", "STATE", "ACTIVE KEYS"), rows)


@app.command()
def bind(
    *,
    tenant: Tenant,
    principal: Principal,
    spiffe: Spiffe = None,
    certificate: CertificateFile = None,
    subject: Subject = None,
    token_subject: TokenSubject = None,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Let a principal show one more certificate or token; what it is known by already goes on.

    `principals revoke --key` ends one by its id. A revoked one never comes back, for anybody of the tenant.
    """
    shown = shown_credential(spiffe, certificate, subject, token_subject)
    if shown is None:
        raise Misused("name one of --spiffe, --certificate, --subject and --token-subject")

    async def act(operator: Operator) -> None:
        await require_known(operator, tenant)
        await operator.credentials.add(tenant, principal, shown, operator.clock.now())

    operate(data, act)
    if as_json:
        emit({"tenant": str(tenant), "principal": str(principal), **_shown_row(shown)})
    else:
        say(f"{principal} of {tenant} may show {told(shown.form, shown.shown, shown.issuer)}; its id is {shown.id}")


@app.command()
def revoke(
    *,
    tenant: Tenant,
    principal: Annotated[
        PrincipalRef | None,
        typer.Option("--principal", parser=parse_principal, metavar="NS|ID", help="Revoke it with all its keys."),
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="KEY_ID", help="Revoke this one key, certificate or token alone.")
    ] = None,
    yes: Yes = False,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Revoke a principal, or one key of one. There is no way back; no commit that follows ignores it."""
    if (principal is None) == (key is None):
        raise Misused("name either --principal or --key")
    what = f"principal {principal}" if principal else f"key {key}"
    operate(data, lambda operator: require_known(operator, tenant))
    confirm(f"{what} of {tenant} will never be accepted again, and its uncommitted capabilities die.", yes=yes)

    async def act(operator: Operator) -> None:
        now = operator.clock.now()
        if principal is not None:
            await operator.administration.revoke_principal(tenant, principal, now)
        elif key is not None:
            await operator.administration.revoke_principal_key(tenant, key, now)

    operate(data, act)
    if as_json:
        emit({"tenant": str(tenant), "revoked": str(principal or key)})
    else:
        say(f"revoked {what} of {tenant}")


async def _add(operator: Operator, new: NewPrincipal) -> bool:
    """Whether the tenant had nothing before."""
    is_first = not await is_known(operator, new.tenant)
    if new.ref in {found.ref for found in await operator.administration.list_principals(new.tenant)}:
        raise Refused(f"principal {new.ref} is registered already in {new.tenant}")
    await operator.administration.add_principal(new, operator.clock.now())
    return is_first


def _rights(kind: PrincipalKind, wanted: list[Right] | None) -> frozenset[Right]:
    rights = frozenset(wanted) if wanted else RIGHTS_BY_KIND[kind]
    if impossible := rights - possible_rights(kind):
        can = _words(possible_rights(kind))
        raise Misused(f"--right: a principal of kind {kind.value} can never {_words(impossible)}; it can have {can}")
    return rights


def _target(settings: OperatorSettings, wanted: str | None) -> str:
    """Where the new principal calls. An address that only a server can use is none."""
    if wanted is not None:
        return wanted
    try:
        return parse_target(settings.listen)
    except typer.BadParameter:
        raise Misused(
            f"the authority listens at {settings.listen}, which is no place to call: add --target HOST:PORT,"
            " by which clients reach it"
        ) from None


def _new_credentials(
    settings: OperatorSettings, tenant: TenantRef, principal: PrincipalRef, target: str
) -> Credentials:
    return Credentials(
        target=target,
        issuer=settings.issuer,
        audience=settings.audience,
        tenant=Reference(tenant.namespace, tenant.id),
        principal=Reference(principal.namespace, principal.id),
        private_key=new_key(),
    )


def _save(credentials: Credentials, out: Path) -> None:
    try:
        credentials.save(out)
    except FileExistsError:
        raise Refused(f"{out} is there already, and a key is never overwritten: name another file by --out") from None


def _proved(
    tenant: TenantRef, principal: PrincipalRef, public_key: bytes | None, proof: bytes | None, out: Path | None
) -> tuple[str, bytes]:
    if public_key is None or out is not None:
        raise Misused("give either --out FILE, to make a key here, or --public-key HEX with --proof HEX")
    if proof is None:
        message = registration_message(tenant, principal, public_key).decode()
        raise Misused(f"--proof is missing: have the holder sign these lines, without a newline at the end:\n{message}")
    try:
        return require_possession(tenant, principal, public_key, proof), public_key
    except PossessionUnproved as error:
        raise Refused(str(error)) from None


def _tell_new(
    new: NewPrincipal,
    *,
    is_first: bool,
    as_json: bool,
    credentials: Credentials | None = None,
    out: Path | None = None,
) -> None:
    if as_json:
        target = credentials.target if credentials else None
        row = _shown_row(new.credential) if new.credential else {}
        emit({**_row_of_new(new), **row, "credentials": str(out) if out else None, "target": target})
        return
    place = f"the new tenant {new.tenant}" if is_first else new.tenant
    known = f"its key is {new.key_id}"
    if shown := new.credential:
        known = f"it shows {told(shown.form, shown.shown, shown.issuer)}, whose id is {shown.id}"
    say(f"added {new.ref} to {place} as {new.kind.value} with the rights {_words(new.rights)}; {known}")


def _is_live(credential: RegisteredCredential) -> bool:
    return credential.state == "active" and credential.form is not CredentialForm.ED25519


def _keys(principal: ListedPrincipal, shown: Sequence[RegisteredCredential]) -> Iterator[str]:
    """The ids of its keys, and what it shows instead of a signature, each with its id."""
    own = {one.credential_id: one for one in shown if one.principal == principal.ref}
    yield from (key_id for key_id in principal.key_ids if key_id not in own)
    yield from (f"{told(one.form, one.shown, one.issuer)}\n{key_id}" for key_id, one in own.items())


def _shown_row(credential: Credential | RegisteredCredential) -> dict[str, Json]:
    """What is shown; its id is the `key_id` that holders are bound by."""
    key_id = credential.id if isinstance(credential, Credential) else credential.credential_id
    row: dict[str, Json] = {"key_id": key_id, "form": credential.form.value, "shown": credential.shown}
    return {**row, "issuer": credential.issuer} if credential.issuer else row


def _row_of_new(new: NewPrincipal) -> dict[str, Json]:
    return {
        "tenant": str(new.tenant),
        "principal": str(new.ref),
        "kind": new.kind.value,
        "rights": sorted(right.value for right in new.rights),
        "key_id": new.key_id,
    }


def _row(principal: ListedPrincipal, shown: Sequence[RegisteredCredential]) -> dict[str, Json]:
    own = [_shown_row(one) for one in shown if one.principal == principal.ref]
    return {
        "tenant": str(principal.tenant),
        "principal": str(principal.ref),
        "kind": principal.kind.value,
        "rights": sorted(right.value for right in principal.rights),
        "state": principal.state,
        "key_ids": list(principal.key_ids),
        "shows": list[Json](own),
    }


def _words(rights: frozenset[Right]) -> str:
    return ", ".join(right.value for right in Right if right in rights) or "none"
