"""`authority relay`: delivers events until it is told to stop, or until none is left."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer
import uvloop

from authority.bootstrap.faults import naming
from authority.bootstrap.relay import open_relay
from authority.bootstrap.sight import seen
from authority.cli.endpoint import DEFAULT_DATA, find_endpoint
from authority.cli.failures import REFUSED, Refused
from authority.cli.logs import log_as
from authority.cli.output import Json, emit, note, say
from authority.cli.serving import asked_to_stop
from authority.config import Settings, load_settings, names_a_database
from authority.domain.event import OutboxLag
from authority.usecases.ports import Contention, DependencyUnavailable, SinkAway
from authority.usecases.relay import Relay, Tally

_TOLD_EVERY_S: Final = 10.0


def relay(
    *,
    once: Annotated[
        bool, typer.Option("--once", help="Deliver what is there and end, instead of going on until it is stopped.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Data folder of a running embedded authority. Without it, and without AUTHORITY_DATABASE_URL,"
            " ./.authority is tried.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="At the end say what was done in one line of JSON.")] = False,
) -> int:
    """Deliver the events of commits and revocations to the Redis stream AUTHORITY_EVENT_STREAM.

    Any number of relays share the work, and an embedded authority has one of its own. Each event is delivered at least
    once, under the same id, and those of one record in order: consumers ignore a sequence that they have seen. Ctrl-C
    and SIGTERM let the batch in hand be finished; what a killed relay had in hand is delivered again after
    AUTHORITY_RELAY_LEASE_S. With --once the exit code is 1 when an event was refused or could not be delivered.
    """
    settings = _settings(data)
    log_as(settings)
    with seen(settings) as metrics_url, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        if metrics_url:
            note(f"metrics at {metrics_url}")
        tally, left = runner.run(_drain(settings) if once else _deliver(settings))
    if as_json:
        emit(_facts(tally, left), in_one_line=True)
    else:
        say(_sentence(tally, left))
    return REFUSED if once and tally.refused else 0


def _settings(data: Path | None) -> Settings:
    """Of the authority that is served from `data`, else the environment's, else of the one in ./.authority."""
    if data is None and not names_a_database() and DEFAULT_DATA.is_dir():
        data = DEFAULT_DATA
    if data is None:
        return load_settings()
    endpoint = find_endpoint(data)
    return load_settings(
        database_url=endpoint.admin_database_url, redis_url=endpoint.redis_url, keys=Path(endpoint.keys)
    )


async def _drain(settings: Settings) -> tuple[Tally, OutboxLag]:
    with asked_to_stop(until_input_ends=False) as stop, naming("AUTHORITY_DATABASE_URL"):
        async with open_relay(settings) as relay, _stopped_by(stop, relay):
            try:
                await relay.drain()
            except SinkAway as fault:
                waiting = (await relay.outbox.lag()).pending
                raise Refused(
                    f"the Redis of AUTHORITY_REDIS_URL takes no events ({fault}): is it running, and is the URL right?"
                    f" {_counted(waiting, 'event')} in the outbox, to be delivered later"
                ) from fault
            except Contention as fault:
                raise Refused("the outbox was busy: run this again") from fault
            await relay.prune()
            return relay.tally, await relay.outbox.lag()


async def _deliver(settings: Settings) -> tuple[Tally, OutboxLag | None]:
    with asked_to_stop(until_input_ends=False) as stop, naming("AUTHORITY_DATABASE_URL"):
        async with open_relay(settings) as relay, _stopped_by(stop, relay):
            # What is wrong with the database from the start is told at once; what goes wrong later is waited for.
            waiting = await relay.outbox.lag()
            note(f"delivering to {settings.event_stream}; {_counted(waiting.pending, 'event')} pending; Ctrl-C ends it")
            async with _telling(relay):
                await relay.run()
            return relay.tally, await _left(relay)


async def _left(relay: Relay) -> OutboxLag | None:
    """What is left when it is stopped; None when the database is away by then, which is no reason to have failed."""
    try:
        return await relay.outbox.lag()
    except (DependencyUnavailable, Contention):
        return None


@contextlib.asynccontextmanager
async def _stopped_by(stop: asyncio.Event, relay: Relay) -> AsyncIterator[None]:
    async def stopping() -> None:
        await stop.wait()
        relay.stop()

    task = asyncio.create_task(stopping())
    try:
        yield
    finally:
        task.cancel()


@contextlib.asynccontextmanager
async def _telling(relay: Relay) -> AsyncIterator[None]:
    """Tells now and then what was delivered since it was told last."""

    async def tell() -> None:
        told = 0
        while True:
            await asyncio.sleep(_TOLD_EVERY_S)
            if relay.tally.delivered > told:
                note(f"… {_counted(relay.tally.delivered - told, 'event')} delivered")
                told = relay.tally.delivered

    task = asyncio.create_task(tell())
    try:
        yield
    finally:
        task.cancel()


def _facts(tally: Tally, left: OutboxLag | None) -> dict[str, Json]:
    return {**asdict(tally), "left": None if left is None else asdict(left)}


def _sentence(tally: Tally, left: OutboxLag | None) -> str:
    refused = f", {tally.refused} refused, {tally.parked} parked" if tally.refused else ""
    rest = "" if left is None else f"; {left.pending} pending and {left.parked} parked in the outbox"
    return f"{_counted(tally.delivered, 'event')} delivered{refused}{rest}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
