"""`authority audit …`: who changed what in a tenant, as it happens too, and how often callers were refused."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import typer

from authority.bootstrap.operator import Operator
from authority.cli.arguments import AsJson, DataFolder, Tenant, iso, parse_instant, parse_principal, short_time
from authority.cli.failures import Misused
from authority.cli.operating import is_known, operate, unknown
from authority.cli.output import Json, emit, note, printable, say
from authority.cli.tables import table
from authority.domain import limits
from authority.domain.audit import AuditFilter, ToldEvent
from authority.domain.references import DAY, SECOND, Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.revocation import AUTHORITY_ITSELF
from authority.domain.tally import minute_of
from authority.usecases.administer import ListedRefusals

app = typer.Typer(no_args_is_help=True, help="Show who changed what, and how often callers were refused.")

_MOST: Final = 10_000
_A_DAY: Final = DAY

Kind = Annotated[str, typer.Option(metavar="KIND", help='Of this kind alone, such as "memory.commit".')]
Actor = Annotated[
    PrincipalRef | None,
    typer.Option(
        parser=parse_principal, metavar="NS|ID", help='By this principal alone; the operator is "operator|cli".'
    ),
]
Subject = Annotated[str, typer.Option(metavar="ID", help="Of what has this id: a record, a capability, a principal.")]
Correlation = Annotated[str, typer.Option(metavar="ID", help="Of this correlation id alone.")]
Since = Annotated[
    Instant | None, typer.Option(parser=parse_instant, metavar="TIME", help="From this time on, 2027-01-31T08:00:00Z.")
]


@app.command("list")
def list_(  # noqa: PLR0913 - each condition is an option
    *,
    tenant: Tenant,
    kind: Kind = "",
    actor: Actor = None,
    subject: Subject = "",
    correlation: Correlation = "",
    since: Since = None,
    until: Annotated[
        Instant | None, typer.Option(parser=parse_instant, metavar="TIME", help="Before this time.")
    ] = None,
    most: Annotated[int, typer.Option("--limit", min=1, max=_MOST, help="So many at most.")] = 50,
    oldest_first: Annotated[bool, typer.Option("--oldest-first", help="Begin with the oldest.")] = False,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """List what changed in a tenant, the newest first.

    Issuer keys and policy bundles belong to no tenant: --tenant 'capability-authority|itself' shows them.
    """
    if since is not None and until is not None and until <= since:
        raise Misused("--until must be later than --since")
    wanted = AuditFilter(kind=kind, actor=actor, subject=subject, correlation_id=correlation, start=since, end=until)

    async def act(operator: Operator) -> Sequence[ToldEvent]:
        found = await operator.audit_log.page(tenant, wanted, oldest_first=oldest_first, after="", size=most)
        if not found:
            await _tell_unknown(operator, tenant)
        return found

    found = operate(data, act)
    if as_json:
        emit([_document(told) for told in found])
    else:
        table(_COLUMNS, map(_row, found))


@app.command()
def watch(  # noqa: PLR0913 - each condition is an option
    *,
    tenant: Tenant,
    kind: Kind = "",
    actor: Actor = None,
    subject: Subject = "",
    correlation: Correlation = "",
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="Begin with the first event that there is.")
    ] = False,
    most: Annotated[int, typer.Option("--limit", min=0, help="End after so many; 0 goes on.")] = 0,
    data: DataFolder = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON document on each line.")] = False,
) -> None:
    """Show what changes in a tenant as it happens, until Ctrl-C: every event once, none left out."""
    watching = _Watching(
        tenant, AuditFilter(kind=kind, actor=actor, subject=subject, correlation_id=correlation), most, as_json=as_json
    )

    async def act(operator: Operator) -> None:
        await _tell_unknown(operator, tenant)
        start = "" if from_beginning else await operator.audit_log.now(tenant)
        note(f"watching {tenant}; Ctrl-C ends it")
        await watching.run(operator, start)

    # That is how it is ended.
    with contextlib.suppress(KeyboardInterrupt):
        operate(data, act)


@app.command()
def refusals(
    *,
    tenant: Tenant,
    since: Since = None,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Show how often each principal was refused, and for what, or answered again (REPLAYED), in the last day.

    A running service adds what it counted every few seconds. Callers whom nobody knows are not counted here, but in
    the service's metrics.
    """

    async def act(operator: Operator) -> Sequence[ListedRefusals]:
        first = Instant(operator.clock.now() - _A_DAY) if since is None else since
        found = await operator.administration.list_refusals(tenant, minute_of(first))
        if not found:
            await _tell_unknown(operator, tenant)
        return found

    found = operate(data, act)
    if as_json:
        emit([_count_document(listed) for listed in found])
        return
    rows = (
        (
            _whom(listed),
            listed.reason,
            str(listed.count),
            short_time(listed.first_minute),
            short_time(listed.last_minute),
        )
        for listed in found
    )
    table(("PRINCIPAL", "REASON", "COUNT", "FIRST (UTC)", "LAST (UTC)"), rows)


@dataclass(frozen=True, slots=True)
class _Watching:
    tenant: TenantRef
    wanted: AuditFilter
    most: int
    as_json: bool

    async def run(self, operator: Operator, position: str) -> None:
        told = 0
        while True:
            news = await operator.audit_log.news(self.tenant, self.wanted, position, limits.WATCH_EVENTS)
            assert not isinstance(news, Refusal)  # The position is of a moment ago.
            position = news.position
            for event in news.events:
                self._tell(event)
                told += 1
                if told == self.most:
                    return
            if not news.has_more:
                await asyncio.sleep(limits.WATCH_POLL_MS / SECOND)

    def _tell(self, told: ToldEvent) -> None:
        if self.as_json:
            emit(_document(told), in_one_line=True)
        else:
            say("  ".join(printable(cell) for cell in (iso(told.event.time), *_row(told)[1:])))


async def _tell_unknown(operator: Operator, tenant: TenantRef) -> None:
    if tenant != AUTHORITY_ITSELF and not await is_known(operator, tenant):
        note(unknown(tenant))


_COLUMNS: Final = ("TIME (UTC)", "WHAT", "BY", "FROM", "TO", "SUBJECT")


def _row(told: ToldEvent) -> tuple[str, ...]:
    event = told.event
    time = short_time(event.time)
    return (time, event.kind, str(event.actor), event.previous_state or "-", event.next_state, event.subject)


def _document(told: ToldEvent) -> dict[str, Json]:
    event = told.event
    return {
        "event_id": told.event_id,
        "time": iso(event.time),
        "kind": event.kind,
        "actor": str(event.actor),
        "subject": event.subject,
        "previous_state": event.previous_state,
        "next_state": event.next_state,
        "costs": [
            {
                "stage": cost.stage,
                "model": cost.model,
                "input_tokens": cost.input_tokens,
                "output_tokens": cost.output_tokens,
                "usd_micros": cost.usd_micros,
            }
            for cost in event.costs
        ],
        "correlation_id": event.correlation_id,
        "trace_id": event.trace_id,
    }


def _whom(listed: ListedRefusals) -> str:
    return str(listed.principal) if listed.principal else "(others)"


def _count_document(listed: ListedRefusals) -> dict[str, Json]:
    return {
        "principal": str(listed.principal) if listed.principal else None,
        "reason": listed.reason,
        "count": listed.count,
        "first_minute": iso(listed.first_minute),
        "last_minute": iso(listed.last_minute),
    }
