"""The authority under measurement: its own PostgreSQL with fsync, its own Valkey, one tenant, all in one folder."""

import asyncio
import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from authority.bootstrap.operator import open_operator
from authority.config import OperatorSettings
from authority.domain.identity import RIGHTS_BY_KIND, PrincipalKind
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.statement import IssuerKey
from authority.embedded import EmbeddedServers
from authority.policy.bundle import default_bundle
from authority.postgres.migrate import migrate
from authority.postgres.provision import ensure_database, ensure_service_login
from authority.usecases.administer import NewMemoryNamespace, NewPrincipal
from bench.database import count_functions
from capability_authority.client import Credentials, Reference
from capability_authority.offline import PrivateKey

ISSUER: Final = "authority.bench"
AUDIENCE: Final = "memory.bench"
TENANT: Final = TenantRef("bench", "tenant")
PROPOSER: Final = PrincipalRef("bench", "user")
HOLDER: Final = PrincipalRef("bench", "service")
MEMORY_NAMESPACE: Final = "notes"
_POSTGRES_SETTINGS: Final = {"autovacuum_naptime": "1min"}
"""PostgreSQL's own, as on most servers: tables are analysed before each measurement, not again and again in it."""


@dataclass(frozen=True, slots=True)
class Installation:
    """Where everything is."""

    servers: EmbeddedServers
    folder: Path
    admin_url: str
    """The superuser's, of the authority's database."""
    service_url: str
    policy_version: bytes
    issuer_keys: tuple[IssuerKey, ...]
    proposer: Credentials
    holder: Credentials
    """Who issues and commits."""

    @property
    def keys(self) -> Path:
        """The folder of the authority's private keys."""
        return self.folder / "keys"

    def settings(self) -> dict[str, str]:
        """What a process of the service finds in its environment."""
        return {
            "AUTHORITY_DATABASE_URL": self.service_url,
            "AUTHORITY_REDIS_URL": self.servers.redis_url,
            "AUTHORITY_KEYS": str(self.keys),
            "AUTHORITY_ISSUER": ISSUER,
            "AUTHORITY_AUDIENCE": AUDIENCE,
            "AUTHORITY_LOG_LEVEL": "warning",
        }


@contextlib.contextmanager
def installed(folder: Path) -> Iterator[Installation]:
    """An installation below an empty folder; its servers have ended when the block has."""
    with EmbeddedServers.start(folder, postgres_settings=_POSTGRES_SETTINGS) as servers:
        admin_url = ensure_database(servers.postgres_url, "authority")
        migrate(admin_url)
        count_functions(admin_url)
        service_url = ensure_service_login(admin_url, secrets.token_urlsafe(16))
        furnished = asyncio.run(_furnish(admin_url, folder / "keys"))
        yield Installation(servers, folder, admin_url, service_url, *furnished)


async def _furnish(admin_url: str, keys: Path) -> tuple[bytes, tuple[IssuerKey, ...], Credentials, Credentials]:
    settings = OperatorSettings(admin_database_url=SecretStr(admin_url), keys=keys, issuer=ISSUER, audience=AUDIENCE)
    async with open_operator(settings) as operator:
        issuer_keys = await operator.ensure_keys()
        policy_version = await operator.load_policy(default_bundle())
        namespace = NewMemoryNamespace(tenant=TENANT, name=MEMORY_NAMESPACE, policy_version=policy_version)
        await operator.administration.add_namespace(namespace, operator.clock.now())
        proposer, holder = _credentials(PROPOSER), _credentials(HOLDER)
        for credentials, kind in ((proposer, PrincipalKind.USER), (holder, PrincipalKind.SERVICE)):
            await operator.administration.add_principal(_principal(credentials, kind), operator.clock.now())
    return policy_version, tuple(issuer_keys), proposer, holder


def _credentials(principal: PrincipalRef) -> Credentials:
    return Credentials(
        target="127.0.0.1:1",  # Who connects says where.
        issuer=ISSUER,
        audience=AUDIENCE,
        tenant=Reference(TENANT.namespace, TENANT.id),
        principal=Reference(principal.namespace, principal.id),
        private_key=PrivateKey.generate(),
    )


def _principal(credentials: Credentials, kind: PrincipalKind) -> NewPrincipal:
    return NewPrincipal(
        tenant=TENANT,
        ref=PrincipalRef(*credentials.principal),
        kind=kind,
        rights=RIGHTS_BY_KIND[kind],
        key_id=credentials.key_id,
        public_key=credentials.signing_key.public_key.raw,
    )
