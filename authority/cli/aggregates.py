"""`authority aggregates …`: which figures of other tenants' memory a tenant may ask for."""

from typing import Annotated

import typer

from authority.bootstrap.operator import Operator
from authority.cli.arguments import AsJson, DataFolder, Tenant, Yes, iso, parse_name, parse_tenant, short_time
from authority.cli.failures import Refused
from authority.cli.operating import confirm, is_known, operate, require_known, unknown
from authority.cli.output import Json, emit, note, say
from authority.cli.tables import table
from authority.domain.aggregate import Aggregate, aggregate_problem
from authority.domain.references import TenantRef
from authority.usecases.administer_aggregates import ListedAggregate

app = typer.Typer(no_args_is_help=True, help="Add, list and remove figures that may be told across tenants.")

_LEAST = 5

Name = Annotated[str, typer.Argument(parser=parse_name, metavar="NAME", help="What a grant names: aggregate/NAME.")]


@app.command()
def add(  # noqa: PLR0913 - one option for each property
    name: Name,
    *,
    tenant: Tenant,
    tenants: Annotated[
        list[TenantRef],
        typer.Option("--tenants", parser=parse_tenant, metavar="NS|ID", help="A tenant that is counted; each by one."),
    ],
    memory_namespace: Annotated[
        str, typer.Option(parser=parse_name, metavar="NAME", help="What is counted in each of them.")
    ],
    reviewed_by: Annotated[str, typer.Option(metavar="WHO", help="Who saw to it that nobody's privacy is harmed.")],
    review: Annotated[str, typer.Option(metavar="WHERE", help="Where that can be looked up.")],
    least_tenants: Annotated[
        int, typer.Option(help="A figure rests on so many tenants, or is not told; 3 at least.")
    ] = _LEAST,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Let a tenant ask for figures of others' memory, by a grant. It cannot be changed afterwards, only removed."""
    new = Aggregate(
        tenant=tenant,
        name=name,
        memory_namespace=memory_namespace,
        of_tenants=tuple(tenants),
        least_tenants=least_tenants,
        reviewed_by=reviewed_by.strip(),
        review=review.strip(),
    )
    if problem := aggregate_problem(new):
        raise Refused(problem)

    async def act(operator: Operator) -> None:
        for one in (tenant, *tenants):
            await require_known(operator, one)
        await operator.aggregates.add_aggregate(new, operator.clock.now())

    operate(data, act)
    if as_json:
        emit(_document(new))
    else:
        say(f"{tenant} may ask for aggregate/{name}: {memory_namespace} of {len(tenants)} tenants, by {least_tenants}")


@app.command("list")
def list_(*, tenant: Tenant, data: DataFolder = None, as_json: AsJson = False) -> None:
    """List the figures that a tenant may ask for, and those that were removed."""

    async def act(operator: Operator) -> list[ListedAggregate]:
        found = list(await operator.aggregates.list_aggregates(tenant))
        if not found and not await is_known(operator, tenant):
            note(unknown(tenant))
        return found

    found = operate(data, act)
    if as_json:
        emit([_document(it.aggregate) | {"state": _state(it), "add_time": iso(it.add_time)} for it in found])
        return
    columns = ("AGGREGATE", "MEMORY NAMESPACE", "TENANTS", "LEAST", "REVIEWED BY", "REVIEW", "SINCE (UTC)", "STATE")
    table(columns, (_row(it) for it in found))


@app.command()
def remove(name: Name, *, tenant: Tenant, yes: Yes = False, data: DataFolder = None, as_json: AsJson = False) -> None:
    """Have figures told to nobody any more, for good: the name is used up, whatever grants give it."""
    confirm(f"aggregate/{name} of {tenant} will be told to nobody any more, and its name is used up.", yes=yes)

    async def act(operator: Operator) -> None:
        await require_known(operator, tenant)
        await operator.aggregates.remove_aggregate(tenant, name, operator.clock.now())

    operate(data, act)
    if as_json:
        emit({"tenant": str(tenant), "name": name, "state": "removed"})
    else:
        say(f"aggregate/{name} of {tenant} is removed")


def _document(aggregate: Aggregate) -> dict[str, Json]:
    return {
        "tenant": str(aggregate.tenant),
        "name": aggregate.name,
        "memory_namespace": aggregate.memory_namespace,
        "tenants": sorted(str(tenant) for tenant in aggregate.of_tenants),
        "least_tenants": aggregate.least_tenants,
        "reviewed_by": aggregate.reviewed_by,
        "review": aggregate.review,
    }


def _row(listed: ListedAggregate) -> list[str]:
    made = listed.aggregate
    numbers = (str(len(made.of_tenants)), str(made.least_tenants))
    words = (made.reviewed_by, made.review, short_time(listed.add_time), _state(listed))
    return [made.name, made.memory_namespace, *numbers, *words]


def _state(listed: ListedAggregate) -> str:
    return "active" if listed.is_active else "removed"
