"""What the verbs of InteropService answer."""

from dataclasses import dataclass, field
from datetime import datetime

from capability_authority.client.credentials import Reference
from capability_authority.offline import PublicKey

__all__ = ["ActionVerdict", "EnvelopeVerdicts", "ReplayReservation", "ResolvedKey"]


@dataclass(frozen=True, slots=True)
class ResolvedKey:
    """A key that was active when it was asked for, and may be revoked at any moment after: keep none."""

    key_id: str
    """Its thumbprint, whatever it was called."""
    public_key: PublicKey
    principal: Reference
    """Whose key it is."""
    principal_kind: str
    """For example "service"."""
    create_time: datetime
    """When it was registered."""
    as_of_time: datetime
    """When it was looked up."""


@dataclass(frozen=True, slots=True)
class ReplayReservation:
    """What became of a reservation."""

    outcome: str
    """"reserved", "replay" (the same envelope passed before, or may have) or "conflict" (another one did)."""
    replayed: bool
    """Whether this same request was told "reserved" before."""

    @property
    def reserved(self) -> bool:
        """Whether the envelope may pass."""
        return self.outcome == "reserved"


@dataclass(frozen=True, slots=True)
class ActionVerdict:
    """Whether one side allows an action."""

    allowed: bool
    reason: str = ""
    """The name of an ErrorReason without its prefix; empty when allowed."""
    facts: dict[str, str] = field(default_factory=dict)
    """What the denial names, such as `term` or `dimension`."""


@dataclass(frozen=True, slots=True)
class EnvelopeVerdicts:
    """What the authority says now of what an envelope's ids stand for. Nothing was used up."""

    policy: ActionVerdict
    """Of what `policyReceiptId` names."""
    capability: ActionVerdict
    """Of what `capabilityId` names, to whoever signed."""
    receipt_id: str
    """Of the commit of what the capability was issued for, after which it allows nothing; else empty."""
