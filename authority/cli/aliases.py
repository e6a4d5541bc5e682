"""`authority principals alias …`: names under which upstream's signed envelopes may call a key."""

from typing import Annotated

import typer

from authority.bootstrap.operator import Operator
from authority.cli.arguments import AsJson, DataFolder, Tenant, Yes, iso, parse_digest, short_time
from authority.cli.operating import confirm, is_known, operate, require_known, unknown
from authority.cli.output import Json, emit, note, say
from authority.cli.tables import table
from authority.domain.key_alias import ALIAS_RULE, KeyAlias, is_key_alias

app = typer.Typer(
    no_args_is_help=True, help="Add, list and revoke names under which upstream's signed envelopes may call a key."
)


def parse_alias(text: str) -> str:
    """A name for a key. Raises BadParameter."""
    if not is_key_alias(text):
        raise typer.BadParameter(f"{text!r} is no name for a key: use {ALIAS_RULE}")
    return text


def parse_key_id(text: str) -> str:
    """The id of a key, which stays text. Raises BadParameter."""
    parse_digest(text)
    return text


Alias = Annotated[str, typer.Argument(parser=parse_alias, metavar="NAME", help="What envelopes say as `keyId`.")]


@app.command()
def add(
    alias: Alias,
    *,
    tenant: Tenant,
    key: Annotated[
        str, typer.Option(parser=parse_key_id, metavar="KEY_ID", help="The active key of a principal: its id.")
    ],
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Let envelopes call a registered key by a name, beside its id. A name stands for one key of the tenant."""

    async def act(operator: Operator) -> None:
        await require_known(operator, tenant)
        await operator.key_aliases.add(tenant, alias, key, operator.clock.now())

    operate(data, act)
    if as_json:
        emit({"tenant": str(tenant), "alias": alias, "key_id": key, "state": "active"})
    else:
        say(f"envelopes of {tenant} may call {key} by the name {alias}")


@app.command("list")
def list_(*, tenant: Tenant, data: DataFolder = None, as_json: AsJson = False) -> None:
    """List the names of a tenant's keys, revoked names too."""

    async def act(operator: Operator) -> list[KeyAlias]:
        found = list(await operator.key_aliases.aliases(tenant))
        if not found and not await is_known(operator, tenant):
            note(unknown(tenant))
        return found

    found = operate(data, act)
    if as_json:
        emit([_row(it) for it in found])
        return
    rows = ((it.alias, it.key_id, str(it.principal), _state(it), short_time(it.create_time)) for it in found)
    table(("NAME", "KEY", "PRINCIPAL", "STATE", "SINCE"), rows)


@app.command()
def revoke(alias: Alias, *, tenant: Tenant, yes: Yes = False, data: DataFolder = None, as_json: AsJson = False) -> None:
    """Take a name back. The key goes on; no commit that follows takes the name for it."""
    operate(data, lambda operator: require_known(operator, tenant))
    confirm(f"Envelopes of {tenant} that call a key {alias} will be refused. The key itself goes on.", yes=yes)
    key_id = operate(data, lambda operator: operator.key_aliases.revoke(tenant, alias, operator.clock.now()))
    if as_json:
        emit({"tenant": str(tenant), "alias": alias, "key_id": key_id, "state": "revoked"})
    else:
        say(f"envelopes of {tenant} may no longer call {key_id} by the name {alias}")


def _state(alias: KeyAlias) -> str:
    if alias.revoke_time is not None:
        return "revoked"
    return "active" if alias.key_is_active else "key revoked"


def _row(alias: KeyAlias) -> dict[str, Json]:
    return {
        "tenant": str(alias.tenant),
        "alias": alias.alias,
        "key_id": alias.key_id,
        "principal": str(alias.principal),
        "state": "active" if alias.revoke_time is None else "revoked",
        "key_is_active": alias.key_is_active,
        "create_time": iso(alias.create_time),
        "revoke_time": None if alias.revoke_time is None else iso(alias.revoke_time),
    }
