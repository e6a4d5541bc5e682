"""What the service does again and again: it reads its keys, keeps counts of refusals, and erases what is due."""

import asyncio
import contextlib
from collections.abc import Sequence

import structlog

from authority.bootstrap.databases import Databases
from authority.bootstrap.repeating import repeating
from authority.domain.statement import IssuerKey
from authority.postgres.connections import Database
from authority.postgres.refusal_counts import PostgresRefusalCounts
from authority.postgres.registry import PostgresIssuerKeys
from authority.postgres.reviews import PostgresValidations
from authority.signing.key_ring import KeyRing
from authority.signing.statements import StatementReader
from authority.usecases.ports import Clock
from authority.usecases.tally import Tally

_log = structlog.get_logger(__name__)

_REFRESH_WITHIN_S = 5.0
_FLUSH_EVERY_S = 5.0
_ERASE_EVERY_S = 60.0
_FLUSH_WITHIN_S = 2.0
_LAST_FLUSH_WITHIN_S = 0.5


def refreshing(
    ring: KeyRing, issuer_keys: PostgresIssuerKeys, every_s: float
) -> contextlib.AbstractAsyncContextManager[None]:
    """Reads the issuer keys again and again, so that a revoked key stops verifying here within seconds (case E09)."""

    async def refresh() -> None:
        try:
            # A partition that swallows packets would let one read wait without end, and a revoked key verify on.
            async with asyncio.timeout(_REFRESH_WITHIN_S):
                replace_keys(ring, await issuer_keys.load())
        except Exception as error:  # noqa: BLE001 - whatever it is, the next turn may fare better
            _log.warning("issuer keys could not be read again", error=type(error).__name__)

    return repeating(refresh, every_s)


def replace_keys(ring: KeyRing, keys: Sequence[IssuerKey]) -> None:
    """Uses these keys from now on; one that cannot be used is left out, and the log says why."""
    for left_out in ring.replace(keys):
        _log.error("issuer key left out", why=left_out)


async def counting(stack: contextlib.AsyncExitStack, databases: Databases, clock: Clock) -> Tally:
    """Counts refusals; what was counted is kept every few seconds, and once more when the service ends."""
    tally = Tally(PostgresRefusalCounts(databases.issue), clock)

    async def keep(within_s: float = _FLUSH_WITHIN_S) -> None:
        try:
            async with asyncio.timeout(within_s):
                await tally.flush()
        except Exception as error:  # noqa: BLE001 - counts are no reason to end, and the next turn may fare better
            _log.warning("refusals could not be counted", error=type(error).__name__)

    stack.push_async_callback(keep, _LAST_FLUSH_WITHIN_S)
    await stack.enter_async_context(repeating(keep, _FLUSH_EVERY_S))
    return tally


def erasing(database: Database, reader: StatementReader, clock: Clock) -> contextlib.AbstractAsyncContextManager[None]:
    """Erases content that failed for secrets within a minute of the end of its review, whichever process sees to it."""
    validations = PostgresValidations(database, reader)

    async def erase() -> None:
        try:
            async with asyncio.timeout(_REFRESH_WITHIN_S):
                erased = await validations.erase_reviewed(clock.now())
        except Exception as error:  # noqa: BLE001 - whatever it is, the next turn may fare better
            _log.warning("content could not be erased", error=type(error).__name__)
        else:
            if erased:
                _log.info("content erased", contents=erased)

    return repeating(erase, _ERASE_EVERY_S)
