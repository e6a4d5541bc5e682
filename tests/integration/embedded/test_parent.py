"""The servers belong to the process that started them, however that process ends."""

import asyncio
import os
import signal
import threading
from pathlib import Path

from authority.embedded import EmbeddedServers
from tests.integration.embedded.clients import ask_postgres, ask_valkey
from tests.integration.embedded.processes import have_ended, supervising_process, watched


async def test_kill_9_of_the_parent_stops_both_in_order(data: Path) -> None:
    # given a process that runs both servers, in a bare environment, with a committed row
    with supervising_process(data) as other, watched(other.postgres_pid, other.valkey_pid) as servers:
        await ask_postgres(other.postgres_url, "CREATE TABLE kept AS SELECT 7 AS seven", "SELECT 1")
        assert not have_ended(servers, 0)

        # when it is killed
        other.popen.kill()
        other.popen.wait()

        # then both servers end by themselves, in order
        assert have_ended(servers, 30)
    assert "received fast shutdown request" in (data / "postgres.log").read_text()
    assert "database system is shut down" in (data / "postgres.log").read_text().splitlines()[-1]
    assert "ready to exit" in (data / "valkey.log").read_text()


async def test_a_start_waits_for_servers_whose_parent_was_killed(data: Path) -> None:
    # given servers that cannot stop yet, although their parent has been killed
    with supervising_process(data) as other:
        await ask_postgres(other.postgres_url, "CREATE TABLE kept AS SELECT 7 AS seven", "SELECT 1")
        os.kill(other.postgres_pid, signal.SIGSTOP)
        os.kill(other.valkey_pid, signal.SIGSTOP)
        other.popen.kill()
        other.popen.wait()

        # when both are started on the folder, then that waits
        starting = asyncio.create_task(asyncio.to_thread(EmbeddedServers.start, data))
        assert not (await asyncio.wait([starting], timeout=0.3))[0]
        os.kill(other.valkey_pid, signal.SIGCONT)
        assert not (await asyncio.wait([starting], timeout=0.6))[0]
        os.kill(other.postgres_pid, signal.SIGCONT)

        # and takes over, with the data, once they have stopped
        with await starting as servers:
            assert await ask_postgres(servers.postgres_url, "SELECT seven FROM kept") == 7
            assert ask_valkey(servers.redis_url, "PING") is True


def test_ctrl_c_reaches_the_parent_alone_and_stops_both_in_order(data: Path) -> None:
    # given a process that runs both servers
    with supervising_process(data) as other, watched(other.postgres_pid, other.valkey_pid) as servers:
        # when its process group is interrupted, as by a terminal
        os.killpg(other.popen.pid, signal.SIGINT)

        # then it ends by its own handling, after both servers
        assert other.popen.wait(30) == 3
        assert have_ended(servers, 0)
    # and neither server had the signal from the terminal: Valkey was asked by SIGTERM, as `stop` does
    assert "Received SIGTERM" in (data / "valkey.log").read_text()
    assert "Received SIGINT" not in (data / "valkey.log").read_text()


async def test_servers_outlive_the_thread_that_started_them(data: Path) -> None:
    # given servers started by a thread that has ended: the kernel would take its end for the parent's
    started: list[EmbeddedServers] = []
    thread = threading.Thread(target=lambda: started.append(EmbeddedServers.start(data)))
    thread.start()
    thread.join()

    with started[0] as servers:
        # when clients ask, then both serve
        assert await ask_postgres(servers.postgres_url, "SELECT 1") == 1
        assert ask_valkey(servers.redis_url, "PING") is True
        assert servers.postgres.is_running
