"""A good root, and a good child of it that says the same again; tests change one thing at a time."""

from dataclasses import fields, replace
from hashlib import sha256
from typing import Any

from authority.domain.grant import Grant, OpenedGrant
from authority.domain.references import DAY, Instant, PrincipalRef, TenantRef, after
from authority.domain.statement import Statement

NOW = Instant(1_800_000_000_000)
ISSUER = "issuer"
TENANT = TenantRef("cognitum-tenant", "acme")

ROOT = Grant(
    issuer=ISSUER,
    delegated_by=None,
    tenant=TENANT,
    subject=PrincipalRef("users", "mira"),
    actor_chain=(),
    holder=PrincipalRef("workload", "orchestrator"),
    holder_key=b"\x01" * 32,
    audiences=("memory", "search"),
    actions=("memory.propose", "memory.recall"),
    resources=("docs/*",),
    read_memory_namespaces=("team/*", "notes"),
    write_memory_namespaces=("team/build",),
    tools=("search",),
    providers=("local",),
    models=("small/*",),
    usd_micros=1_000,
    tokens=2_000,
    latency_ms=3_000,
    concurrency=4,
    uses=5,
    network=True,
    destructive=True,
    not_before_time=NOW,
    expire_time=after(NOW, DAY),
    delegation_depth=3,
    policy_version=b"\x07" * 32,
    parent_digest=b"",
    correlation_id="",
    nonce=b"\x08" * 16,
    holder_public_key=b"",
)

LIMITED = tuple(
    each.name
    for each in fields(Grant)
    if each.name not in {"issuer", "holder", "holder_key", "correlation_id", "nonce", "holder_public_key"}
)
"""Every field of a child that its parent has a say in."""


def digest_of(terms: Grant) -> bytes:
    """A digest of its own for every grant that says something else."""
    return sha256(repr(terms).encode()).digest()


def opened(terms: Grant) -> OpenedGrant:
    """The grant as it was read, of a payload of some size."""
    return OpenedGrant(Statement("type", b"payload", "key", b""), digest_of(terms), terms)


def child_of(parent: Grant, **changes: Any) -> Grant:
    """The widest grant that may be derived, by the authority, with these terms changed."""
    widest = replace(
        parent,
        holder=PrincipalRef("agents", f"a{len(parent.actor_chain)}"),
        actor_chain=(*parent.actor_chain, parent.holder),
        delegation_depth=parent.delegation_depth - 1,
        parent_digest=digest_of(parent),
    )
    return replace(widest, **changes)


def chain_of(*grants: Grant) -> tuple[OpenedGrant, ...]:
    """The grants as a chain, whatever they say of each other."""
    return tuple(map(opened, grants))
