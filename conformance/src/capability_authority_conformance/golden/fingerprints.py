"""`fingerprints.json`: what makes two commits the same commit (semantics §4)."""

from collections.abc import Sequence
from typing import Any, Final

from capability_authority.offline import request_fingerprint, sha256, to_wire
from capability_authority.offline.fingerprint import FINGERPRINT_LABEL
from capability_authority.v1.statements_pb2 import CommitCapability
from capability_authority_conformance.golden.form import Flag, Group, Test, VectorFile
from capability_authority_conformance.golden.samples import SAMPLES

__all__ = ["fingerprints"]

_FLAGS: Final = (
    Flag("Ordinary", "BASIC", "Terms as a capability has them.", "No retry is ever answered from another language."),
    Flag("EdgeOfTerms", "EDGE_CASE", "Terms at the end of what they can be.", "Some retries are conflicts."),
    Flag(
        "Shifted",
        "CONFUSION",
        "Bytes moved between neighbours: without lengths, two requests have one fingerprint (case D11).",
        "A request is answered with another request's receipt.",
    ),
    Flag(
        "EvidenceOrder",
        "CONFUSION",
        "The order of evidence digests counts, and one that stands twice counts twice (case D10).",
        "Evidence is presented that was not bound.",
    ),
    Flag(
        "AnotherComputation",
        "CONFUSION",
        "What comes of a step that is left out or done otherwise.",
        "The first commit from another language is refused, or never replayed.",
    ),
    Flag(
        "DigestForm",
        "AMBIGUITY",
        "Digests go in as in wire form; one of another form has no fingerprint at all.",
        "One request has many fingerprints.",
    ),
)
_CAPABILITY: Final = SAMPLES["commit-capability"].message


def fingerprints() -> VectorFile:
    """The file."""
    return VectorFile(
        "fingerprints",
        "The terms of a request and its fingerprint. No two valid tests have the same fingerprint.",
        _FLAGS,
        (
            Group("The fingerprint of the terms", [_right(*row) for row in _variants()]),
            Group("Another fingerprint than that of the terms", _wrong()),
            Group("Terms that have none", _without()),
        ),
    )


def _usual() -> dict[str, Any]:
    """The terms of the sample capability."""
    assert isinstance(_CAPABILITY, CommitCapability)
    return {
        "tenant_namespace": _CAPABILITY.tenant.namespace,
        "tenant_id": _CAPABILITY.tenant.id,
        "memory_namespace": _CAPABILITY.memory_namespace,
        "holder_namespace": _CAPABILITY.holder.namespace,
        "holder_id": _CAPABILITY.holder.id,
        "audience": _CAPABILITY.audience,
        "proposal_id": _CAPABILITY.proposal_id,
        "proposal_revision": _CAPABILITY.proposal_revision,
        "proposal_digest": to_wire(_CAPABILITY.proposal_digest),
        "content_digest": to_wire(_CAPABILITY.content_digest),
        "media_type": _CAPABILITY.media_type,
        "evidence_digests": [to_wire(digest) for digest in _CAPABILITY.evidence_digests],
        "validator_profile": _CAPABILITY.validator_profile,
        "validator_profile_version": _CAPABILITY.validator_profile_version,
    }


def _variants() -> list[tuple[str, str, str, dict[str, Any]]]:
    first, second = _usual()["evidence_digests"]
    return [
        ("usual", "the terms of the commit capability in statements.json", "Ordinary", {}),
        ("no-evidence", "count 0, no digests", "EdgeOfTerms", {"evidence_digests": []}),
        (
            "evidence-reordered",
            "another order is another request",
            "EvidenceOrder",
            {"evidence_digests": [second, first]},
        ),
        ("evidence-twice", "the same digest twice counts twice", "EvidenceOrder", {"evidence_digests": [first, first]}),
        ("shifted-tenant-left", '("ab", "c")', "Shifted", {"tenant_namespace": "ab", "tenant_id": "c"}),
        ("shifted-tenant-right", '("a", "bc")', "Shifted", {"tenant_namespace": "a", "tenant_id": "bc"}),
        ("shifted-revision-left", '("x", 12)', "Shifted", {"proposal_id": "x", "proposal_revision": 12}),
        ("shifted-revision-right", '("x1", 2)', "Shifted", {"proposal_id": "x1", "proposal_revision": 2}),
        (
            "swapped-namespaces",
            "tenant and holder namespace exchanged",
            "Shifted",
            {"tenant_namespace": "workload", "holder_namespace": "cognitum-tenant"},
        ),
        ("text", "another media type", "Ordinary", {"media_type": "text/plain"}),
        ("largest-revision", "2^31 - 1", "EdgeOfTerms", {"proposal_revision": 2**31 - 1}),
        (
            "not-ascii",
            "lengths count bytes of UTF-8, not characters",
            "EdgeOfTerms",
            {"memory_namespace": "\u00e9quipe/\U0001f600"},
        ),
    ]


def _right(name: str, comment: str, flag: str, changed: dict[str, Any]) -> Test:
    terms = _usual() | changed
    return Test(name, comment, (flag,), {"terms": terms, "fingerprint": to_wire(request_fingerprint(**terms))})


