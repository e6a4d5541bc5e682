"""Handing a grant on without a server, ever narrower (semantics §6).

child = delegate(parent, my_key, holder=agent, bound_to=agent_key, nonce=os.urandom(16),
                 narrower=Narrower(actions=["memory.propose"], uses=3, expire_ms=in_an_hour))
"""

from collections.abc import Iterable
from dataclasses import dataclass

from capability_authority.offline.digests import DIGEST_BYTES, to_wire
from capability_authority.offline.errors import GrantExceeded, GrantMalformed, SignatureInvalid
from capability_authority.offline.instants import timestamp
from capability_authority.offline.keys import PrivateKey, PublicKey
from capability_authority.offline.narrowing import (
    AMOUNTS,
    EXACT,
    FLAGS,
    SELECTORS,
    require_narrower,
    require_shape,
)
from capability_authority.offline.statements import digest_of, read_payload, sign
from capability_authority.v1.statements_pb2 import Grant, GrantedAmount, GrantedFlag, GrantedNames, SignedStatement
from capability_authority.v1.types_pb2 import PrincipalRef

__all__ = ["Narrower", "delegate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrower:
    """What a child says in place of what its parent says. None: the same as the parent, said again.

    An empty list, 0 and False deny. Lists name selectors, `prefix/*` or exact, but audiences and actions, which are
    exact. Times are in milliseconds since 1970.
    """

    audiences: Iterable[str] | None = None
    actions: Iterable[str] | None = None
    resources: Iterable[str] | None = None
    read_memory_namespaces: Iterable[str] | None = None
    write_memory_namespaces: Iterable[str] | None = None
    tools: Iterable[str] | None = None
    providers: Iterable[str] | None = None
    models: Iterable[str] | None = None
    usd_micros: int | None = None
    tokens: int | None = None
    latency_ms: int | None = None
    concurrency: int | None = None
    uses: int | None = None
    network: bool | None = None
    destructive: bool | None = None
    not_before_ms: int | None = None
    expire_ms: int | None = None
    delegation_depth: int | None = None
    """How many generations may be derived from the child; None: one less than from the parent."""
    correlation_id: str | None = None


def delegate(
    parent: SignedStatement,
    holder_key: PrivateKey,
    *,
    holder: PrincipalRef,
    bound_to: PublicKey | bytes,
    nonce: bytes,
    narrower: Narrower = Narrower(),
) -> SignedStatement:
    """A child of the grant for another holder, signed by the parent's: no server is asked, and none need know of it.

    `holder_key` is the private key that the parent binds. `bound_to` is what the new holder presents the child with:
    its public key; or the digest of another credential, 32 bytes, with which it hands nothing on offline. `nonce` is 16
    random bytes. Whether the parent itself is good is not judged: `verify_grant_chain` does.

    Raises `GrantExceeded` for a child that would be wider, naming the `dimension`; `GrantMalformed`; `SignatureInvalid`
    when the key is not the parent's; `PayloadTypeMismatch` and `PayloadRefused` when the parent is no grant.
    """
    above = read_payload(parent.payload_type, parent.payload, Grant)
    if holder_key.public_key.thumbprint != above.holder_key or holder_key.public_key.raw != above.holder_public_key:
        raise SignatureInvalid(
            expected=f"the holder key of the parent, {to_wire(above.holder_key)}",
            presented=holder_key.public_key.key_id,
        )
    child = _child_of(above, narrower)
    child.delegated_by.CopyFrom(above.holder)
    child.actor_chain.append(above.holder)
    child.holder.CopyFrom(holder)
    child.holder_key, child.holder_public_key = _credential(bound_to)
    child.parent_digest = digest_of(parent)
    child.nonce = nonce
    require_shape(child)
    require_narrower(above, child.parent_digest, child)
    return sign(child, holder_key)


def _child_of(parent: Grant, narrower: Narrower) -> Grant:
    """All dimensions, said again or narrower; who is who is filled in by the caller."""
    child = Grant()
    child.CopyFrom(parent)
    child.issuer = ""
    for name in (*EXACT, *SELECTORS):
        names = getattr(narrower, name)
        getattr(child, name).CopyFrom(GrantedNames(names=getattr(parent, name).names if names is None else names))
    for name in AMOUNTS:
        most = getattr(narrower, name)
        getattr(child, name).CopyFrom(GrantedAmount(most=getattr(parent, name).most if most is None else most))
    for name in FLAGS:
        flag = getattr(narrower, name)
        getattr(child, name).CopyFrom(GrantedFlag(allowed=getattr(parent, name).allowed if flag is None else flag))
    if narrower.not_before_ms is not None:
        child.not_before_time.CopyFrom(timestamp(narrower.not_before_ms))
    if narrower.expire_ms is not None:
        child.expire_time.CopyFrom(timestamp(narrower.expire_ms))
    child.delegation_depth = _depth(parent, narrower.delegation_depth)
    if narrower.correlation_id is not None:
        child.correlation_id = narrower.correlation_id
    return child


def _depth(parent: Grant, wanted: int | None) -> int:
    if not parent.delegation_depth:
        raise GrantExceeded("delegation_depth", expected="a parent from which may be derived", presented="depth 0")
    if wanted is None:
        return parent.delegation_depth - 1
    if wanted < 0:
        raise GrantMalformed("delegation_depth", expected="a depth of 0 or more", presented=str(wanted))
    return wanted


def _credential(bound_to: PublicKey | bytes) -> tuple[bytes, bytes]:
    """The digest that names it, and the raw key when it can sign."""
    if isinstance(bound_to, PublicKey):
        return bound_to.thumbprint, bound_to.raw
    if len(bound_to) != DIGEST_BYTES:
        raise GrantMalformed("holder_key", expected=f"a digest of {DIGEST_BYTES} bytes", presented=f"{len(bound_to)}")
    return bound_to, b""
