"""Registered principals and who is calling."""

from dataclasses import dataclass
from enum import Enum
from functools import cache

from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal


class PrincipalKind(Enum):
    """What a principal is; decides its provenance and what it may ever be allowed (semantics §2)."""

    USER = "user"
    SERVICE = "service"
    AGENT = "agent"
    MODEL = "model"
    TOOL = "tool"
    OBSERVER = "observer"
    VALIDATOR = "validator"
    ADMIN = "admin"


class Right(Enum):
    """What an operator lets a principal do; `authority principals add` sets them."""

    PROPOSE = "propose"
    READ = "read"
    DECIDE = "decide"
    ISSUE = "issue"
    COMMIT = "commit"


RIGHTS_BY_KIND: dict[PrincipalKind, frozenset[Right]] = {
    PrincipalKind.USER: frozenset({Right.PROPOSE, Right.READ, Right.DECIDE}),
    PrincipalKind.SERVICE: frozenset({Right.PROPOSE, Right.READ, Right.ISSUE, Right.COMMIT}),
    PrincipalKind.AGENT: frozenset({Right.PROPOSE, Right.READ}),
    PrincipalKind.MODEL: frozenset({Right.PROPOSE, Right.READ}),
    PrincipalKind.TOOL: frozenset({Right.PROPOSE}),
    PrincipalKind.OBSERVER: frozenset({Right.PROPOSE}),
    PrincipalKind.VALIDATOR: frozenset(),
    PrincipalKind.ADMIN: frozenset({Right.READ, Right.DECIDE, Right.ISSUE}),
}
"""What a new principal of each kind may do unless the operator says otherwise."""

HOLDER_KINDS = frozenset({PrincipalKind.SERVICE, PrincipalKind.USER})
"""Who may hold a commit capability: agents and models never (semantics §4, ADR-328 test 7)."""

DECIDER_KINDS = frozenset({PrincipalKind.USER, PrincipalKind.ADMIN})
"""Who may approve: persons, never policy or a delegate (semantics §7)."""

_NEVER_ISSUE = frozenset({PrincipalKind.AGENT, PrincipalKind.MODEL})


@dataclass(frozen=True, slots=True)
class Principal:
    """A registered principal of one tenant."""

    tenant: TenantRef
    ref: PrincipalRef
    kind: PrincipalKind
    rights: frozenset[Right]

    def may(self, right: Right) -> bool:
        """Whether the operator gave this right and the kind can have it at all."""
        return right in self.rights and right in possible_rights(self.kind)


@cache
def possible_rights(kind: PrincipalKind) -> frozenset[Right]:
    """The rights a principal of this kind can have, whatever the operator wrote."""
    return frozenset(right for right in Right if _possible(kind, right))


def _possible(kind: PrincipalKind, right: Right) -> bool:
    if right is Right.ISSUE:
        return kind not in _NEVER_ISSUE
    if right is Right.COMMIT:
        return kind in HOLDER_KINDS
    if right is Right.DECIDE:
        return kind in DECIDER_KINDS
    return True


@dataclass(frozen=True, slots=True)
class RegisteredKey:
    """An active proof key of an active principal, as the registry knows it; or what is shown instead of one."""

    principal: Principal
    key_id: str
    public_key: bytes
    """Empty for what signs nothing: a certificate, or the subject of a token."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What an Invocation says of the call it was made for, and whether it fits (semantics §2).

    `refusal` is PROOF_INVALID when the statement is well signed but for another RPC, audience or request, or stale:
    it is told only after the request's shape was judged, as the error table orders.
    """

    nonce: bytes
    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated principal, the key that it proved, and the proof of this call."""

    principal: Principal
    key_id: str
    """The id of what it proved: of a key, a certificate's credential, or a token's."""
    proof: Proof | None
    """None for whoever signs no calls: its connection or its token says who it is."""
    one_use: bool
    """True for reads by Invocation: their proof is remembered and works once."""
    has_bound_key: bool = True
    """False for a token's bearer: what is bound to a holder's key is not for it (HOLDER_MISMATCH)."""
    valid_until: Instant | None = None
    """When its certificate or token expires; streams end there, too."""

    @property
    def tenant(self) -> TenantRef:
        """The caller's tenant: the only one that a call can touch."""
        return self.principal.tenant

    @property
    def ref(self) -> PrincipalRef:
        """The caller inside its tenant."""
        return self.principal.ref


def still_valid(caller: Caller, now: Instant) -> Refusal | None:
    """CALLER_UNAUTHENTICATED once what the caller showed has expired."""
    is_over = caller.valid_until is not None and now >= caller.valid_until
    return Refusal(Reason.CALLER_UNAUTHENTICATED) if is_over else None


def require_admin(caller: Caller) -> Refusal | None:
    """NOT_ALLOWED unless the caller is an admin."""
    is_admin = caller.principal.kind is PrincipalKind.ADMIN
    return None if is_admin else Refusal(Reason.NOT_ALLOWED, {"kind": PrincipalKind.ADMIN.value})


def require_service(caller: Caller) -> Refusal | None:
    """NOT_ALLOWED unless the caller is a service."""
    is_service = caller.principal.kind is PrincipalKind.SERVICE
    return None if is_service else Refusal(Reason.NOT_ALLOWED, {"kind": PrincipalKind.SERVICE.value})


def require(caller: Caller, right: Right) -> Refusal | None:
    """NOT_ALLOWED unless the caller has the right."""
    return None if caller.principal.may(right) else Refusal(Reason.NOT_ALLOWED, {"right": right.value})
