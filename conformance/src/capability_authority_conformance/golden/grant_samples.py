"""Chains of grants to be spoiled: a root that says something in every dimension, and children that say it again."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from capability_authority.offline import digest_of, sha256, sign, timestamp
from capability_authority.v1 import statements_pb2 as statements
from capability_authority.v1.types_pb2 import PrincipalRef
from capability_authority_conformance.golden.published_keys import published_key
from capability_authority_conformance.golden.samples import AUDIENCE, ISSUER, NOW_MS, TENANT

__all__ = [
    "HOUR_MS",
    "Change",
    "child",
    "principal",
    "renewed",
    "root",
    "saying",
    "set_field",
    "set_part",
    "set_time",
    "without",
]

Change: TypeAlias = Callable[[Any], object]
"""Changes a Grant in place."""

HOUR_MS: Final = 3_600_000
_HOLDERS: Final = ("orchestrator", "agent", "tool")
"""Of the root, of its child and of its grandchild; then they take turns. Each signs with the key of its name."""


def principal(name: str) -> PrincipalRef:
    """A principal of the chain."""
    return PrincipalRef(namespace="workload", id=name)


def saying(name: str, value: object) -> Change:
    """Says something in a dimension: a list of names, an amount, or whether something is allowed."""

    def say(terms: Any) -> None:  # noqa: ANN401 - a name that the stubs know one by one
        dimension = getattr(terms, name)
        dimension.Clear()
        dimension.SetInParent()
        if isinstance(value, list):
            dimension.names.extend(value)
        elif isinstance(value, bool):
            dimension.allowed = value
        else:
            dimension.most = value

    return say


def without(*names: str) -> Change:
    """Says nothing in some dimensions."""
    return lambda terms: [terms.ClearField(name) for name in names]


def set_field(name: str, value: object) -> Change:
    """Says something in a field that is no dimension."""
    return lambda terms: setattr(terms, name, value)


def set_time(name: str, ms: int) -> Change:
    """Says another time, in milliseconds since 1970."""
    return lambda terms: getattr(terms, name).CopyFrom(timestamp(ms))


def set_part(name: str, part: str, text: str) -> Change:
    """Says another namespace or id of a tenant or principal."""
    return lambda terms: setattr(getattr(terms, name), part, text)


def root(*changes: Change, key: str = "grant") -> statements.SignedStatement:
    """The root, held by the orchestrator, changed in place before it is signed."""
    terms = _root_terms()
    for change in changes:
        change(terms)
    return sign(terms, published_key(key))


def child(parent: statements.SignedStatement, *changes: Change, key: str | None = None) -> statements.SignedStatement:
    """What the parent's holder derives offline: the same as the parent for the next holder, changed in place."""
    terms = _child_terms(parent)
    signer = key or _name(len(terms.actor_chain) - 1)
    for change in changes:
        change(terms)
    return sign(terms, published_key(signer))


def renewed(terms: Any) -> None:  # noqa: ANN401 - a Grant, changed in place
    """Says of a child that the authority made it in exchange for its parent."""
    terms.ClearField("delegated_by")
    terms.issuer = ISSUER


def _name(generation: int) -> str:
    return _HOLDERS[generation % len(_HOLDERS)]


def _root_terms() -> statements.Grant:
    terms = statements.Grant(
        issuer=ISSUER,
        tenant=TENANT,
        subject=PrincipalRef(namespace="cognitum-principal", id="mira"),
        holder=principal("orchestrator"),
        not_before_time=timestamp(NOW_MS),
        expire_time=timestamp(NOW_MS + HOUR_MS),
        delegation_depth=2,
        policy_version=sha256(b"policy"),
        correlation_id="run-4711",
        nonce=bytes(16),
    )
    for name, value in _DIMENSIONS.items():
        saying(name, value)(terms)
    _bind(terms, "orchestrator")
    return terms


_DIMENSIONS: Final[dict[str, object]] = {
    "audiences": [AUDIENCE, "search.example"],
    "actions": ["memory.propose", "memory.recall"],
    "resources": ["docs/*", "notes/a"],
    "read_memory_namespaces": ["team/*"],
    "write_memory_namespaces": ["team/build"],
    "tools": ["search", "files/*"],
    "providers": ["local"],
    "models": ["small/*"],
    "usd_micros": 1_000,
    "tokens": 2_000,
    "latency_ms": 3_000,
    "concurrency": 4,
    "uses": 5,
    "network": True,
    "destructive": True,
}


def _child_terms(parent: statements.SignedStatement) -> statements.Grant:
    above, terms = statements.Grant.FromString(parent.payload), statements.Grant()
    terms.CopyFrom(above)
    terms.issuer = ""
    terms.delegated_by.CopyFrom(above.holder)
    terms.actor_chain.append(above.holder)
    terms.delegation_depth = max(above.delegation_depth - 1, 0)
    terms.parent_digest = digest_of(parent)
    name = _name(len(terms.actor_chain))
    terms.holder.CopyFrom(principal(name))
    _bind(terms, name)
    return terms


def _bind(terms: statements.Grant, name: str) -> None:
    public_key = published_key(name).public_key
    terms.holder_key, terms.holder_public_key = public_key.thumbprint, public_key.raw
