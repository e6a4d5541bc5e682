"""`authority policies external …`: whose decisions on policy count beside this authority's own."""

from typing import Annotated

import typer

from authority.bootstrap.operator import Operator
from authority.cli.arguments import AsJson, DataFolder, Tenant, Yes, iso, parse_name, parse_public_key, short_time
from authority.cli.failures import Misused
from authority.cli.operating import confirm, operate, require_known
from authority.cli.output import Json, emit, say
from authority.cli.tables import table
from authority.domain import limits
from authority.domain.external_authority import ExternalAuthority
from authority.domain.references import Instant
from authority.signing.public_keys import public_key_problem
from authority.usecases.external_authorities import NewExternalAuthority

app = typer.Typer(no_args_is_help=True, help="Let other authorities have a say on policy, by keys that you name.")


def _parse_issuer(text: str) -> str:
    name = parse_name(text)
    if len(name) > limits.EXTERNAL_ISSUER_BYTES:
        raise typer.BadParameter(f"has more than {limits.EXTERNAL_ISSUER_BYTES} bytes")
    return name


def _parse_key(text: str) -> bytes:
    raw = parse_public_key(text)
    if problem := public_key_problem(raw):
        raise typer.BadParameter(f"is refused: {problem}")
    return raw


Issuer = Annotated[
    str, typer.Argument(parser=_parse_issuer, metavar="ISSUER", help="As its decision receipts name it.")
]


@app.command()
def add(
    issuer: Issuer,
    *,
    tenant: Tenant,
    namespace: Annotated[
        list[str],
        typer.Option("--namespace", parser=parse_name, metavar="NAME", help="Where it has a say. Repeatable."),
    ],
    key: Annotated[
        list[bytes] | None,
        typer.Option("--key", parser=_parse_key, metavar="HEX", help="A public key that signs; repeatable."),
    ] = None,
    required: Annotated[
        bool, typer.Option("--required", help="Nothing is decided there without a decision of its own.")
    ] = False,
    yes: Yes = False,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Let an authority have a say, or change where it has one.

    Its word only narrows: it can deny, or ask for an approval, where your policy allows. Named again, it has a say in
    exactly the memory namespaces that are named now, and keeps its keys.
    """
    new = NewExternalAuthority(
        tenant=tenant,
        issuer=issuer,
        memory_namespaces=tuple(dict.fromkeys(namespace)),
        required=required,
        public_keys=tuple(key or ()),
    )

    async def known(operator: Operator) -> ExternalAuthority | None:
        await require_known(operator, tenant)
        found = await operator.external_authorities.list(tenant)
        return next((it for it in found if it.issuer == issuer), None)

    before = operate(data, known)
    if before is None and not new.public_keys:
        raise Misused(f"{issuer} is new: name a key that signs its decisions by --key")
    if before and before.required and not (required and set(before.memory_namespaces) <= set(namespace)):
        confirm(f"what is decided in {_where(before)} needed a decision of {issuer}, and will not everywhere", yes=yes)

    async def act(operator: Operator) -> None:
        await operator.external_authorities.put(new, operator.clock.now())

    operate(data, act)
    if as_json:
        emit({"tenant": str(tenant), "issuer": issuer, "namespaces": list(new.memory_namespaces), "required": required})
    else:
        say(f"{issuer} has a say in {', '.join(new.memory_namespaces)} of {tenant}{_required(required)}")


@app.command()
def revoke(
    issuer: Issuer,
    *,
    tenant: Tenant,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="One key, by its id sha256:…; else all.")
    ] = None,
    yes: Yes = False,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Withdraw the keys of an authority for ever. Nothing is committed any more that rests on what they signed.

    Where it is required nothing is decided until it has another key.
    """

    async def active(operator: Operator) -> list[str]:
        await require_known(operator, tenant)
        found = [it for it in await operator.external_authorities.list(tenant) if it.issuer == issuer]
        return [it.key_id for one in found for it in one.keys if it.is_active]

    wanted = [key] if key else operate(data, active)
    if not wanted:
        raise Misused(f"{issuer} has no active key in {tenant}")
    confirm(f"what rests on {' and '.join(wanted)} of {issuer} can never be committed", yes=yes)

    async def act(operator: Operator) -> None:
        for key_id in wanted:
            await operator.external_authorities.revoke_key(tenant, issuer, key_id, operator.clock.now())

    operate(data, act)
    if as_json:
        emit({"tenant": str(tenant), "issuer": issuer, "revoked": wanted})
    else:
        say(f"revoked {len(wanted)} key{'s' if len(wanted) > 1 else ''} of {issuer} in {tenant}")


@app.command("list")
def list_(*, tenant: Tenant, data: DataFolder = None, as_json: AsJson = False) -> None:
    """List the authorities that have a say in a tenant, with their keys."""

    async def act(operator: Operator) -> list[ExternalAuthority]:
        await require_known(operator, tenant)
        return list(await operator.external_authorities.list(tenant))

    found = operate(data, act)
    if as_json:
        emit([_row(external) for external in found])
        return
    rows = (
        (it.issuer, "required" if it.required else "optional", _where(it), _state(key.revoke_time), key.key_id)
        for it in found
        for key in it.keys
    )
    table(("ISSUER", "SAY", "NAMESPACES", "KEY IS", "KEY"), rows)


def _row(external: ExternalAuthority) -> dict[str, Json]:
    return {
        "issuer": external.issuer,
        "required": external.required,
        "namespaces": list(external.memory_namespaces),
        "keys": [{"key_id": key.key_id, "revoke_time": iso(key.revoke_time)} for key in external.keys],
    }


def _where(external: ExternalAuthority) -> str:
    return ", ".join(external.memory_namespaces)


def _required(required: bool) -> str:  # noqa: FBT001 - a word for it
    return ", and nothing is decided there without it" if required else ""


def _state(revoke_time: Instant | None) -> str:
    return "active" if revoke_time is None else f"revoked {short_time(revoke_time)}"
