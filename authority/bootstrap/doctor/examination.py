"""The whole examination: what is looked at, in which order, each bounded and on its own."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from authority.bootstrap.connections import most_connections, shared_out
from authority.bootstrap.doctor import cache, database, folder, keys
from authority.bootstrap.doctor.callers import look_at_clients, look_at_issuers
from authority.bootstrap.doctor.finding import Finding, ok, problem, warning
from authority.bootstrap.doctor.programs import look_at_programs
from authority.bootstrap.doctor.serving import look_at_service
from authority.bootstrap.doctor.tls import look_at_tls
from authority.bootstrap.faults import DatabaseUnusable, naming
from authority.bootstrap.system import SystemClock
from authority.config import Settings, unknown_variables
from authority.config_reading import CONFIG_FILE
from authority.postgres.examination import DatabaseFacts
from authority.postgres.examination import examine as examine_postgres
from authority.postgres.provision import SERVICE
from authority.redis.examination import RedisUnasked
from authority.redis.examination import examine as examine_redis
from authority.usecases.ports import Clock

_WITHIN_S: Final = 5.0
_LOOK_WITHIN_S: Final = 20.0
"""For all the questions of one server together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The authority that is examined. None is what it has not, or what is not known of it."""

    settings: Settings | None
    """None when they cannot be read; `wrong_settings` says why."""
    wrong_settings: tuple[str, ...] = ()
    database_url: str | None = None
    admin_database_url: str | None = None
    redis_url: str | None = None
    keys: Path | None = None
    listen: str | None = None
    data: Path | None = None
    """The folder of an embedded authority."""
    is_served: bool = False
    """Whether it is served from its folder."""


async def examine(subject: Subject, clock: Clock | None = None, within_s: float = _WITHIN_S) -> list[Finding]:
    """Everything that was found, in a fixed order. Raises nothing for a part that is away.

    A server is waited for `within_s` seconds to connect, and as long for each answer.
    """
    clock = clock or SystemClock()
    parts: list[Awaitable[list[Finding]]] = [
        _all(look_at_programs()),
        _all(_settings(subject)),
        _bounded("data folder", _collected(_data(subject))),
        _bounded("postgresql", _collected(_database(subject, clock, within_s))),
        _bounded("operator login", _collected(_operator(subject, clock, within_s))),
        _bounded("key folder", _collected(_key_folder(subject))),
        _bounded("redis", _collected(_redis(subject, clock))),
        _bounded("tls", _collected(_tls(subject, clock))),
        _bounded("token issuers", _collected(_tokens(subject))),
        _bounded("health", _collected(_health(subject, within_s))),
    ]
    return [finding for part in await asyncio.gather(*parts) for finding in part]


async def _all(findings: Iterator[Finding]) -> list[Finding]:
    return list(findings)


async def _collected(findings: AsyncIterator[Finding]) -> list[Finding]:
    return [finding async for finding in findings]


async def _bounded(check: str, look: Awaitable[list[Finding]]) -> list[Finding]:
    """A look that ends, whatever becomes of it."""
    try:
        async with asyncio.timeout(_LOOK_WITHIN_S):
            return await look
    except TimeoutError:
        return [problem(check, f"could not be looked at within {_LOOK_WITHIN_S:.0f} s", "see whether it hangs")]
    except Exception as error:  # noqa: BLE001 - one look that fails must not end the others; its text may hold secrets
        return [problem(check, f"could not be looked at: {type(error).__name__}", "see whether all else is ok")]


def _settings(subject: Subject) -> Iterator[Finding]:
    for sentence in subject.wrong_settings:
        yield problem("settings", sentence, "`authority config` shows where each comes from")
    for name, near in unknown_variables():
        meant = f"did you mean {near}? " if near else ""
        yield warning("settings", f"{name} is no setting", f"{meant}unset it, if nothing else needs it")
    if not subject.wrong_settings:
        file = os.environ.get(CONFIG_FILE)
        yield ok("settings", f"can be read, from the environment{f' and {file}' if file else ''}")


async def _data(subject: Subject) -> AsyncIterator[Finding]:
    if subject.data is not None:
        for finding in folder.look_at_data(subject.data, is_served=subject.is_served):
            yield finding
        yield folder.look_at_disk(subject.data)


async def _database(subject: Subject, clock: Clock, within_s: float) -> AsyncIterator[Finding]:
    """By the service's own login; of an embedded authority, whose password nobody else knows, by the superuser's."""
    url, setting, login = subject.database_url, "AUTHORITY_DATABASE_URL", None
    if subject.data is not None:
        url, setting, login = subject.admin_database_url, "the embedded authority", SERVICE
    if url is None:
        return
    begin = time.monotonic()
    try:
        with naming(setting):
            facts = await examine_postgres(url, clock.now, within_s=within_s, login=login)
    except DatabaseUnusable as error:
        yield _unusable("postgresql", error)
        return
    for finding in _of_database(subject, facts, _ms_since(begin)):
        yield finding


def _of_database(subject: Subject, facts: DatabaseFacts, took_ms: int) -> Iterator[Finding]:
    yield from database.look_at_server(facts, took_ms)
    if subject.settings is not None:
        yield database.look_at_clock(facts, subject.settings.clock_bound_ms)
    yield database.look_at_rights(facts.login)
    yield database.look_at_schema(facts)
    yield from database.look_at_durability(facts)
    yield database.look_at_isolation(facts)
    if subject.settings is not None:
        each = shared_out(subject.settings)
        yield database.look_at_connections(facts, most_connections(each), each.workers)
    if subject.keys is not None:
        yield from keys.look_at_keys(subject.keys, facts.keys)
    yield from database.look_at_delivery(facts.delivery)


async def _operator(subject: Subject, clock: Clock, within_s: float) -> AsyncIterator[Finding]:
    if subject.data is not None:
        return
    if subject.admin_database_url is None:
        yield ok("operator login", "AUTHORITY_ADMIN_DATABASE_URL is not set here; serving does not need it")
        return
    try:
        with naming("AUTHORITY_ADMIN_DATABASE_URL"):
            facts = await examine_postgres(subject.admin_database_url, clock.now, within_s=within_s)
    except DatabaseUnusable as error:
        yield _unusable("operator login", error)
        return
    yield database.look_at_operator(facts.login)


async def _key_folder(subject: Subject) -> AsyncIterator[Finding]:
    if subject.keys is not None:
        for finding in keys.look_at_folder(subject.keys):
            yield finding


async def _redis(subject: Subject, clock: Clock) -> AsyncIterator[Finding]:
    if subject.redis_url is None:
        return
    begin = time.monotonic()
    try:
        facts = await examine_redis(subject.redis_url, clock)
    except RedisUnasked as error:
        remedy = "is it running, and is the URL right? Commits go on without it, reads are refused"
        yield problem("redis", f"the Redis of AUTHORITY_REDIS_URL cannot be asked ({error})", remedy)
        return
    for finding in cache.look_at_redis(facts, _ms_since(begin)):
        yield finding


async def _tls(subject: Subject, clock: Clock) -> AsyncIterator[Finding]:
    if subject.settings is not None and subject.listen is not None:
        now = datetime.fromtimestamp(clock.now() / 1_000, UTC)
        files = (subject.settings.tls_certificate, subject.settings.tls_private_key)
        for finding in look_at_tls(subject.listen, *files, now):
            yield finding
        for finding in look_at_clients(subject.settings, now):
            yield finding


async def _tokens(subject: Subject) -> AsyncIterator[Finding]:
    if subject.settings is not None:
        async for finding in look_at_issuers(subject.settings):
            yield finding


async def _health(subject: Subject, within_s: float) -> AsyncIterator[Finding]:
    if subject.listen is not None and (subject.data is None or subject.is_served):
        certificate = subject.settings.tls_certificate if subject.settings else None
        asks = subject.settings is not None and subject.settings.tls_client_ca is not None
        async for finding in look_at_service(subject.listen, certificate, within_s, asks_for_certificates=asks):
            yield finding


def _unusable(check: str, error: DatabaseUnusable) -> Finding:
    found, _, remedy = str(error).partition("): ")
    return problem(check, f"{found})", remedy)


def _ms_since(begin: float) -> int:
    return round((time.monotonic() - begin) * 1_000)
