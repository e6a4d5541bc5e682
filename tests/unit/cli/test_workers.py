"""What stands behind `authority serve --workers`: the port, the pauses, the shares, and what a worker is told."""

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from authority.bootstrap.connections import most_connections, shared_out
from authority.cli.failures import Misused, Refused
from authority.cli.workers.crew import Pauses
from authority.cli.workers.order import Order, Report
from authority.cli.workers.reservation import reserved
from authority.config import Settings, load_settings


def _settings(**given: object) -> Settings:
    return load_settings(
        **{
            "database_url": "postgresql://service:se%20cret@127.0.0.1/authority",
            "redis_url": "redis://:geheim@127.0.0.1",
            "keys": Path("keys"),
            **given,
        }
    )


def _listening(port: int, *, shared: bool) -> socket.socket:
    """A socket that listens as a server does, or as one of several."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, int(shared))
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


@pytest.fixture
def port() -> Iterator[int]:
    with reserved("127.0.0.1:0") as port:
        yield port


def test_a_reserved_port_is_for_those_who_share_it(port: int) -> None:
    with pytest.raises(OSError, match="in use"):
        _listening(port, shared=False)

    with closing(_listening(port, shared=True)), closing(_listening(port, shared=True)):
        socket.create_connection(("127.0.0.1", port)).close()


def test_a_reserved_port_that_nobody_serves_refuses_connections(port: int) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


@pytest.mark.parametrize("workers", [0, 2])
def test_of_two_parents_only_one_has_a_port_also_while_no_worker_listens(port: int, workers: int) -> None:
    listening = [_listening(port, shared=True) for _ in range(workers)]
    for one in listening:
        one.close()

    with pytest.raises(Refused, match=f"cannot listen on 127.0.0.1:{port}"), reserved(f"127.0.0.1:{port}"):
        pass


@pytest.mark.parametrize("shared", [False, True])
def test_where_somebody_listens_nothing_is_reserved(shared: bool) -> None:  # noqa: FBT001 - a parameter
    with closing(_listening(0, shared=shared)) as other:
        taken = other.getsockname()[1]

        with pytest.raises(Refused, match="cannot listen"), reserved(f"127.0.0.1:{taken}"):
            pass


def test_a_port_can_be_reserved_anew_although_connections_linger() -> None:
    # Given a connection that the server closed first, and of which its side of the kernel still knows
    with reserved("127.0.0.1:0") as port, closing(_listening(port, shared=True)) as worker:
        client = socket.create_connection(("127.0.0.1", port))
        worker.accept()[0].close()
        client.close()

    # When the next parent comes, then it has the port, and its workers too
    with reserved(f"127.0.0.1:{port}"), closing(_listening(port, shared=True)):
        pass


def test_a_name_is_reserved_on_its_addresses() -> None:
    with reserved("localhost:0") as port, pytest.raises(OSError, match="in use"):
        _listening(port, shared=False)


@pytest.mark.parametrize("listen", ["192.0.2.1:50151", "192.0.2.1:0", "no such host:50151"])
def test_an_address_that_is_not_this_machines_is_refused(listen: str) -> None:
    with pytest.raises(Refused, match=f"cannot listen on {listen}"), reserved(listen):
        pass


def test_several_workers_cannot_share_a_unix_socket() -> None:
    with pytest.raises(Misused, match="HOST:PORT"), reserved("unix:/run/authority"):
        pass


def test_pauses_grow_to_half_a_minute_and_begin_anew_after_a_long_service() -> None:
    pauses = Pauses()

    early = [pauses.after(served_s=1.0) for _ in range(9)]
    late = [pauses.after(served_s=31.0), pauses.after(served_s=0.0)]

    assert early == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]
    assert late == [0.5, 1.0]


@pytest.mark.parametrize(
    ("workers", "given", "each"),
    [
        (2, {}, (2, 4)),
        (4, {}, (2, 2)),
        (64, {}, (2, 2)),
        (4, {"connections": 8}, (2, 8)),
        (4, {"commit_connections": 1, "connections": 1}, (1, 1)),
    ],
)
def test_workers_share_out_the_connections_that_nobody_has_set(
    workers: int, given: dict[str, int], each: tuple[int, int]
) -> None:
    settings = shared_out(_settings(workers=workers, **given))

    assert (settings.commit_connections, settings.connections) == each
    assert most_connections(settings) == (workers + 1) * (each[0] + 1 + 3 * each[1])


def test_a_worker_is_told_every_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a parent whose settings are of all kinds, some from its environment
    monkeypatch.setenv("AUTHORITY_KEY_REFRESH_S", "0.25")
    settings = _settings(workers=3, reflection=True, tls_certificate=Path("/etc/tls.pem"))
    line = Order.to_serve(settings).line()
    monkeypatch.delenv("AUTHORITY_KEY_REFRESH_S")

    # When a worker elsewhere reads them, then they are the same, passwords included
    assert Order.of_line(line).load() == settings.model_copy(update={"keys": Path.cwd() / "keys"})
    assert b"geheim" in line


def test_a_worker_says_that_it_serves_or_why_not() -> None:
    for report in (Report(), Report("no\nway", 2)):
        assert Report.of_line(report.line()) == report
        assert report.line().count(b"\n") == 1
