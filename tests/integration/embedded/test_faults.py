"""Servers that hang, for tests of what depends on them."""

import asyncio

import asyncpg
import pytest
import redis

from authority.embedded import PostgresServer, ValkeyServer
from tests.integration.embedded.clients import ask_postgres, ask_valkey
from tests.integration.embedded.processes import have_ended, watched


async def test_a_paused_postgres_answers_nothing_until_resumed(postgres: PostgresServer) -> None:
    # given an open connection
    connection = await asyncpg.connect(postgres.url)
    try:
        # when the server is paused
        postgres.pause()

        # then neither it nor a new connection gets an answer
        waiting = [
            asyncio.create_task(connection.fetchval("SELECT 1")),
            asyncio.create_task(ask_postgres(postgres.url, "SELECT 1")),
        ]
        done, _ = await asyncio.wait(waiting, timeout=0.3)
        assert not done
        assert postgres.is_running

        # and both get it once the server is resumed
        postgres.resume()
        assert await asyncio.gather(*waiting) == [1, 1]
    finally:
        await connection.close()


def test_a_paused_valkey_answers_nothing_until_resumed(valkey: ValkeyServer) -> None:
    # given an open connection
    with redis.Redis.from_url(valkey.url, retry=None, socket_timeout=0.3) as client:
        assert client.ping()

        # when the server is paused, then it does not answer
        valkey.pause()
        with pytest.raises(redis.TimeoutError):
            client.ping()

        # and does once it is resumed
        valkey.resume()
        assert client.ping()


def test_paused_servers_can_be_stopped(postgres: PostgresServer, valkey: ValkeyServer) -> None:
    # given both servers paused
    postgres.pause()
    valkey.pause()
    with watched(postgres.pid, valkey.pid) as processes:
        # when they are stopped, then they end, in order
        postgres.stop()
        valkey.stop()
        assert have_ended(processes, 0)
    assert "database system is shut down" in postgres.log.tail()
    assert "ready to exit" in valkey.log.tail()


async def test_paused_servers_can_be_killed(postgres: PostgresServer, valkey: ValkeyServer) -> None:
    # given both servers paused
    postgres.pause()
    valkey.pause()

    # when they are killed and started again
    postgres.kill()
    valkey.kill()
    postgres.restart()
    valkey.restart()

    # then they serve
    assert await ask_postgres(postgres.url, "SELECT 1") == 1
    assert ask_valkey(valkey.url, "PING") is True
