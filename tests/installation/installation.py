"""One installation of the authority: a database and a Valkey, its keys and policy, and the tenants on it."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

import psycopg
from pydantic import SecretStr

from authority.bootstrap.operator import Operator, open_operator
from authority.config import OperatorSettings
from authority.domain.identity import RIGHTS_BY_KIND, PrincipalKind
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.statement import KeyPurpose
from authority.policy.bundle import bundle_version, default_bundle
from authority.usecases.administer import NewMemoryNamespace, NewPrincipal
from capability_authority.client import Credentials, Reference
from capability_authority.offline import PrivateKey, load_private_key_file
from tests.installation.processes import Processes, processes_of

ISSUER: Final = "authority.test"
AUDIENCE: Final = "ruflo.memory"
"""One that envelopes of upstream can name; so can they the namespace of tenants."""
NAMESPACE: Final = "notes"
OTHER_NAMESPACE: Final = "plans"
MEMBERS: Final = {
    "user": PrincipalKind.USER,
    "agent": PrincipalKind.AGENT,
    "service": PrincipalKind.SERVICE,
    "other-service": PrincipalKind.SERVICE,
    "admin": PrincipalKind.ADMIN,
}
_LOGIN: Final = "installation"
_REDIS_WAIT_MS: Final = "2000"
"""A busy machine is not taken for a Redis that hangs; tests in which it does hang set a shorter one."""
_NUMBERS = count(1)


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant with one principal of each kind that a commit needs, and two memory namespaces."""

    ref: TenantRef
    members: Mapping[str, Credentials]

    def __getitem__(self, name: str) -> Credentials:
        return self.members[name]


@dataclass(frozen=True, slots=True)
class Installation:
    """Where everything is. `folder` holds the keys and the logs."""

    admin_url: str
    redis_url: str
    folder: Path

    @property
    def keys(self) -> Path:
        """The folder of the authority's private keys."""
        return self.folder / "keys"

    def settings(self, *, database_url: str = "", redis_url: str = "") -> dict[str, str]:
        """What a process of the service finds in its environment; the two servers may be behind other addresses."""
        return {
            "AUTHORITY_DATABASE_URL": _as_login(database_url or self.admin_url),
            "AUTHORITY_REDIS_URL": redis_url or self.redis_url,
            "AUTHORITY_KEYS": str(self.keys),
            "AUTHORITY_ISSUER": ISSUER,
            "AUTHORITY_AUDIENCE": AUDIENCE,
            "AUTHORITY_REDIS_WAIT_MS": _REDIS_WAIT_MS,
        }

    @contextmanager
    def processes(self, *, database_url: str = "", redis_url: str = "") -> Iterator[Processes]:
        """To start processes of the service in; all have ended when the block has."""
        settings = self.settings(database_url=database_url, redis_url=redis_url)
        with processes_of(self.folder, settings) as processes:
            yield processes

    @asynccontextmanager
    async def operator(self) -> AsyncIterator[Operator]:
        """What the operator's commands do."""
        settings = OperatorSettings(
            admin_database_url=SecretStr(self.admin_url), keys=self.keys, issuer=ISSUER, audience=AUDIENCE
        )
        async with open_operator(settings) as operator:
            yield operator

    def private_key(self, purpose: KeyPurpose) -> PrivateKey:
        """The one key of this purpose, as a thief of the key folder would have it."""
        (file,) = self.keys.glob(f"{purpose.value}-*.pem")
        return load_private_key_file(file)

    async def furnish(self) -> None:
        """Gives it a login, keys, and the default policy."""
        make_login(self.admin_url)
        async with self.operator() as operator:
            await operator.ensure_keys()
            await operator.load_policy(default_bundle())

    async def tenant(self) -> Tenant:
        """A new tenant."""
        ref = TenantRef("cognitum-tenant", f"tenant-{next(_NUMBERS)}")
        members = {name: _credentials(ref, name) for name in MEMBERS}
        async with self.operator() as operator:
            for name, kind in MEMBERS.items():
                await operator.administration.add_principal(
                    _new_principal(ref, members[name], kind), operator.clock.now()
                )
            for namespace in (NAMESPACE, OTHER_NAMESPACE):
                new = NewMemoryNamespace(tenant=ref, name=namespace, policy_version=bundle_version(default_bundle()))
                await operator.administration.add_namespace(new, operator.clock.now())
        return Tenant(ref, members)


def _credentials(tenant: TenantRef, name: str) -> Credentials:
    return Credentials(
        target="127.0.0.1:1",  # Who connects says where.
        issuer=ISSUER,
        audience=AUDIENCE,
        tenant=Reference(tenant.namespace, tenant.id),
        principal=Reference("test", name),
        private_key=PrivateKey.generate(),
    )


def _new_principal(tenant: TenantRef, credentials: Credentials, kind: PrincipalKind) -> NewPrincipal:
    return NewPrincipal(
        tenant=tenant,
        ref=PrincipalRef(*credentials.principal),
        kind=kind,
        rights=RIGHTS_BY_KIND[kind],
        key_id=credentials.key_id,
        public_key=credentials.signing_key.public_key.raw,
    )


def make_login(admin_url: str) -> None:
    """A login that may do what the service's may, and is ours alone: `authority_service` is other tests'."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        if not connection.execute("select 1 from pg_roles where rolname = %s", (_LOGIN,)).fetchone():
            connection.execute(f"create role {_LOGIN} login noinherit password '{_LOGIN}'")
        connection.execute(f"grant authority_service to {_LOGIN} with inherit false, set true")


def _as_login(url: str) -> str:
    return f"postgresql://{_LOGIN}:{_LOGIN}@{url.rpartition('@')[2]}"
