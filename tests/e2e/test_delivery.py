"""Delivery as an operator runs it: what the documentation shows, and what is told when a server is away."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from authority.embedded.ports import free_port
from authority.redis.stream_consumer import StreamConsumer
from tests.e2e.commands import authority
from tests.installation.documented import examples
from tests.installation.installation import Installation
from tests.installation.storage import Storage
from tests.installation.team import Team
from tests.redis_room import operator_at
from tests.unit.cli.running import ran

Run: TypeAlias = Callable[..., Coroutine[Any, Any, str]]


@pytest.fixture
async def operator(redis_url: str) -> AsyncIterator[Redis]:
    async with operator_at(redis_url) as client:
        yield client


@pytest.fixture
def run(
    installation: Installation, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    """Runs a command on the installation and answers with what it prints; a relay in a process of its own."""

    async def run(*arguments: str, **settings: str) -> str:
        everything = {**installation.settings(), "AUTHORITY_ADMIN_DATABASE_URL": installation.admin_url, **settings}
        if arguments[0] == "relay":
            done = await asyncio.to_thread(authority, *arguments, cwd=tmp_path, **everything)
            assert "Traceback" not in done.stderr
            return done.stdout or done.stderr
        for name, value in everything.items():
            monkeypatch.setenv(name, value)
        return (await asyncio.to_thread(ran, capsys, *arguments)).out

    return run


async def test_h06_what_the_documentation_shows_of_delivery(
    run: Run, team: Team, storage: Storage, operator: Redis
) -> None:
    # given a record that was committed and revoked, and nothing else to deliver
    storage.ask("update authority.outbox set delivered_time = now() where delivered_time is null")
    await team.user.revoke_record(await team.commit(await team.ready()))
    name, tenant = f"delivery:{uuid4()}", team.tenant.ref
    # and no stream where the tenant's stream would be
    await operator.set(f"{name}:{tenant}", "no stream")
    settings = {"AUTHORITY_EVENT_STREAM": f"{name}:{{tenant}}", "AUTHORITY_RELAY_ATTEMPTS": "1"}

    # when an operator does what the documentation shows, then it prints what it shows
    event = ""
    for example in examples("docs/operating.md", "Delivery"):
        if "EVENT" in example.command:
            [parked] = json.loads(await run("outbox", "list", "--parked", "--json"))
            assert parked["tenant"] == str(tenant)
            event = parked["event_id"]
            await operator.delete(f"{name}:{tenant}")
        printed = await run(*example.arguments(EVENT=event), **settings)
        assert not example.difference(printed)

    # and the tenant's stream has both events in order
    first, second = await StreamConsumer(operator, f"{name}:{tenant}").read(100)
    assert (first.event_id, first.sequence, second.sequence) == (event, 1, 2)


async def test_a_relay_that_cannot_deliver_says_why_and_what_waits(run: Run, team: Team) -> None:
    # given an event, when Redis is away
    await team.commit(await team.ready())
    away = await run("relay", "--once", AUTHORITY_REDIS_URL=f"redis://127.0.0.1:{free_port()}")
    # then it is told with the setting, and how many events wait
    assert away.startswith("authority: the Redis of AUTHORITY_REDIS_URL takes no events (ConnectionError)")
    assert "in the outbox, to be delivered later" in away
