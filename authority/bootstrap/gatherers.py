"""What goes on when its caller goes away, and is waited for when the service ends."""

import asyncio
import contextlib
from dataclasses import dataclass

from authority.bootstrap.databases import Databases
from authority.bootstrap.validators import installed_validators
from authority.config import Settings
from authority.postgres.capabilities import IssuingSettings, PostgresCapabilities
from authority.postgres.committer import CommitterSettings, PostgresCommitter
from authority.postgres.gathering import GatheringSettings
from authority.postgres.relay_wake import RelayWake
from authority.postgres.unvalidated_writes import PostgresUnvalidatedWrites
from authority.signing.statements import StatementReader
from authority.usecases.ports import Clock
from authority.usecases.validation_runs import ValidationRuns
from authority.validators.judging import InstalledValidators

_FINISH_WITHIN_S = 2.0
"""Less than whoever ends us waits after `drain_s` before it kills."""


@dataclass(frozen=True, slots=True)
class Judges:
    """What judges content, and the runs of it that go on."""

    validators: InstalledValidators
    runs: ValidationRuns


def _judges(stack: contextlib.AsyncExitStack, validators: InstalledValidators) -> Judges:
    """What judges content. What is under way when the service ends has as long as what waits for the database."""
    runs = ValidationRuns()
    stack.push_async_callback(validators.close)
    stack.push_async_callback(runs.close, _FINISH_WITHIN_S)
    return Judges(validators, runs)


@dataclass(frozen=True, slots=True)
class Gatherers:
    """What goes on when its caller goes away."""

    committer: PostgresCommitter
    capabilities: PostgresCapabilities
    unvalidated: PostgresUnvalidatedWrites
    relay: RelayWake
    judges: Judges


def open_gatherers(
    stack: contextlib.AsyncExitStack, settings: Settings, databases: Databases, reader: StatementReader, clock: Clock
) -> Gatherers:
    """What gathers calls of the database: each is waited for when the service ends, though not for ever."""
    gathering = GatheringSettings(calls=settings.commit_connections)
    committing = CommitterSettings(settings.issuer, settings.clock_bound_ms, gathering)
    relay = RelayWake(databases.commit)
    committer = PostgresCommitter(databases.commit, clock, committing, relay)
    capabilities = PostgresCapabilities(databases.issue, reader, clock, IssuingSettings(settings.clock_bound_ms))
    unvalidated = PostgresUnvalidatedWrites(databases.propose, settings.issuer, relay)

    async def finish() -> None:
        """What hangs in the database by then goes on there, or not, without us: its callers have gone (case F12)."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FINISH_WITHIN_S):
                await asyncio.gather(committer.close(), capabilities.close(), unvalidated.close())

    stack.push_async_callback(finish)
    judges = _judges(stack, installed_validators(settings.profiles))
    return Gatherers(committer, capabilities, unvalidated, relay, judges)
