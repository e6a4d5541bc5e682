"""Serves metrics as Prometheus asks for them: text over HTTP, by a thread of its own."""

import contextlib
import io
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Final
from wsgiref.simple_server import WSGIRequestHandler, make_server

import structlog
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import ThreadingWSGIServer, make_wsgi_app

from authority.telemetry.exporting import CannotExport

PATH: Final = "/metrics"
_PATIENCE_S: Final = 10.0
"""How long a connection may say nothing."""

_log = structlog.get_logger(__name__)


def _tell_of_defects() -> None:
    """Logs what is being handled, unless it is the other end's doing: gone, silent, or slow to read."""
    error = sys.exc_info()[1]
    if not isinstance(error, OSError):
        _log.error("scrape_failed", exc_info=error)


class _ForErrors(io.StringIO):
    """Stands for standard error, to which a trace would go past the log."""

    def flush(self) -> None:
        """Comes once the trace is written, while its error is handled."""
        _tell_of_defects()


class _Handler(WSGIRequestHandler):
    timeout = _PATIENCE_S

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
        """Scrapes come every few seconds and say nothing."""

    def get_stderr(self) -> io.StringIO:
        """Where the trace goes when an answer fails."""
        return _ForErrors()


@contextlib.contextmanager
def served(listen: str, registry: CollectorRegistry) -> Iterator[str]:
    """Serves what the registry holds at `HOST:PORT` while the block lasts, and answers with the URL; port 0 draws one.

    Raises CannotExport.
    """
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    try:
        family, address = _place(host, int(port))

        class Server(ThreadingWSGIServer):
            address_family = family

            def handle_error(self, *_: object) -> None:
                """When a request cannot be read."""
                _tell_of_defects()

        server = make_server(address[0], address[1], make_wsgi_app(registry), Server, _Handler)
    except OSError as error:
        raise CannotExport(
            f"AUTHORITY_METRICS_LISTEN: cannot listen on {listen} ({error.strerror}): choose another address, port 0"
            " takes a free one"
        ) from error
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}{PATH}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _place(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    return family, (str(address[0]), int(address[1]))
