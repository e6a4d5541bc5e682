"""Wires what the operator's commands need: the database under its administrator, and the key folder."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from authority.bootstrap.faults import naming
from authority.bootstrap.system import SystemClock
from authority.config import OperatorSettings, SettingsError
from authority.domain.statement import IssuerKey, KeyPurpose
from authority.policy.bundle import bundle_version
from authority.postgres.administration import PostgresAdministration
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.migrate import migrate
from authority.signing.key_folder import KeyFolder
from authority.signing.rotation import EVERYWHERE, Scope, generate
from authority.usecases.administer import Administration
from authority.usecases.ports import Clock

FIRST_PURPOSES = (KeyPurpose.CAPABILITY, KeyPurpose.RECEIPT, KeyPurpose.VALIDATION, KeyPurpose.DECISION)
"""What an authority signs from its first day."""


def admin_url(settings: OperatorSettings) -> str:
    """The URL for the operator's acts. Raises SettingsError when it is not set."""
    if settings.admin_database_url is None:
        raise SettingsError(
            "AUTHORITY_ADMIN_DATABASE_URL is not set: name a role that may create roles and schemas, or name the"
            " data folder of a running embedded authority by --data"
        )
    return settings.admin_database_url.get_secret_value()


def migrate_database(settings: OperatorSettings) -> list[str]:
    """Brings the database to this version; the ids of what was applied. Raises SettingsError, MigrationFailed."""
    return migrate(admin_url(settings))


@dataclass(frozen=True, slots=True)
class Operator:
    """Everything an administrative command works on."""

    administration: Administration
    keys: KeyFolder
    clock: Clock

    async def rotate(self, purpose: KeyPurpose, scope: Scope = EVERYWHERE) -> tuple[IssuerKey, list[str]]:
        """A new key signs from now on; answers with it and the ids of the keys that retire for it.

        The private key is durable before its row names it: a crash between leaves a file that signs nothing.
        """
        now = self.clock.now()
        key = generate(self.keys, purpose, now, scope)
        return key, list(await self.administration.add_issuer_key(key, now))

    async def ensure_keys(self) -> list[IssuerKey]:
        """Makes the keys of a new authority; answers with those it made."""
        existing = {key.purpose for key in await self.administration.list_issuer_keys()}
        return [(await self.rotate(purpose))[0] for purpose in FIRST_PURPOSES if purpose not in existing]

    async def load_policy(self, bundle: str) -> bytes:
        """Keeps the bundle, which was checked before, and answers with its version."""
        version = bundle_version(bundle)
        await self.administration.load_policy(version, bundle, self.clock.now())
        return version


@contextlib.asynccontextmanager
async def open_operator(settings: OperatorSettings, clock: Clock | None = None) -> AsyncIterator[Operator]:
    """The operator's wiring. Raises SettingsError; DatabaseUnusable here and from the block."""
    with naming("AUTHORITY_ADMIN_DATABASE_URL"):
        database = Database(await connect_pool(PoolSettings(admin_url(settings), Power.ADMIN, most=2)))
        try:
            yield Operator(PostgresAdministration(database), KeyFolder(settings.keys), clock or SystemClock())
        finally:
            await database.close()
