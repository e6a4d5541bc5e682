"""`key_states.json`: statements under key sets: whose signature counts, for what, and until when (semantics §3)."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from capability_authority.offline import sign
from capability_authority.v1.statements_pb2 import SignedStatement
from capability_authority_conformance.golden.attestations import attestations
from capability_authority_conformance.golden.form import Flag, Group, Test, VectorFile
from capability_authority_conformance.golden.key_sets import ISSUER_KEYS, key_record
from capability_authority_conformance.golden.key_tests import key_group, key_test
from capability_authority_conformance.golden.published_keys import published_key
from capability_authority_conformance.golden.samples import NOW_MS, SAMPLES, TENANT, Sample

__all__ = ["key_states"]

_FLAGS: Final = (
    Flag("Counts", "BASIC", "Active and retiring keys verify what they signed.", "Nothing verifies."),
    Flag(
        "Revoked",
        "REPLAY",
        "Nothing that a revoked or compromised key signed verifies, whenever it was signed (case E09).",
        "Whoever stole a key goes on using it.",
    ),
    Flag(
        "UnknownState",
        "AMBIGUITY",
        "A state that this version does not know counts for nothing.",
        "A later version's withdrawal is overlooked.",
    ),
    Flag(
        "Purpose",
        "CONFUSION",
        "A key signs what its purpose says and nothing else (semantics §3).",
        "A key that may sign one thing signs everything.",
    ),
    Flag(
        "Scope",
        "ESCALATION",
        "A key of one tenant, or one memory namespace, signs for no other.",
        "A key of one tenant makes statements for another.",
    ),
    Flag(
        "Stranger", "FORGERY", "A key that is not in the set, or an issuer that is not the pinned one.", "Anyone signs."
    ),
    Flag(
        "Attestation",
        "FORGERY",
        "A current receipt key vouches for exactly one statement and signature of a revoked one.",
        "A vouched-for receipt lends its credit to another.",
    ),
    Flag("Content", "CONFUSION", "A receipt is for exactly one content.", "Other content passes for committed."),
)

_KINDS: Final = tuple(name for name, sample in SAMPLES.items() if sample.key and name != "derived-grant")
_NAMING_MEMORY: Final = ("validation-receipt", "decision-receipt", "commit-capability", "commit-receipt")
"""Kinds that name exactly one memory namespace."""
_TENANT: Final = (TENANT.namespace, TENANT.id)


def key_states() -> VectorFile:
    """The file."""
    return VectorFile(
        "key_states",
        "Statements to be verified under the key set of their group, whose issuer is pinned.",
        _FLAGS,
        tuple(_groups()),
    )


def _groups() -> Iterator[Group]:
    yield _all_kinds("active", "Keys that sign", "Counts", None, state="active")
    yield _all_kinds("retiring", "Keys that sign nothing new", "Counts", None, state="retiring")
    yield _all_kinds("revoked", "Keys that were revoked", "Revoked", "key_revoked", state="revoked")
    yield _all_kinds(
        "compromised-later",
        "Keys that were compromised after they had signed: when is the signer's own word",
        "Revoked",
        "key_revoked",
        state="revoked",
        compromised_since_ms=NOW_MS + 3_600_000,
    )
    yield _all_kinds(
        "compromised-yet-active",
        "Keys that are compromised, whatever state is told of them",
        "Revoked",
        "key_revoked",
        state="active",
        compromised_since_ms=NOW_MS,
    )
    yield _all_kinds("state-unspecified", "Keys of no state", "UnknownState", "key_revoked", state="unspecified")
    yield _all_kinds("state-unknown", "Keys of an unheard state", "UnknownState", "key_revoked", state="unknown")
    yield from _purposes()
    yield from _scopes()
    yield _strangers()
    yield from attestations()


def _all_kinds(name: str, about: str, flag: str, reason: str | None, **changes: Any) -> Group:  # noqa: ANN401 - of key_record
    records = [key_record(key, **changes) for key in ISSUER_KEYS]
    return key_group(about, records, [_of(f"{name}-{kind}", kind, flag, reason) for kind in _KINDS])


def _purposes() -> Iterator[Group]:
    """Each kind is signed by its own key, whose purpose is told as another."""
    others = (
        "capability",
        "grant",
        "receipt",
        "validation",
        "decision",
        "revocation",
        "holder",
        "unspecified",
        "unknown",
    )
    for purpose in others:
        records = [key_record(name, purpose=purpose) for name in ISSUER_KEYS]
        kinds = [
            kind
            for kind in ("commit-capability", "commit-receipt", "grant", "invocation")
            if _purpose_of(kind) != purpose
        ]
        yield key_group(
            f"Keys of the purpose {purpose}",
            records,
            [_of(f"purpose-{purpose}-{kind}", kind, "Purpose", "key_purpose_mismatch") for kind in kinds],
        )


def _purpose_of(kind: str) -> str:
    return ISSUER_KEYS[str(SAMPLES[kind].key)]


def _scopes() -> Iterator[Group]:
    scopes: tuple[tuple[str, str, dict[str, Any], Callable[[str], bool]], ...] = (
        ("tenant", "Keys of this tenant alone", {"tenant": _TENANT}, lambda _: True),
        ("other-tenant", "Keys of another tenant", {"tenant": (TENANT.namespace, "other")}, lambda _: False),
        (
            "same-id",
            "Keys of a tenant of the same id in another namespace",
            {"tenant": ("other", TENANT.id)},
            lambda _: False,
        ),
        (
            "turned",
            "Keys of a tenant whose namespace and id are exchanged",
            {"tenant": (TENANT.id, TENANT.namespace)},
            lambda _: False,
        ),
        (
            "memory",
            "Keys of this memory namespace alone: they sign no grant, which can name several",
            {"memory_namespace": "team/build"},
            lambda kind: kind != "grant",
        ),
        ("other-memory", "Keys of another memory namespace", {"memory_namespace": "team"}, _names_no_memory),
        (
            "memory-case",
            "Keys of a memory namespace that differs in case",
            {"memory_namespace": "Team/build"},
            _names_no_memory,
        ),
    )
    for name, about, scope, covers in scopes:
        records = [key_record(key, **scope) for key in ISSUER_KEYS]
        tests = [
            _of(f"{name}-{kind}", kind, "Scope", None if covers(kind) else "key_scope_mismatch")
            for kind in ("commit-capability", "commit-receipt", "validation-receipt", "grant", "revocation")
        ]
        yield key_group(about, records, tests)


def _names_no_memory(kind: str) -> bool:
    return kind not in (*_NAMING_MEMORY, "grant")


def _strangers() -> Group:
    def foreign(kind: str) -> SignedStatement:
        """By our key, in the name of another issuer."""
        message = type(SAMPLES[kind].message)()
        message.CopyFrom(SAMPLES[kind].message)
        message.issuer = "authority.elsewhere"  # type: ignore[attr-defined]  # asked of kinds that have one
        return Sample(message, SAMPLES[kind].key).statement()

    tests = [
        key_test(f"issuer-{kind}", "in the name of another issuer", "Stranger", foreign(kind), "issuer_mismatch")
        for kind in ("commit-capability", "commit-receipt", "grant", "revocation")
    ]
    tests += [
        key_test(
            f"stranger-{kind}",
            "by a key that is not in the set",
            "Stranger",
            sign(SAMPLES[kind].message, published_key("stranger")),
            "key_unknown",
        )
        for kind in ("commit-capability", "grant", "key-attestation")
    ]
    tests += [
        key_test(
            f"wrong-key-{kind}",
            "by a key of the set that is for something else",
            "Purpose",
            sign(SAMPLES[kind].message, published_key(key)),
            "key_purpose_mismatch",
        )
        for kind, key in (
            ("commit-capability", "grant"),
            ("grant", "capability"),
            ("derived-grant", "holder"),
            ("commit-receipt", "holder"),
            ("invocation", "receipt"),
        )
    ]
    return key_group("Others than who may sign", [key_record(name) for name in ISSUER_KEYS], tests)


def _of(name: str, kind: str, flag: str, reason: str | None) -> Test:
    return key_test(name, f"a {kind.replace('-', ' ')}", flag, SAMPLES[kind].statement(), reason)
