"""Wires a whole authority on one machine: its own PostgreSQL and Valkey, migrated and with keys (decision 13)."""

import contextlib
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

from authority.bootstrap.connections import most_connections, shared_out
from authority.bootstrap.operator import open_operator
from authority.config import Settings, load_settings
from authority.embedded import EmbeddedServers
from authority.policy.bundle import bundle_version, default_bundle
from authority.postgres.migrate import migrate
from authority.postgres.provision import ensure_database, ensure_service_login

DATABASE = "authority"
KEYS = "keys"
"""The folder of private keys below the data folder."""


_CONNECTIONS = 100
"""PostgreSQL's own default."""
_CONNECTIONS_OF_OTHERS = 20
"""For the operator's commands, and those that PostgreSQL keeps back."""


def _untold(_: str) -> None:
    """Nobody wants to know."""


@contextlib.contextmanager
def embedded_settings(data: Path, tell: Callable[[str], None] = _untold, **overrides: object) -> Iterator[Settings]:
    """Settings of an authority whose servers run below `data` for as long as the block lasts.

    The same folder again is the same authority, with all that it has learned. `tell` is told what is begun, in words
    for a person. Raises SettingsError, EmbeddedError, MigrationFailed.
    """
    # Whatever is wrong is told first.
    settings = shared_out(load_settings(database_url="postgresql://", redis_url="redis://", **overrides))
    tell("starting PostgreSQL and Valkey")
    with EmbeddedServers.start(data, postgres_settings=_room_for(settings)) as servers:
        tell("bringing the database to this version")
        admin = ensure_database(servers.postgres_url, DATABASE)
        migrate(admin)
        # A new password each time: nothing but this process logs in with it.
        service = ensure_service_login(admin, secrets.token_urlsafe(32))
        yield load_settings(
            database_url=service,
            admin_database_url=admin,
            redis_url=servers.redis_url,
            keys=data / KEYS,
            **overrides,
        )


def _room_for(settings: Settings) -> dict[str, str]:
    return {"max_connections": str(max(_CONNECTIONS, most_connections(settings) + _CONNECTIONS_OF_OTHERS))}


async def furnish(settings: Settings, tell: Callable[[str], None] = _untold) -> bytes:
    """Gives a new authority its keys and the default policy bundle; answers with the bundle's version.

    What is there already stays as it is. Raises DatabaseUnusable, OSError.
    """
    tell("making sure of keys and policy")
    async with open_operator(settings) as operator:
        await operator.ensure_keys()
        version = bundle_version(default_bundle())
        if version not in {policy.version for policy in await operator.administration.list_policies()}:
            await operator.load_policy(default_bundle())
        return version
