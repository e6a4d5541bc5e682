"""The port `PolicyVersions`."""

from dataclasses import dataclass

from authority.domain.policy_version import PolicyVersion
from authority.domain.references import TenantRef
from authority.inprocess.tables import Tables


@dataclass(frozen=True, slots=True)
class InProcessPolicyVersions:
    """Implements `ports.PolicyVersions`."""

    tables: Tables

    async def of_tenant(self, tenant: TenantRef, version: bytes) -> PolicyVersion | None:
        """The bundle when it decides or decided in the tenant."""
        if version not in self.tables.policies:
            return None
        listed, bundle = self.tables.policies[version]
        namespaces = self.tables.namespaces.values()
        active = sorted(it.name for it in namespaces if (it.tenant, it.policy_version) == (tenant, version))
        decisions = self.tables.decisions.items()
        decided = any(of == tenant and it.receipt.policy_version == version for (of, _), it in decisions)
        return PolicyVersion(version, bundle, listed.load_time, tuple(active)) if active or decided else None
