"""`authority memberships …`: who belongs to which channel and team, and so reads what is for them."""

from typing import Annotated

import typer

from authority.bootstrap.operator import Operator
from authority.cli.arguments import AsJson, DataFolder, Tenant, iso, parse_name, parse_principal, short_time
from authority.cli.operating import is_known, operate, require_known, unknown
from authority.cli.output import Json, emit, note, say
from authority.cli.tables import table
from authority.domain.membership import SCOPED, Scope
from authority.domain.references import PrincipalRef
from authority.usecases.administer_memberships import ListedMembership

app = typer.Typer(no_args_is_help=True, help="Add, remove and list the members of channels and teams.")


def parse_scope(text: str) -> Scope:
    """`team:ID` or `channel:ID`. Raises BadParameter."""
    kind, _, scope_id = text.partition(":")
    found = next((member for member in SCOPED if member.value == kind), None)
    if found is None:
        raise typer.BadParameter(f"{text!r} is neither team:ID nor channel:ID")
    return Scope(found, parse_name(scope_id))


Member = Annotated[
    PrincipalRef, typer.Argument(parser=parse_principal, metavar="NS|ID", help="The principal, as 'NAMESPACE|ID'.")
]
Of = Annotated[Scope, typer.Argument(parser=parse_scope, metavar="SCOPE", help="team:ID or channel:ID.")]


@app.command()
def add(principal: Member, scope: Of, *, tenant: Tenant, data: DataFolder = None, as_json: AsJson = False) -> None:
    """Make a principal a member: from its next read on it sees what is for this channel or team."""

    async def act(operator: Operator) -> None:
        await require_known(operator, tenant)
        await operator.memberships.add_membership(tenant, principal, scope, operator.clock.now())

    operate(data, act)
    if as_json:
        emit(_named(str(tenant), principal, scope) | {"state": "active"})
    else:
        say(f"{principal} of {tenant} is a member of {scope}")


@app.command()
def remove(principal: Member, scope: Of, *, tenant: Tenant, data: DataFolder = None, as_json: AsJson = False) -> None:
    """End a membership: from its next read on the principal sees nothing that is for this channel or team."""

    async def act(operator: Operator) -> None:
        await require_known(operator, tenant)
        await operator.memberships.remove_membership(tenant, principal, scope, operator.clock.now())

    operate(data, act)
    if as_json:
        emit(_named(str(tenant), principal, scope) | {"state": "removed"})
    else:
        say(f"{principal} of {tenant} is no member of {scope} any more")


@app.command("list")
def list_(*, tenant: Tenant, data: DataFolder = None, as_json: AsJson = False) -> None:
    """List who belongs to the channels and teams of a tenant."""

    async def act(operator: Operator) -> list[ListedMembership]:
        found = list(await operator.memberships.list_memberships(tenant))
        if not found and not await is_known(operator, tenant):
            note(unknown(tenant))
        return found

    found = operate(data, act)
    if as_json:
        emit([_named(str(tenant), it.principal, it.scope) | {"add_time": iso(it.add_time)} for it in found])
        return
    columns = ("SCOPE", "PRINCIPAL", "SINCE (UTC)")
    table(columns, ([str(it.scope), str(it.principal), short_time(it.add_time)] for it in found))


def _named(tenant: str, principal: PrincipalRef, scope: Scope) -> dict[str, Json]:
    return {"tenant": tenant, "principal": str(principal), "scope_kind": scope.kind.value, "scope_id": scope.id}
