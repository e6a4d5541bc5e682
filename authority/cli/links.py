"""`authority links …`: which principals are one person, so that one person never counts as two (semantics §7)."""

from typing import Annotated

import typer

from authority.bootstrap.operator import Operator
from authority.cli.arguments import AsJson, DataFolder, Tenant, Yes, iso, parse_principal, short_time
from authority.cli.failures import Misused
from authority.cli.operating import confirm, is_known, operate, require_known, unknown
from authority.cli.output import Json, emit, note, say
from authority.cli.tables import table
from authority.domain.principal_link import LinkMethod, PrincipalLink, in_order, same_person
from authority.domain.references import PrincipalRef
from authority.usecases.administer import OPERATOR

app = typer.Typer(
    no_args_is_help=True,
    help="Add, revoke and list links of principals that are one person: where policy asks for several persons, they"
    " count once.",
)

Two = Annotated[
    tuple[str, str],
    typer.Option("--principals", metavar="NS|ID NS|ID", help="The two principals, each as 'NAMESPACE|ID'."),
]

_EVIDENCE_BYTES = 512


@app.command()
def add(
    *,
    tenant: Tenant,
    principals: Two,
    method: Annotated[LinkMethod, typer.Option(help="How you found out that they are one person.")],
    evidence: Annotated[str, typer.Option(metavar="TEXT", help="Where that can be looked up: a ticket, an entry.")],
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Record that two principals are one person, which you have verified: equal names say nothing.

    From then on what they approved counts once, whatever was approved before. A chain of links is one person.
    """
    first, second = _pair(principals)
    if not 0 < len(evidence.encode()) <= _EVIDENCE_BYTES:
        raise Misused(f"--evidence must be a text of at most {_EVIDENCE_BYTES} bytes")

    async def act(operator: Operator) -> PrincipalLink:
        await require_known(operator, tenant)
        link = PrincipalLink(
            tenant=tenant,
            first=first,
            second=second,
            method=method,
            evidence=evidence,
            verified_by=OPERATOR,
            verify_time=operator.clock.now(),
        )
        await operator.principal_links.add(link)
        return link

    link = operate(data, act)
    if as_json:
        emit(_row(link))
    else:
        say(f"{first} and {second} of {tenant} are one person from now on")


@app.command()
def revoke(
    *, tenant: Tenant, principals: Two, yes: Yes = False, data: DataFolder = None, as_json: AsJson = False
) -> None:
    """Revoke a link that was wrong. The two may be linked anew; the record of this one stays."""
    first, second = _pair(principals)
    operate(data, lambda operator: require_known(operator, tenant))
    confirm(f"{first} and {second} of {tenant} will count as two persons, where nothing else links them.", yes=yes)
    operate(data, lambda operator: operator.principal_links.revoke(tenant, first, second, operator.clock.now()))
    if as_json:
        emit({"tenant": str(tenant), "principals": [str(first), str(second)], "state": "revoked"})
    else:
        say(f"revoked the link of {first} and {second} of {tenant}")


@app.command("list")
def list_(
    *,
    tenant: Tenant,
    person: Annotated[
        PrincipalRef | None,
        typer.Option(parser=parse_principal, metavar="NS|ID", help="Show who is one person with this principal."),
    ] = None,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """List the links of a tenant, revoked ones too; or with --person every principal of one person."""

    async def act(operator: Operator) -> list[PrincipalLink]:
        found = list(await operator.principal_links.links(tenant))
        if not found and not await is_known(operator, tenant):
            note(unknown(tenant))
        return found

    links = operate(data, act)
    if person is not None:
        _tell_person(person, links, as_json=as_json)
    elif as_json:
        emit([_row(link) for link in links])
    else:
        columns = ("PRINCIPAL", "PRINCIPAL", "METHOD", "EVIDENCE", "VERIFIED", "REVOKED")
        table(columns, [_cells(link) for link in links])


def _tell_person(person: PrincipalRef, links: list[PrincipalLink], *, as_json: bool) -> None:
    names = sorted(map(str, same_person(person, links)))
    if as_json:
        emit({"person": list[Json](names)})
    else:
        table(("ONE PERSON",), [(name,) for name in names])


def _pair(texts: tuple[str, str]) -> tuple[PrincipalRef, PrincipalRef]:
    one, other = map(parse_principal, texts)
    if one == other:
        raise Misused(f"--principals: {one} is one principal, not two")
    return in_order(one, other)


def _row(link: PrincipalLink) -> dict[str, Json]:
    return {
        "tenant": str(link.tenant),
        "principals": [str(link.first), str(link.second)],
        "method": link.method.value,
        "evidence": link.evidence,
        "verified_by": str(link.verified_by),
        "verify_time": iso(link.verify_time),
        "revoke_time": iso(link.revoke_time),
        "state": "verified" if link.counts else "revoked",
    }


def _cells(link: PrincipalLink) -> tuple[str, ...]:
    times = (short_time(link.verify_time), short_time(link.revoke_time))
    return (str(link.first), str(link.second), link.method.value, link.evidence, *times)
