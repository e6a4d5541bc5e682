"""Wires a whole authority on one machine: its own PostgreSQL and Valkey, migrated and with keys (decision 13)."""

import contextlib
import secrets
from collections.abc import Iterator
from pathlib import Path

from authority.config import Settings, load_settings
from authority.embedded import EmbeddedServers
from authority.postgres.migrate import migrate
from authority.postgres.provision import ensure_database, ensure_service_login

DATABASE = "authority"


@contextlib.contextmanager
def embedded_settings(data: Path, **overrides: object) -> Iterator[Settings]:
    """Settings of an authority whose servers run below `data` for as long as the block lasts.

    The same folder again is the same authority, with all that it has learned. Raises EmbeddedError, MigrationFailed.
    """
    with EmbeddedServers.start(data) as servers:
        admin = ensure_database(servers.postgres_url, DATABASE)
        migrate(admin)
        # A new password each time: nothing but this process logs in with it.
        service = ensure_service_login(admin, secrets.token_urlsafe(32))
        yield load_settings(
            database_url=service,
            admin_database_url=admin,
            redis_url=servers.redis_url,
            keys=data / "keys",
            **overrides,
        )

