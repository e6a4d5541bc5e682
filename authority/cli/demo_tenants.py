"""The firms of the demo as tenants of an embedded authority, and credentials to call as their principals."""

import dataclasses
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from authority.bootstrap.operator import Operator
from authority.cli.connecting import CREDENTIALS, credentials_file
from authority.cli.endpoint import Endpoint
from authority.domain.identity import RIGHTS_BY_KIND, PrincipalKind
from authority.domain.membership import Scope
from authority.domain.proposal import Visibility
from authority.domain.references import PrincipalRef
from authority.embedded.demo import DemoTenant
from authority.signing.possession import new_key
from authority.usecases.administer import NewMemoryNamespace, NewPrincipal
from capability_authority.client import Credentials, Reference

KINDS: Final[Mapping[str, PrincipalKind]] = MappingProxyType(
    {
        "admin": PrincipalKind.ADMIN,
        "agent": PrincipalKind.AGENT,
        "user": PrincipalKind.USER,
        "observer": PrincipalKind.OBSERVER,
        "service": PrincipalKind.SERVICE,
    }
)
"""Whom every firm has, by name; the service commits, the admin approves."""

_NAMESPACE: Final = "demo"


def principal_named(name: str) -> PrincipalRef:
    """The principal of this name, in whichever tenant."""
    return PrincipalRef(_NAMESPACE, name)


@dataclass(frozen=True, slots=True)
class DemoTenants:
    """Makes what is missing. Whatever is there, an operator's changes among it, stays as it is."""

    operator: Operator
    data: Path
    endpoint: Endpoint
    policy_version: bytes

    async def ensure(self, tenants: Iterable[DemoTenant]) -> None:
        """Makes sure of every tenant's memory namespaces and principals, and that their credentials lead here."""
        (self.data / CREDENTIALS).mkdir(mode=0o700, exist_ok=True)
        for tenant in tenants:
            await self._ensure_namespaces(tenant)
            registered = {found.ref for found in await self.operator.administration.list_principals(tenant.ref)}
            for name, kind in KINDS.items():
                await self._ensure_principal(tenant, name, kind, is_registered=principal_named(name) in registered)

    async def _ensure_namespaces(self, tenant: DemoTenant) -> None:
        administration = self.operator.administration
        existing = {found.name for found in await administration.list_namespaces(tenant.ref)}
        for namespace in tenant.memory_namespaces:
            if namespace.name not in existing:
                new = NewMemoryNamespace(
                    tenant=tenant.ref,
                    name=namespace.name,
                    policy_version=self.policy_version,
                    privileged=namespace.privileged,
                    least_profile=namespace.least_profile,
                )
                await administration.add_namespace(new, self.operator.clock.now())

    async def _ensure_principal(
        self, tenant: DemoTenant, name: str, kind: PrincipalKind, *, is_registered: bool
    ) -> None:
        """The key is durable before it is registered: after a crash between the two the same key is registered."""
        file = credentials_file(self.data, tenant.tenant, name)
        if file.exists():
            credentials = self._led_here(file)
        elif is_registered:
            return  # Its owner took the file away.
        else:
            credentials = self._new_credentials(tenant, name)
            credentials.save(file)
        if not is_registered:
            new = NewPrincipal(
                tenant=tenant.ref,
                ref=principal_named(name),
                kind=kind,
                rights=RIGHTS_BY_KIND[kind],
                key_id=credentials.key_id,
                public_key=credentials.signing_key.public_key.raw,
            )
            await self.operator.administration.add_principal(new, self.operator.clock.now())
            if tenant.team:
                scope = Scope(Visibility.TEAM, tenant.team)
                await self.operator.memberships.add_membership(
                    tenant.ref, principal_named(name), scope, self.operator.clock.now()
                )

    def _new_credentials(self, tenant: DemoTenant, name: str) -> Credentials:
        principal = principal_named(name)
        return Credentials(
            target=self.endpoint.target,
            issuer=self.endpoint.issuer,
            audience=self.endpoint.audience,
            tenant=Reference(tenant.ref.namespace, tenant.ref.id),
            principal=Reference(principal.namespace, principal.id),
            private_key=new_key(),
        )

    def _led_here(self, file: Path) -> Credentials:
        """The credentials in the file, which is written anew when the authority has moved to another address."""
        old = Credentials.from_file(file)
        here = dataclasses.replace(
            old, target=self.endpoint.target, issuer=self.endpoint.issuer, audience=self.endpoint.audience
        )
        if here != old:
            draft = file.with_suffix(".new")
            draft.unlink(missing_ok=True)
            here.save(draft)
            os.replace(draft, file)  # noqa: PTH105 - atomic, and says so
        return here
