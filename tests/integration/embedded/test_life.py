"""A server's life: started, stopped, started again, killed."""

import signal
from pathlib import Path

from authority.embedded import EmbeddedServers, PostgresServer, ValkeyServer, start_postgres, start_valkey
from tests.integration.embedded.clients import ask_postgres, ask_valkey
from tests.integration.embedded.processes import have_ended, watched, watched_family


async def test_a_folder_used_again_has_its_data_and_passwords(data: Path) -> None:
    # given both servers with data, stopped
    with EmbeddedServers.start(data) as first:
        await ask_postgres(first.postgres_url, "CREATE TABLE kept AS SELECT 7 AS seven", "SELECT 1")
        ask_valkey(first.redis_url, "SET", "kept", "seven")
        passwords = [first.postgres_url.split("@")[0], first.redis_url.split("@")[0]]

    # when they are started on the same folder
    with EmbeddedServers.start(data) as second:
        # then data and passwords are the same
        assert await ask_postgres(second.postgres_url, "SELECT seven FROM kept") == 7
        assert ask_valkey(second.redis_url, "GET", "kept") == "seven"
        assert [second.postgres_url.split("@")[0], second.redis_url.split("@")[0]] == passwords


def test_stop_ends_both_processes_and_may_be_said_twice(data: Path) -> None:
    # given both servers running
    servers = EmbeddedServers.start(data)
    with watched(servers.postgres.pid, servers.valkey.pid) as processes:
        assert [servers.postgres.is_running, servers.valkey.is_running] == [True, True]

        # when they are stopped, twice
        servers.stop()
        servers.stop()

        # then they have ended, in order
        assert have_ended(processes, 0)
    assert [servers.postgres.is_running, servers.valkey.is_running] == [False, False]
    assert "database system is shut down" in servers.postgres.log.tail()
    assert "ready to exit" in servers.valkey.log.tail()


async def test_restart_keeps_the_url(postgres: PostgresServer, valkey: ValkeyServer) -> None:
    # given both servers
    before = [postgres.url, valkey.url]
    pids = [postgres.pid, valkey.pid]

    # when they are restarted
    postgres.restart()
    valkey.restart()

    # then clients find other processes at the same place
    assert [postgres.url, valkey.url] == before
    assert postgres.pid != pids[0]
    assert valkey.pid != pids[1]
    assert await ask_postgres(postgres.url, "SELECT 1") == 1
    assert ask_valkey(valkey.url, "PING") is True


async def test_what_postgres_committed_survives_kill_9(postgres: PostgresServer) -> None:
    # given a committed row
    await ask_postgres(postgres.url, "CREATE TABLE kept AS SELECT 7 AS seven", "SELECT 1")

    # when the server is killed, then none of its processes is left
    with watched_family(postgres.pid) as processes:
        assert len(processes) > 3
        postgres.kill()
        assert have_ended(processes, 0)

    # and when it is started again
    postgres.restart()

    # then the row is there
    assert await ask_postgres(postgres.url, "SELECT seven FROM kept") == 7
    assert "not properly shut down" in postgres.log.written()


def test_valkey_comes_back_after_kill_9(data: Path, valkey: ValkeyServer) -> None:
    # given a key written to disk
    ask_valkey(valkey.url, "CONFIG", "SET", "appendfsync", "always")
    ask_valkey(valkey.url, "SET", "kept", "seven")

    # when the server is killed and started again at once
    valkey.kill()
    valkey.restart()

    # then the key is there
    assert ask_valkey(valkey.url, "GET", "kept") == "seven"


async def test_start_brings_back_a_server_that_ended_by_itself(postgres: PostgresServer) -> None:
    # given a server that somebody else has stopped
    with watched(postgres.pid) as processes:
        signal.pidfd_send_signal(processes[0], signal.SIGINT)
        assert have_ended(processes, 30)
    assert not postgres.is_running

    # when it is started
    postgres.start()

    # then it serves
    assert await ask_postgres(postgres.url, "SELECT 1") == 1


async def test_the_cluster_is_the_same_on_every_system(postgres: PostgresServer) -> None:
    # when the server is asked how it stores and sorts text, and how safely
    settings = await ask_postgres(
        postgres.url,
        """SELECT ARRAY[datlocprovider::text, datlocale, pg_encoding_to_char(encoding), lower('Ä'),
           current_setting('fsync'), current_setting('synchronous_commit'), current_setting('full_page_writes'),
           current_setting('TimeZone'), current_setting('listen_addresses')]
           FROM pg_database WHERE datname = 'postgres'""",
    )

    # then nothing depends on the machine, and nothing acknowledged can be lost
    assert settings == ["b", "C.UTF-8", "UTF8", "ä", "on", "on", "on", "UTC", "127.0.0.1"]


async def test_settings_replace_ours(data: Path) -> None:
    # when a server is started with a setting
    with start_postgres(data, settings={"max_connections": "23"}) as server:
        # then it is in force
        assert await ask_postgres(server.url, "SHOW max_connections") == "23"


def test_passwords_are_for_us_alone(data: Path, postgres: PostgresServer, valkey: ValkeyServer) -> None:
    # given the passwords of both servers
    secrets = [(data / "postgres.password").read_text().strip(), (data / "valkey.password").read_text().strip()]
    assert [len(secret) for secret in secrets] == [43, 43]
    assert secrets[0] in postgres.url
    assert secrets[1] in valkey.url

    # then no other user can read them: neither in files nor in the process list
    assert [path.stat().st_mode & 0o077 for path in [data, *data.iterdir()]] == [0] * (1 + len(list(data.iterdir())))
    for pid in (postgres.pid, valkey.pid):
        shown = Path(f"/proc/{pid}/cmdline").read_bytes() + Path(f"/proc/{pid}/environ").read_bytes()
        assert not any(secret.encode() in shown for secret in secrets)


def test_a_log_that_has_grown_large_is_set_aside_once(data: Path) -> None:
    # given the log of a long life
    data.mkdir(parents=True)
    (data / "valkey.log").write_bytes(b"x" * (8 * 1024 * 1024 + 1))

    # when the server is started
    with start_valkey(data) as valkey:
        # then it has a new log, and the old one is kept beside it
        assert valkey.log.path.stat().st_size < 100_000
    assert (data / "valkey.log.1").stat().st_size == 8 * 1024 * 1024 + 1
