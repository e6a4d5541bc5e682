"""A tenant of its own for each test, so that tests do not see each other's memory."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

from capability_authority.client import CapabilityAuthority, Credentials, Reference
from capability_authority.sync import CapabilityAuthority as SyncCapabilityAuthority

__all__ = ["Role", "TenantForTests"]

Role: TypeAlias = Literal["admin", "agent", "user", "observer", "service"]
"""Of whom each tenant has one: agents, users and observers propose, the service commits, the admin approves."""


@dataclass(frozen=True, slots=True)
class TenantForTests:
    """A tenant that nobody else uses, with one principal of every role. Ending its `with` block closes its clients."""

    reference: Reference
    memory_namespace: str
    """Of the ordinary kind: the default policy decides."""
    privileged_namespace: str
    """Where the default policy asks for a person's approval of everything."""
    credentials_files: Mapping[str, str]
    _clients: dict[Role, SyncCapabilityAuthority] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """From what `authority tenants add --json` says of one."""
        ordinary, privileged = row["memory_namespaces"]
        return cls(Reference(**row["tenant"]), ordinary, privileged, row["credentials"])

    def credentials(self, role: Role) -> Credentials:
        """Those of the principal with this role."""
        return Credentials.from_file(self.credentials_files[role])

    def client(self, role: Role) -> SyncCapabilityAuthority:
        """A sync client as this principal, ready to be used: the same one each time, closed with the tenant."""
        if role not in self._clients:
            self._clients[role] = self._stack.enter_context(
                SyncCapabilityAuthority.connect(credentials=self.credentials(role))
            )
        return self._clients[role]

    def async_client(self, role: Role) -> CapabilityAuthority:
        """A new async client as this principal, to be entered with `async with` in the test's event loop."""
        return CapabilityAuthority.connect(credentials=self.credentials(role))

    def close(self) -> None:
        """Close the clients that `client` gave. Nothing of the tenant is removed. Closing again does nothing."""
        self._clients.clear()
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
