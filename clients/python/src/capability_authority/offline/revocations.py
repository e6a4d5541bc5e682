"""What was withdrawn, as far as the feed of a tenant has told: for those who verify without asking (semantics §3).

A feed alone is no proof of absence. What makes it one is that every item names the one before it, and that a signed
heartbeat says how far the feed went at a time: so nothing can be left out, and whoever verifies says how old the last
heartbeat may be.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from google.protobuf.message import Message

from capability_authority.offline.digests import to_wire
from capability_authority.offline.errors import FeedBroken, FeedStale, Withdrawn
from capability_authority.offline.instants import instant_ms
from capability_authority.v1.statements_pb2 import (
    REVOKED_KIND_APPROVAL,
    REVOKED_KIND_CAPABILITY,
    REVOKED_KIND_GRANT,
    REVOKED_KIND_ISSUER_KEY,
    REVOKED_KIND_PRINCIPAL,
    REVOKED_KIND_PRINCIPAL_KEY,
    REVOKED_KIND_RECORD,
    CommitCapability,
    CommitReceipt,
    DecisionReceipt,
    Grant,
    Revocation,
    RevocationHeartbeat,
    RevokedKind,
)
from capability_authority.v1.types_pb2 import PrincipalRef, TenantRef

__all__ = ["RevocationState", "RevocationView"]

_Named: TypeAlias = "tuple[RevokedKind.ValueType, str]"


@dataclass(slots=True)
class RevocationState:
    """What was taken in, in order and without gaps. Verify what is given to it first; `RevocationFeed` does."""

    tenant: TenantRef
    sequence: int = 0
    """Of the last item; what a watch goes on after."""
    as_of_ms: int | None = None
    """Everything that was acknowledged before is in here; None before the first heartbeat."""
    revoked: dict[_Named, Revocation] = field(default_factory=dict)

    def take(self, item: Revocation) -> None:
        """The next item. Raises `FeedBroken` unless it follows the last one."""
        self._require_tenant(item.tenant)
        if item.previous_sequence != self.sequence or item.sequence <= self.sequence:
            raise FeedBroken(
                expected=f"the item after {self.sequence}",
                presented=f"item {item.sequence}, which follows {item.previous_sequence}",
            )
        self.revoked[item.kind, item.subject] = item
        self.sequence = item.sequence

    def hear(self, heartbeat: RevocationHeartbeat) -> None:
        """A heartbeat. Raises `FeedBroken` when the feed goes further than what was told, or not as far.

        One that is older than another that was heard changes nothing: replicas' clocks differ.
        """
        self._require_tenant(heartbeat.tenant)
        if heartbeat.sequence != self.sequence:
            raise FeedBroken(
                expected=f"a heartbeat at {self.sequence}",
                presented=f"one that says the feed goes to {heartbeat.sequence}",
            )
        self.as_of_ms = max(self.as_of_ms or 0, instant_ms(heartbeat.as_of_time))

    def _require_tenant(self, tenant: TenantRef) -> None:
        if (tenant.namespace, tenant.id) != (self.tenant.namespace, self.tenant.id):
            raise FeedBroken(expected=_name_of(self.tenant), presented=_name_of(tenant))


class RevocationView:
    """What may be believed of a feed at one moment: make one for each verification."""

    def __init__(self, state: RevocationState, *, now_ms: int, maximum_age_ms: int) -> None:
        """Raises `FeedStale` when no heartbeat is as young as `maximum_age_ms`."""
        age_ms = None if state.as_of_ms is None else now_ms - state.as_of_ms
        if age_ms is None or age_ms > maximum_age_ms:
            heard = "no heartbeat yet" if age_ms is None else f"one that is {age_ms} ms old"
            raise FeedStale(expected=f"a heartbeat that is at most {maximum_age_ms} ms old", presented=heard)
        self._state = state

    def revokes_key(self, key_id: str) -> bool:
        """Whether a key of the authority was withdrawn."""
        return (REVOKED_KIND_ISSUER_KEY, key_id) in self._state.revoked

    def require_standing(self, message: Message, *, digest: bytes = b"") -> None:
        """Raises `Withdrawn` when something that the payload rests on was withdrawn, `FeedBroken` for another tenant.

        `digest` is the statement digest, by which a grant is withdrawn. Nothing is known to withdraw of other payloads
        than capabilities, decisions, receipts and grants.
        """
        self._require_tenant(message)
        for kind, subject in (*_rests_on(message), (REVOKED_KIND_GRANT, to_wire(digest) if digest else "")):
            if found := self._state.revoked.get((kind, subject)):
                raise Withdrawn(
                    expected=f"{RevokedKind.Name(kind).removeprefix('REVOKED_KIND_').lower()} {subject} to stand",
                    presented=f"item {found.sequence} of the feed, which withdraws it",
                )

    def _require_tenant(self, message: Message) -> None:
        tenant = message.capability.tenant if isinstance(message, CommitReceipt) else getattr(message, "tenant", None)
        if isinstance(tenant, TenantRef) and _name_of(tenant) != _name_of(self._state.tenant):
            raise FeedBroken(expected=f"the feed of {_name_of(tenant)}", presented=_name_of(self._state.tenant))


def _rests_on(message: Message) -> Iterator[_Named]:
    match message:
        case CommitCapability():
            yield REVOKED_KIND_CAPABILITY, message.capability_id
            yield REVOKED_KIND_PRINCIPAL, _ref_of(message.holder)
            yield REVOKED_KIND_PRINCIPAL_KEY, to_wire(message.holder_key)
            yield REVOKED_KIND_APPROVAL, message.approval_reference
            if message.grant_digest:
                yield REVOKED_KIND_GRANT, to_wire(message.grant_digest)
        case Grant():
            for principal in (message.subject, message.holder, *message.actor_chain):
                yield REVOKED_KIND_PRINCIPAL, _ref_of(principal)
            yield REVOKED_KIND_PRINCIPAL_KEY, to_wire(message.holder_key)
            if message.parent_digest:
                yield REVOKED_KIND_GRANT, to_wire(message.parent_digest)
        case DecisionReceipt():
            yield REVOKED_KIND_PRINCIPAL, _ref_of(message.holder)
            for reference in message.approval_references:
                yield REVOKED_KIND_APPROVAL, reference
        case CommitReceipt():
            yield REVOKED_KIND_RECORD, message.record_id


def _ref_of(principal: PrincipalRef) -> str:
    return f"{principal.namespace}|{principal.id}"


def _name_of(tenant: TenantRef) -> str:
    return f"tenant {tenant.namespace!r} {tenant.id!r}"
