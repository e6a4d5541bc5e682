"""A real authority for tests: the service as a process of its own, with its own PostgreSQL and Valkey.

The pytest plugin of this package gives it as the fixture `capability_authority`. Without pytest:

    with EmbeddedAuthority.started(folder) as authority, authority.new_tenant() as tenant:
        tenant.client("agent").propose(...)

It needs the service: `pip install 'capability-authority[embedded]'`.
"""

from capability_authority.testing.authority import EmbeddedAuthority
from capability_authority.testing.process import AuthorityUnavailable
from capability_authority.testing.tenants import Role, TenantForTests

__all__ = ["AuthorityUnavailable", "EmbeddedAuthority", "Role", "TenantForTests"]
