"""`authority outbox …`: which events wait to be delivered, which were given up, and trying those again."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, Final, TypeVar
from uuid import UUID

import typer

from authority.bootstrap.faults import naming
from authority.bootstrap.operator import admin_url
from authority.bootstrap.relay import open_outbox
from authority.cli.arguments import AsJson, DataFolder, iso, parse_tenant, short_time
from authority.cli.failures import Misused, Refused
from authority.cli.operating import operator_settings
from authority.cli.output import Json, emit, note, say
from authority.cli.running import run_to_end
from authority.cli.tables import table
from authority.domain.event import OutboxLag, WaitingEvent
from authority.domain.references import HOUR, MINUTE, SECOND, TenantRef
from authority.usecases.ports import Outbox

app = typer.Typer(no_args_is_help=True, help="Show the events that are not delivered, and replay those given up.")

Answer = TypeVar("Answer")

_LONGEST: Final = 200

OfTenant = Annotated[
    TenantRef | None,
    typer.Option("--tenant", parser=parse_tenant, metavar="NS|ID", help="Of this tenant alone; of all without."),
]


def _event_id(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no event id: `authority outbox list --parked` shows them") from None


@app.command("list")
def list_(
    *,
    pending: Annotated[bool, typer.Option("--pending", help="Only those that wait, under delivery included.")] = False,
    parked: Annotated[bool, typer.Option("--parked", help="Only those that were given up.")] = False,
    tenant: OfTenant = None,
    most: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="So many of each at most.")] = _LONGEST,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """List the events that are not delivered: those that were given up, then the oldest that wait."""
    both = pending == parked

    async def act(outbox: Outbox) -> list[WaitingEvent]:
        given_up = await outbox.parked(tenant, most) if parked or both else ()
        waiting = await outbox.pending(tenant, most) if pending or both else ()
        return [*given_up, *waiting]

    found = _on_outbox(data, act)
    if as_json:
        emit([_document(event) for event in found])
        return
    columns = ("EVENT", "TENANT", "TYPE", "RECORD", "SEQUENCE", "CREATED (UTC)", "STATE", "ATTEMPTS", "LAST ERROR")
    table(columns, (_row(event) for event in found), none="every event is delivered" if both else "none")


@app.command()
def status(*, data: DataFolder = None, as_json: AsJson = False) -> None:
    """Show how far delivery is behind, over all tenants."""

    async def act(outbox: Outbox) -> OutboxLag:
        return await outbox.lag()

    lag = _on_outbox(data, act)
    if as_json:
        emit({"pending": lag.pending, "parked": lag.parked, "oldest_age_ms": lag.oldest_age_ms})
        return
    oldest = "" if lag.oldest_age_ms is None else f", the oldest for {_age(lag.oldest_age_ms)}"
    say(f"pending  {lag.pending}{oldest}")
    say(f"parked   {lag.parked}")
    if lag.parked:
        note("what is parked holds back what follows of its record: `authority outbox list --parked` says why")


@app.command()
def replay(
    event: Annotated[
        str | None, typer.Argument(parser=_event_id, metavar="EVENT", help="The id of the parked event.")
    ] = None,
    *,
    all_parked: Annotated[bool, typer.Option("--all-parked", help="All that are parked.")] = False,
    tenant: OfTenant = None,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Have parked events tried again, once what was in their way is mended: the relay delivers them next."""
    if (event is None) is not all_parked:
        raise Misused("name the EVENT to replay, or --all-parked")

    async def act(outbox: Outbox) -> set[str]:
        return await outbox.replay(event, tenant)

    replayed = sorted(_on_outbox(data, act))
    if event is not None and not replayed:
        raise Refused(f"no event {event} is parked{f' of {tenant}' if tenant else ''}")
    if as_json:
        emit({"replayed": replayed})
    else:
        say(_pending_again(len(replayed)))


def _pending_again(number: int) -> str:
    if not number:
        return "no event is parked"
    return f"{number} {'event is' if number == 1 else 'events are'} pending again"


def _on_outbox(data: Path | None, act: Callable[[Outbox], Awaitable[Answer]]) -> Answer:
    settings = operator_settings(data)

    async def run() -> Answer:
        with naming("AUTHORITY_ADMIN_DATABASE_URL"):
            async with open_outbox(admin_url(settings)) as outbox:
                return await act(outbox)

    return run_to_end(run)


def _document(event: WaitingEvent) -> Json:
    return {
        "event_id": event.event_id,
        "tenant": str(event.tenant),
        "type": event.type,
        "record_id": event.subject,
        "sequence": event.sequence,
        "create_time": iso(event.create_time),
        "state": _state(event),
        "park_time": iso(event.park_time) or None,
        "attempts": event.attempts,
        "last_error": event.last_error,
    }


def _row(event: WaitingEvent) -> Sequence[str]:
    return (
        event.event_id,
        str(event.tenant),
        event.type,
        event.subject,
        str(event.sequence),
        short_time(event.create_time),
        _state(event),
        str(event.attempts),
        event.last_error,
    )


def _state(event: WaitingEvent) -> str:
    return "pending" if event.park_time is None else "parked"


def _age(milliseconds: int) -> str:
    for unit, length in (("h", HOUR), ("min", MINUTE)):
        if milliseconds >= 2 * length:
            return f"{milliseconds // length} {unit}"
    return f"{milliseconds / SECOND:.1f} s"