def _wrong() -> list[Test]:
    usual = _usual()
    first, second = usual["evidence_digests"]
    shift = usual | {"tenant_namespace": usual["tenant_namespace"] + "a", "tenant_id": usual["tenant_id"][1:]}
    beyond_ascii = usual | {"memory_namespace": "\u00e9quipe"}
    parts, raw = _parts(usual), _parts(usual, raw_digests=True)
    computed = (
        ("no-lengths", "the parts one behind the other (D11)", sha256(b"".join(parts))),
        ("separated", "the parts with | between them (D11)", sha256(b"|".join(parts))),
        ("lengths-little-endian", "the least byte of a length first", sha256(_framed(parts, "little", 4))),
        ("lengths-of-eight-bytes", "64 bits for a length", sha256(_framed(parts, "big", 8))),
        ("no-label", "nothing says what it is a fingerprint of", sha256(_framed(parts[1:]))),
        ("no-count", "without the number of evidence digests", sha256(_framed(parts[:12] + parts[13:]))),
        ("raw-digests", "32 bytes for a digest", sha256(_framed(raw))),
        ("digests-without-prefix", "64 digits for a digest", sha256(_framed(_without_prefix(parts)))),
        ("profile-before-evidence", "parts in another order", sha256(_framed(parts[:12] + parts[-2:] + parts[12:-2]))),
        ("revision-of-four-bytes", "the revision in binary", sha256(_framed([*parts[:8], b"\0\0\0\2", *parts[9:]]))),
        (
            "with-the-idempotency-key",
            "what is looked up by is no part of it (D14)",
            sha256(_framed([*parts, b"commit-4711"])),
        ),
        ("with-the-capability", "a re-issued capability must replay (D14)", sha256(_framed([*parts, b"cap_01"]))),
        ("hashed-twice", "the digest of the digest", sha256(sha256(_framed(parts)))),
    )
    others = (
        ("of-sorted-evidence", "the digests are sorted first", usual | {"evidence_digests": [second, first]}, usual),
        (
            "of-evidence-once",
            "what stands twice is counted once",
            usual | {"evidence_digests": [first, first]},
            usual | {"evidence_digests": [first]},
        ),
        ("of-shifted-tenant", "a byte moved from the tenant's id to its namespace", usual, shift),
        ("of-another-holder", "whoever else presents it makes another request", usual, usual | {"holder_id": "other"}),
        (
            "of-another-namespace",
            "the same id in another namespace is another",
            usual,
            usual | {"tenant_namespace": "x"},
        ),
        ("of-a-later-revision", "another revision is another request", usual, usual | {"proposal_revision": 3}),
        ("of-a-folded-media-type", "nothing is folded", usual | {"media_type": "application/JSON"}, usual),
    )
    return [
        *(
            Test(f"wrong-{name}", comment, ("AnotherComputation",), _inputs(usual, digest), "mismatch")
            for name, comment, digest in computed
        ),
        Test(
            "wrong-lengths-in-characters",
            "lengths count bytes",
            ("AnotherComputation",),
            _inputs(beyond_ascii, sha256(_framed_by_characters(beyond_ascii))),
            "mismatch",
        ),
        *(
            Test(name, comment, (_flag_of(name),), _inputs(terms, request_fingerprint(**another)), "mismatch")
            for name, comment, terms, another in others
        ),
    ]


def _flag_of(name: str) -> str:
    return "EvidenceOrder" if "evidence" in name else "Shifted"


def _without() -> list[Test]:
    usual = _usual()
    content = usual["content_digest"]
    changes = (
        ("capital-digits", "a content digest with capital digits", {"content_digest": "sha256:" + content[7:].upper()}),
        ("no-prefix", "a proposal digest without its prefix", {"proposal_digest": usual["proposal_digest"][7:]}),
        ("evidence-short", "an evidence digest that lacks a digit", {"evidence_digests": [content[:-1]]}),
        ("line-feed", "a line feed behind the content digest", {"content_digest": content + "\n"}),
        ("empty", "no content digest", {"content_digest": ""}),
    )
    folded = request_fingerprint(**usual)
    return [
        Test(f"none-{name}", comment, ("DigestForm",), _inputs(usual | change, folded), "malformed")
        for name, comment, change in changes
    ]


def _inputs(terms: dict[str, Any], fingerprint: bytes) -> dict[str, Any]:
    return {"terms": terms, "fingerprint": to_wire(fingerprint)}


def _parts(terms: dict[str, Any], *, raw_digests: bool = False) -> list[bytes]:
    evidence = terms["evidence_digests"]
    texts = [FINGERPRINT_LABEL]
    for name, value in terms.items():
        texts += [str(len(evidence)), *evidence] if name == "evidence_digests" else [str(value)]
    return [bytes.fromhex(text[7:]) if raw_digests and text.startswith("sha256:") else text.encode() for text in texts]


def _without_prefix(parts: Sequence[bytes]) -> list[bytes]:
    return [part.removeprefix(b"sha256:") for part in parts]


def _framed(parts: Sequence[bytes], order: Any = "big", size: int = 4) -> bytes:  # noqa: ANN401 - a literal of int's
    return b"".join(len(part).to_bytes(size, order) + part for part in parts)


def _framed_by_characters(terms: dict[str, Any]) -> bytes:
    return b"".join(len(part.decode()).to_bytes(4, "big") + part for part in _parts(terms))
