"""How the blocks of a chain hang together, for `grant_chains.json`."""

from collections.abc import Iterator
from typing import Any, Final

from capability_authority.offline import digest_of, sha256
from capability_authority.v1.statements_pb2 import SignedStatement
from capability_authority_conformance.golden.form import Test
from capability_authority_conformance.golden.grant_samples import (
    HOUR_MS,
    Change,
    child,
    principal,
    renewed,
    root,
    set_field,
    set_part,
    set_time,
    without,
)
from capability_authority_conformance.golden.grant_tests import accepted, exceeded, refused
from capability_authority_conformance.golden.samples import NOW_MS

__all__ = ["links", "terms"]

_END_MS: Final = NOW_MS + HOUR_MS
_DEEPEST: Final = 8


def terms() -> list[Test]:
    """What stays the same from block to block, what grows and what shrinks."""
    parent = root()
    return [
        accepted(
            "expiry-equal", "as late as the parent", "Expiry", parent, child(parent, set_time("expire_time", _END_MS))
        ),
        accepted(
            "expiry-earlier",
            "a millisecond earlier",
            "Expiry",
            parent,
            child(parent, set_time("expire_time", _END_MS - 1)),
        ),
        exceeded(
            "expiry-later",
            "a millisecond later",
            "Expiry",
            "expire_time",
            parent,
            child(parent, set_time("expire_time", _END_MS + 1)),
        ),
        accepted(
            "begin-later",
            "a millisecond later",
            "Expiry",
            parent,
            child(parent, set_time("not_before_time", NOW_MS + 1)),
        ),
        exceeded(
            "begin-earlier",
            "a millisecond earlier",
            "Expiry",
            "not_before_time",
            parent,
            child(parent, set_time("not_before_time", NOW_MS - 1)),
        ),
        *_depths(),
        *_identities(parent),
    ]


def _depths() -> Iterator[Test]:
    parent = root(set_field("delegation_depth", _DEEPEST))
    yield accepted("depth-less", "by more than one", "Depth", parent, child(parent, set_field("delegation_depth", 0)))
    yield exceeded(
        "depth-equal",
        "as much as the parent",
        "Depth",
        "delegation_depth",
        parent,
        child(parent, set_field("delegation_depth", _DEEPEST)),
    )
    last = root(set_field("delegation_depth", 0))
    yield exceeded("depth-spent", "a child of a parent with none left", "Depth", "delegation_depth", last, child(last))
    chain = [parent]
    while len(chain) <= _DEEPEST:
        chain.append(child(chain[-1]))
    yield accepted("depth-eight", "eight generations below the root", "Depth", *chain)
    yield refused("depth-nine", "nine", "Depth", "grant_malformed", *chain, child(chain[-1]), field="chain")
    yield refused(
        "depth-beyond",
        "a root that allows nine",
        "Depth",
        "grant_malformed",
        root(set_field("delegation_depth", 9)),
        field="delegation_depth",
    )


def _identities(parent: SignedStatement) -> Iterator[Test]:
    changes: tuple[tuple[str, str, str, Change], ...] = (
        ("tenant", "another tenant", "tenant", set_part("tenant", "id", "other")),
        (
            "tenant-namespace",
            "the same id in another namespace",
            "tenant",
            set_part("tenant", "namespace", "comms-tenant"),
        ),
        ("subject", "another subject", "subject", set_part("subject", "id", "other")),
        ("subject-holder", "the holder as its subject", "subject", lambda it: it.subject.CopyFrom(it.holder)),
        ("policy-version", "another policy version", "policy_version", set_field("policy_version", sha256(b"other"))),
        ("delegated-by", "derived by somebody else", "delegated_by", set_part("delegated_by", "id", "other")),
        ("actors-none", "no actors", "actor_chain", without("actor_chain")),
        ("actors-other", "another actor", "actor_chain", lambda it: setattr(it.actor_chain[0], "id", "other")),
        ("actors-twice", "the same twice", "actor_chain", lambda it: it.actor_chain.append(it.actor_chain[0])),
        ("actors-and-holder", "its holder too", "actor_chain", lambda it: it.actor_chain.append(it.holder)),
    )
    for name, comment, field, change in changes:
        yield exceeded(f"identity-{name}", comment, "Identity", field, parent, child(parent, change))
    yield accepted(
        "identity-correlation",
        "another correlation id",
        "Identity",
        parent,
        child(parent, set_field("correlation_id", "run-4712")),
    )
    second = child(parent)
    third = child(second, lambda it: it.actor_chain.__delitem__(0))
    yield exceeded(
        "identity-first-actor-lost", "the root's holder is left out", "Identity", "actor_chain", parent, second, third
    )
    turned = child(second, lambda it: _turn(it.actor_chain))
    yield exceeded(
        "identity-actors-turned", "the actors in another order", "Identity", "actor_chain", parent, second, turned
    )


def _turn(actors: Any) -> None:  # noqa: ANN401 - a repeated field
    first = actors.pop(0)
    actors.append(first)


def links() -> list[Test]:
    """Blocks that do not belong where they are."""
    parent, other = root(), root(set_field("nonce", bytes([1]) * 16))
    second = child(parent)
    third = child(second)
    return [
        refused("no-chain", "no blocks", "Links", "grant_malformed", field="chain"),
        exceeded("truncated", "the root is missing", "Links", "parent_digest", child(parent, renewed, key="grant")),
        refused(
            "truncated-offline", "the root is missing", "Links", "key_purpose_mismatch", child(parent, key="holder")
        ),
        exceeded("other-parent", "under a twin of its parent", "Links", "parent_digest", other, second),
        exceeded("twice", "a root under itself", "Links", "actor_chain", parent, parent),
        exceeded(
            "child-twice",
            "a child the authority made, under itself",
            "Links",
            "actor_chain",
            parent,
            *[child(parent, renewed, key="grant")] * 2,
        ),
        refused("left-out", "the block between is missing", "Links", "signature_invalid", parent, third),
        refused("reordered", "the grandchild before the child", "Links", "signature_invalid", parent, third, second),
        exceeded(
            "root-behind",
            "the root behind its child",
            "Links",
            "parent_digest",
            child(parent, renewed, key="grant"),
            parent,
        ),
        exceeded(
            "parent-digest-other",
            "names another parent",
            "Links",
            "parent_digest",
            parent,
            child(parent, set_field("parent_digest", digest_of(other))),
        ),
        exceeded(
            "parent-digest-empty",
            "names no parent",
            "Links",
            "parent_digest",
            parent,
            child(parent, without("parent_digest")),
        ),
        exceeded(
            "parent-digest-payload",
            "names the payload, not the statement",
            "Links",
            "parent_digest",
            parent,
            child(parent, set_field("parent_digest", sha256(parent.payload))),
        ),
        exceeded(
            "root-with-parent",
            "a root that names a parent",
            "Root",
            "parent_digest",
            root(set_field("parent_digest", digest_of(other))),
        ),
        exceeded(
            "root-with-actors",
            "a root with an actor before it",
            "Root",
            "actor_chain",
            root(lambda it: it.actor_chain.append(principal("agent"))),
        ),
        refused(
            "root-by-a-holder",
            "a root that says somebody derived it, and so names no issuer",
            "Root",
            "issuer_mismatch",
            root(lambda it: it.delegated_by.CopyFrom(it.holder), without("issuer"), key="grant"),
        ),
    ]
