"""Who else than this authority has a say on policy in a tenant, as an operator configured it (semantics §7)."""

from dataclasses import dataclass

from authority.domain.references import Instant, TenantRef


@dataclass(frozen=True, slots=True)
class ExternalKey:
    """A key by which an external authority signs its decisions."""

    key_id: str
    public_key: bytes
    revoke_time: Instant | None = None
    """Since when nothing that it signed counts."""

    @property
    def is_active(self) -> bool:
        """Whether what it signs counts."""
        return self.revoke_time is None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalAuthority:
    """An authority whose signed decisions count beside our own, in the memory namespaces that are named.

    Its word only narrows: it can deny or ask for an approval where our policy allows, never allow what ours denies.
    """

    tenant: TenantRef
    issuer: str
    memory_namespaces: tuple[str, ...]
    required: bool
    """Nothing is decided in these memory namespaces without a decision of its own."""
    keys: tuple[ExternalKey, ...]

    def has_a_say_in(self, memory_namespace: str) -> bool:
        """Whether its decisions count there."""
        return memory_namespace in self.memory_namespaces

    def key(self, key_id: str) -> ExternalKey | None:
        """Its key of this id, a revoked one too."""
        return next((key for key in self.keys if key.key_id == key_id), None)
