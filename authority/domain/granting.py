"""What is granted when a grant is made, and whose business a grant is (semantics §6)."""

from dataclasses import dataclass, fields

from authority.domain.grant import Grant, principals_of
from authority.domain.grant_use import judge_holder
from authority.domain.identity import Caller, Principal, PrincipalKind, Right, possible_rights
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantDimensions:
    """The dimensions of a grant, as in `Grant`: None is absent, which denies at a root and is refused in a child."""

    audiences: tuple[str, ...] | None = None
    actions: tuple[str, ...] | None = None
    resources: tuple[str, ...] | None = None
    read_memory_namespaces: tuple[str, ...] | None = None
    write_memory_namespaces: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    providers: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    usd_micros: int | None = None
    tokens: int | None = None
    latency_ms: int | None = None
    concurrency: int | None = None
    uses: int | None = None
    network: bool | None = None
    destructive: bool | None = None
    delegation_depth: int = 0


@dataclass(frozen=True, slots=True)
class BoundHolder:
    """Who is to present a grant, by which credential; the raw key is empty for a credential that signs nothing."""

    holder: PrincipalRef
    key: bytes
    public_key: bytes


@dataclass(frozen=True, slots=True)
class Validity:
    """When a grant is valid: `[begin, end)`."""

    begin: Instant
    end: Instant


@dataclass(frozen=True, slots=True)
class Ground:
    """What a grant is derived from: a root's subject and policy, or the parent."""

    tenant: TenantRef
    subject: PrincipalRef
    policy_version: bytes
    actor_chain: tuple[PrincipalRef, ...] = ()
    parent_digest: bytes = b""


def ground_of_child(parent: Grant, digest: bytes) -> Ground:
    """Tenant, subject and policy stay; the parent's holder joins those who act."""
    return Ground(parent.tenant, parent.subject, parent.policy_version, (*parent.actor_chain, parent.holder), digest)


def grant_of(
    issuer: str,
    ground: Ground,
    bound: BoundHolder,
    dimensions: GrantDimensions,
    validity: Validity,
    correlation_id: str,
    nonce: bytes,
) -> Grant:
    """The terms of a grant that this authority, `issuer`, makes. Whether they hold is judged with the whole chain."""
    return Grant(
        issuer=issuer,
        delegated_by=None,
        tenant=ground.tenant,
        subject=ground.subject,
        actor_chain=ground.actor_chain,
        holder=bound.holder,
        holder_key=bound.key,
        not_before_time=validity.begin,
        expire_time=validity.end,
        policy_version=ground.policy_version,
        parent_digest=ground.parent_digest,
        correlation_id=correlation_id,
        nonce=nonce,
        holder_public_key=bound.public_key,
        **{field.name: getattr(dimensions, field.name) for field in fields(dimensions)},
    )


def judge_presenter(caller: Caller, presented: Grant) -> Refusal | None:
    """HOLDER_MISMATCH unless the caller is the holder, and proved the credential that the grant binds."""
    key = bytes.fromhex(caller.key_id.removeprefix("sha256:")) if caller.has_bound_key else None
    return judge_holder(presented, caller.tenant, caller.ref, key)


def require_grantor(caller: Caller) -> Refusal | None:
    """NOT_ALLOWED unless the caller may make root grants: an admin, or whoever has the right `issue`."""
    return None if _may_grant(caller) else Refusal(Reason.NOT_ALLOWED, {"right": Right.ISSUE.value})


def is_business_of(caller: Caller, terms: Grant) -> bool:
    """Whether the caller may see and revoke the grant: a grantor, the subject, the holder of it or of an ancestor."""
    return caller.tenant == terms.tenant and (_may_grant(caller) or caller.ref in principals_of(terms))


def judge_issuing_for(subject: Principal, caller: Caller, holder: PrincipalRef) -> Refusal | None:
    """NOT_ALLOWED unless the caller may issue for the holder in the subject's name (case I09).

    Agents and models never issue. The subject has the right that it would need itself: `issue`, or `commit` when the
    capability is its own or its actor's.
    """
    if Right.ISSUE not in possible_rights(caller.principal.kind):
        return Refusal(Reason.NOT_ALLOWED, {"right": Right.ISSUE.value})
    for_itself = holder in (subject.ref, caller.ref)
    able = subject.may(Right.ISSUE) or (for_itself and subject.may(Right.COMMIT))
    return None if able else Refusal(Reason.NOT_ALLOWED, {"field": "grant", "problem": "its subject has no such right"})


def _may_grant(caller: Caller) -> bool:
    return caller.principal.kind is PrincipalKind.ADMIN or caller.principal.may(Right.ISSUE)
