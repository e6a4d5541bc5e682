"""Wires what the operator's commands need: the database under its administrator, and the key folder."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from authority.bootstrap.faults import DatabaseUnusable, naming
from authority.bootstrap.system import SystemClock
from authority.config import OperatorSettings, SettingsError
from authority.domain.statement import IssuerKey, KeyPurpose
from authority.policy.bundle import bundle_version
from authority.postgres.administration import PostgresAdministration
from authority.postgres.aggregates import PostgresAggregateAdministration
from authority.postgres.audit import PostgresAuditLog
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.credentials import PostgresCredentialRegister
from authority.postgres.evidence import PostgresEvidenceReviews
from authority.postgres.external_authorities import PostgresExternalAuthorities
from authority.postgres.key_aliases import PostgresKeyAliases
from authority.postgres.memberships import PostgresMembershipAdministration
from authority.postgres.migrate import migrate
from authority.postgres.principal_links import PostgresPrincipalLinks
from authority.postgres.provision import SERVICE, LoginRefused, ensure_powers, ensure_service_login
from authority.postgres.unvalidated_writes import PostgresUnvalidatedReports
from authority.signing.key_folder import KeyFolder
from authority.signing.rotation import EVERYWHERE, Scope, generate
from authority.usecases.administer import Administration
from authority.usecases.administer_aggregates import AggregateAdministration
from authority.usecases.administer_memberships import MembershipAdministration
from authority.usecases.external_authorities import ExternalAuthorities
from authority.usecases.key_aliases import KeyAliases
from authority.usecases.link_principals import PrincipalLinks
from authority.usecases.ports import AuditLog, Clock, EvidenceReviews, UnvalidatedReports
from authority.usecases.register_credentials import CredentialRegister

FIRST_PURPOSES = (
    KeyPurpose.CAPABILITY,
    KeyPurpose.GRANT,
    KeyPurpose.RECEIPT,
    KeyPurpose.VALIDATION,
    KeyPurpose.DECISION,
    KeyPurpose.REVOCATION,
)
"""What an authority signs from its first day."""


_SERVICE_URL = "AUTHORITY_DATABASE_URL"


def admin_url(settings: OperatorSettings) -> str:
    """The URL for the operator's acts. Raises SettingsError when it is not set."""
    if settings.admin_database_url is None:
        raise SettingsError(
            "AUTHORITY_ADMIN_DATABASE_URL is not set: name a role that may create roles and schemas, or name the"
            " data folder of a running embedded authority by --data"
        )
    return settings.admin_database_url.get_secret_value()


@dataclass(frozen=True, slots=True)
class Migrated:
    """What `migrate_database` did: the ids of what it applied, and the user who may serve, when one is named."""

    applied: list[str]
    service: str | None
    told: str
    """Who may log in as the service, or what to set so that it may; a sentence that holds no password."""


def migrate_database(settings: OperatorSettings) -> Migrated:
    """Brings the database to this version, and lets the user of AUTHORITY_DATABASE_URL serve.

    `authority_service` gets its login and password from there; any other user must exist, and gets the powers. Raises
    SettingsError, MigrationFailed, DatabaseUnusable.
    """
    admin, (user, password) = admin_url(settings), _service_login(settings)
    applied = migrate(admin)
    try:
        return Migrated(applied, user, _let_in(admin, user, password))
    except LoginRefused as error:
        raise DatabaseUnusable(
            f"the database is at this version, but the user of {_SERVICE_URL} cannot be let in: {error}"
        ) from error


def _service_login(settings: OperatorSettings) -> tuple[str | None, str | None]:
    """User and password of the service's URL, where it has them. Raises SettingsError, without the URL's text."""
    url = settings.database_url
    try:
        parts = urlsplit(url.get_secret_value() if url else "")
    except ValueError:
        raise SettingsError(
            f"{_SERVICE_URL}: is no URL; characters such as / and [ in a password are to be escaped"
        ) from None
    return parts.username and unquote(parts.username), parts.password and unquote(parts.password)


def _let_in(admin: str, user: str | None, password: str | None) -> str:
    if user is None:
        return (
            f"nobody was let in to serve: set {_SERVICE_URL} to postgresql://{SERVICE}:PASSWORD@HOST/DATABASE, with a"
            " password of your choice, and migrate again"
        )
    if user != SERVICE:
        ensure_powers(admin, user)
        return f"{user}, the user of {_SERVICE_URL}, may take on the powers of the service"
    if password is None:
        return f"{_SERVICE_URL} holds no password: the login of {SERVICE} is as it was"
    ensure_service_login(admin, password)
    return f"{SERVICE} may log in with the password of {_SERVICE_URL}"


@dataclass(frozen=True, slots=True)
class Operator:
    """Everything an administrative command works on."""

    administration: Administration
    memberships: MembershipAdministration
    aggregates: AggregateAdministration
    principal_links: PrincipalLinks
    credentials: CredentialRegister
    key_aliases: KeyAliases
    external_authorities: ExternalAuthorities
    unvalidated: UnvalidatedReports
    evidence: EvidenceReviews
    audit_log: AuditLog
    keys: KeyFolder
    clock: Clock

    async def rotate(self, purpose: KeyPurpose, scope: Scope = EVERYWHERE) -> tuple[IssuerKey, list[str]]:
        """A new key signs from now on; answers with it and the ids of the keys that retire for it.

        The private key is durable before its row names it: a crash between leaves a file that signs nothing. A database
        that is away or was never migrated is found before, and leaves none.
        """
        await self.administration.list_issuer_keys()
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
            yield Operator(
                PostgresAdministration(database),
                PostgresMembershipAdministration(database),
                PostgresAggregateAdministration(database),
                PostgresPrincipalLinks(database),
                PostgresCredentialRegister(database),
                PostgresKeyAliases(database),
                PostgresExternalAuthorities(database),
                PostgresUnvalidatedReports(database),
                PostgresEvidenceReviews(database),
                PostgresAuditLog(database),
                KeyFolder(settings.keys),
                clock or SystemClock(),
            )
        finally:
            await database.close()
