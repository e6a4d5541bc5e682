"""What a grant may say below its parent, and what it may say at all (semantics §6).

The service has the same rule in its own words, for it keeps its rules apart from everything that reads bytes; tests
hold the two together.
"""

from collections.abc import Iterator
from typing import Any, Final

from capability_authority.offline.digests import DIGEST_BYTES, sha256
from capability_authority.offline.errors import GrantExceeded, GrantMalformed
from capability_authority.offline.instants import instant_ms
from capability_authority.offline.selectors import covers, is_id, is_selector
from capability_authority.v1.statements_pb2 import Grant
from capability_authority.v1.types_pb2 import PrincipalRef, TenantRef

__all__ = [
    "ACTIONS",
    "AMOUNTS",
    "EXACT",
    "FLAGS",
    "MAX_DEPTH_OF_DELEGATION",
    "SELECTORS",
    "exceeded_dimension",
    "malformed_field",
    "require_narrower",
    "require_shape",
]

ACTIONS: Final = frozenset(
    {
        "cognition.route",
        "cognition.critique",
        "memory.recall",
        "memory.propose",
        "evidence.read",
        "memory.commit-validated",
    }
)
"""The closed vocabulary: nothing can name a policy promotion, a deployment, IAM, billing or secrets."""
EXACT: Final = ("audiences", "actions")
"""Dimensions that list names."""
SELECTORS: Final = (
    "resources",
    "read_memory_namespaces",
    "write_memory_namespaces",
    "tools",
    "providers",
    "models",
)
"""Dimensions that list selectors."""
AMOUNTS: Final = ("usd_micros", "tokens", "latency_ms", "concurrency", "uses")
FLAGS: Final = ("network", "destructive")
MAX_DEPTH_OF_DELEGATION: Final = 8

_MAX_NAMES: Final = 64
_NONCE_BYTES: Final = 16
_LIFETIME_MS: Final = 30 * 24 * 60 * 60 * 1_000
_EARLIEST_MS: Final = 0
_LATEST_MS: Final = 253_402_300_799_999


def exceeded_dimension(parent: Grant, parent_digest: bytes, child: Grant) -> str | None:
    """The first dimension, in the order of the payload, in which the child is no proper child of this parent, or None.

    Equal is allowed, wider is not, and nothing is inherited: what is absent in a child exceeds (case I15). A dimension
    that is absent in the parent denies, so that a child can say no more of it than nothing.
    """
    return next(_exceeded(parent, parent_digest, child), None)


def malformed_field(grant: Grant) -> str | None:
    """The first field that says what no grant can say, whoever signed it, or None."""
    return next(_malformed(grant), None)


def require_shape(grant: Grant) -> None:
    """Raises `GrantMalformed` for what no grant can say."""
    if name := malformed_field(grant):
        raise GrantMalformed(name, expected=f"what a grant can say as {name}", presented="something else")


def require_narrower(parent: Grant, parent_digest: bytes, child: Grant) -> None:
    """Raises `GrantExceeded` for a child that is wider than this parent, or another's."""
    if dimension := exceeded_dimension(parent, parent_digest, child):
        raise GrantExceeded(
            dimension, expected=f"{dimension} as the parent has it, or narrower", presented="wider, another, or absent"
        )


def _exceeded(parent: Grant, parent_digest: bytes, child: Grant) -> Iterator[str]:
    if child.HasField("delegated_by") and child.delegated_by != parent.holder:
        yield "delegated_by"
    yield from (name for name in ("tenant", "subject") if getattr(child, name) != getattr(parent, name))
    if list(child.actor_chain) != [*parent.actor_chain, parent.holder]:
        yield "actor_chain"
    yield from _wider(parent, child)
    if instant_ms(child.not_before_time) < instant_ms(parent.not_before_time):
        yield "not_before_time"
    if instant_ms(child.expire_time) > instant_ms(parent.expire_time):
        yield "expire_time"
    if child.delegation_depth >= parent.delegation_depth:
        yield "delegation_depth"
    if child.policy_version != parent.policy_version:
        yield "policy_version"
    if child.parent_digest != parent_digest:
        yield "parent_digest"


def _wider(parent: Grant, child: Grant) -> Iterator[str]:
    """What an absent dimension of the parent holds is what denies: nobody, nothing, False."""
    for name in EXACT:
        if not (_has(child, name) and set(_names(child, name)) <= set(_names(parent, name))):
            yield name
    for name in SELECTORS:
        if not (_has(child, name) and all(covers(_names(parent, name), each) for each in _names(child, name))):
            yield name
    for name in AMOUNTS:
        if not (_has(child, name) and getattr(child, name).most <= getattr(parent, name).most):
            yield name
    for name in FLAGS:
        if not (_has(child, name) and getattr(child, name).allowed <= getattr(parent, name).allowed):
            yield name


def _malformed(grant: Grant) -> Iterator[str]:
    if grant.HasField("delegated_by") == bool(grant.issuer) or not (is_id(grant.issuer) or not grant.issuer):
        yield "issuer"
    if grant.HasField("delegated_by") and not _is_ref(grant.delegated_by):
        yield "delegated_by"
    yield from (name for name in ("tenant", "subject", "holder") if not _is_ref(getattr(grant, name)))
    if len(grant.actor_chain) > MAX_DEPTH_OF_DELEGATION or not all(map(_is_ref, grant.actor_chain)):
        yield "actor_chain"
    yield from _malformed_dimensions(grant)
    yield from _malformed_bytes(grant)
    yield from _malformed_times(grant)
    if grant.delegation_depth > MAX_DEPTH_OF_DELEGATION:
        yield "delegation_depth"
    if grant.correlation_id and not is_id(grant.correlation_id):
        yield "correlation_id"


def _malformed_dimensions(grant: Grant) -> Iterator[str]:
    for names, is_one in ((("audiences",), is_id), (("actions",), ACTIONS.__contains__), (SELECTORS, is_selector)):
        for name in names:
            listed = _names(grant, name)
            if len(listed) > _MAX_NAMES or len(set(listed)) != len(listed) or not all(map(is_one, listed)):
                yield name
    yield from (name for name in AMOUNTS if getattr(grant, name).most < 0)


def _malformed_bytes(grant: Grant) -> Iterator[str]:
    yield from (name for name in ("holder_key", "policy_version") if len(getattr(grant, name)) != DIGEST_BYTES)
    if len(grant.parent_digest) not in (0, DIGEST_BYTES):
        yield "parent_digest"
    if len(grant.nonce) != _NONCE_BYTES:
        yield "nonce"
    if grant.holder_public_key and sha256(grant.holder_public_key) != grant.holder_key:
        yield "holder_public_key"


def _malformed_times(grant: Grant) -> Iterator[str]:
    times = {name: getattr(grant, name) for name in ("not_before_time", "expire_time")}
    for name, time in times.items():
        if not _has(grant, name) or not _EARLIEST_MS <= instant_ms(time) <= _LATEST_MS:
            yield name
    if not 0 < instant_ms(grant.expire_time) - instant_ms(grant.not_before_time) <= _LIFETIME_MS:
        yield "expire_time"


def _is_ref(ref: PrincipalRef | TenantRef) -> bool:
    return is_id(ref.namespace) and is_id(ref.id)


def _has(grant: Any, name: str) -> bool:  # noqa: ANN401 - a name that the stubs know one by one
    present: bool = grant.HasField(name)
    return present


def _names(grant: Grant, name: str) -> list[str]:
    return list(getattr(grant, name).names)
