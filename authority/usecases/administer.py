"""The operator's acts on the server's own database: no RPC can do these (api.md, Clients)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.audit import AuditEvent
from authority.domain.credential import Credential
from authority.domain.identity import PrincipalKind, Right
from authority.domain.proposal import Visibility
from authority.domain.record import MemoryNamespace, Mode
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.statement import IssuerKey

OPERATOR = PrincipalRef("operator", "cli")
"""Who the audit log names for what is done on the server's own command line."""


def operator_event(tenant: TenantRef, kind: str, subject: str, states: tuple[str, str], now: Instant) -> AuditEvent:
    """What the audit log tells of an operator's act: on what, from which state to which."""
    previous, following = states
    return AuditEvent(
        tenant=tenant,
        kind=kind,
        actor=OPERATOR,
        subject=subject,
        previous_state=previous,
        next_state=following,
        time=now,
    )


class NotThere(Exception):
    """What the act names does not exist, or is past it already."""


class AlreadyThere(Exception):
    """What the act would make exists already."""


class NotTheirs(Exception):
    """The person who is said to have decided may not decide on this."""


@dataclass(frozen=True, slots=True)
class ListedPrincipal:
    """A principal as the operator sees it."""

    tenant: TenantRef
    ref: PrincipalRef
    kind: PrincipalKind
    rights: frozenset[Right]
    state: str
    key_ids: tuple[str, ...]
    """Of its active keys."""


@dataclass(frozen=True, slots=True)
class ListedPolicy:
    """A loaded bundle. `version` is the SHA-256 of its bytes."""

    version: bytes
    size: int
    load_time: Instant


@dataclass(frozen=True, slots=True)
class LoadedPolicy:
    """A loaded bundle with its text."""

    listed: ListedPolicy
    bundle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPrincipal:
    """A principal and its first key, whose possession the registrar has seen proved; or what it shows instead."""

    tenant: TenantRef
    ref: PrincipalRef
    kind: PrincipalKind
    rights: frozenset[Right]
    key_id: str = ""
    public_key: bytes = b""
    credential: Credential | None = None
    """Instead of a key: a certificate's name, or the subject of a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemoryNamespace:
    """A memory namespace to be; new ones enforce unless the operator says otherwise."""

    tenant: TenantRef
    name: str
    policy_version: bytes
    mode: Mode = Mode.ENFORCE
    privileged: bool = False
    least_profile: str = "baseline"
    default_visibility: Visibility = Visibility.WORKSPACE


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitCounts:
    """What every commit of a tenant makes one of (ADR-328: in one transaction or not at all)."""

    consumed_capabilities: int
    receipts: int
    records: int
    events: int
    """Commit events in the outbox."""

    @property
    def agree(self) -> bool:
        """Whether all four are equal, as they are at every moment."""
        return self.consumed_capabilities == self.receipts == self.records == self.events


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRefusals:
    """How often one principal was refused for one reason, or answered again (`REPLAYED`), and from when to when."""

    principal: PrincipalRef | None
    """None: several principals together, of whom there were too many to tell apart."""
    reason: str
    count: int
    first_minute: Instant
    last_minute: Instant


class Administration(Protocol):
    """Each act is one transaction with its audit event.

    Withdrawals exclude commits before they read: once one is acknowledged, no commit that ignored it can still land
    (semantics §5).
    """

    async def add_principal(self, new: NewPrincipal, now: Instant) -> None:
        """Raises AlreadyThere when the principal is registered or the key belongs to another."""
        ...

    async def list_principals(self, tenant: TenantRef) -> Sequence[ListedPrincipal]:
        """Every principal of the tenant, revoked ones too."""
        ...

    async def revoke_principal(self, tenant: TenantRef, ref: PrincipalRef, now: Instant) -> None:
        """Irreversible. Raises NotThere."""
        ...

    async def revoke_principal_key(self, tenant: TenantRef, key_id: str, now: Instant) -> None:
        """Irreversible, and of every form of credential. Raises NotThere."""
        ...

    async def add_namespace(self, new: NewMemoryNamespace, now: Instant) -> None:
        """Raises AlreadyThere; NotThere when the policy version is not loaded."""
        ...

    async def list_namespaces(self, tenant: TenantRef) -> Sequence[MemoryNamespace]:
        """Every memory namespace of the tenant."""
        ...

    async def set_mode(self, tenant: TenantRef, name: str, mode: Mode, now: Instant) -> None:
        """Raises NotThere."""
        ...

    async def load_policy(self, version: bytes, bundle: str, now: Instant) -> None:
        """Loading again changes nothing."""
        ...

    async def list_policies(self) -> Sequence[ListedPolicy]:
        """Every loaded bundle."""
        ...

    async def policy(self, version: bytes) -> LoadedPolicy:
        """One loaded bundle. Raises NotThere."""
        ...

    async def activate_policy(self, tenant: TenantRef, name: str, version: bytes, now: Instant) -> None:
        """What was decided under another version can no longer be committed. Raises NotThere."""
        ...

    async def count_commits(self, tenant: TenantRef) -> CommitCounts:
        """The four counts of the tenant, taken at one moment."""
        ...

    async def list_refusals(self, tenant: TenantRef, since: Instant) -> Sequence[ListedRefusals]:
        """What was counted since that minute, those refused last first: a running process adds every few seconds."""
        ...

    async def add_issuer_key(self, key: IssuerKey, now: Instant) -> Sequence[str]:
        """Makes the key the active one of its purpose and scope; answers with the ids of those that retire for it."""
        ...

    async def list_issuer_keys(self) -> Sequence[IssuerKey]:
        """Every key of the authority."""
        ...

    async def revoke_issuer_key(self, key_id: str, compromised_since: Instant | None, now: Instant) -> None:
        """Irreversible: nothing that the key signed verifies any more. Raises NotThere.

        `compromised_since` is what clients are told of when the key fell into other hands, None when it did not.
        """
        ...
