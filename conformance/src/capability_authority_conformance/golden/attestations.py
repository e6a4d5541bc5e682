"""Receipts whose key was revoked, and what vouches for them, for `key_states.json`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from capability_authority.offline import sha256, sign
from capability_authority.v1.statements_pb2 import KeyAttestation, SignedStatement
from capability_authority_conformance.golden.form import Group
from capability_authority_conformance.golden.key_sets import key_record
from capability_authority_conformance.golden.key_tests import key_group, key_test
from capability_authority_conformance.golden.published_keys import published_key
from capability_authority_conformance.golden.samples import CONTENT, SAMPLES, TENANT

__all__ = ["attestations"]


def attestations() -> Iterator[Group]:
    """All of them."""
    receipt, attestation = SAMPLES["commit-receipt"].statement(), SAMPLES["key-attestation"].statement()
    revoked, current = key_record("receipt", state="revoked"), key_record("current receipt")
    vouched = "a receipt of a revoked key"
    tests = [
        key_test(
            "vouched-for",
            f"{vouched}, and a current one vouches for it",
            "Attestation",
            receipt,
            None,
            attestation=attestation,
        ),
        key_test(
            "vouched-for-content",
            "and for this content",
            "Content",
            receipt,
            None,
            attestation=attestation,
            content=CONTENT,
        ),
        key_test("not-vouched-for", f"{vouched} alone", "Attestation", receipt, "key_revoked"),
        key_test(
            "vouched-for-other-content",
            "and for other content",
            "Content",
            receipt,
            "content_mismatch",
            attestation=attestation,
            content=CONTENT + b" ",
        ),
        *(
            key_test(
                f"vouches-for-{name}",
                f"it vouches for another {name.replace('-', ' ')}",
                "Attestation",
                receipt,
                "attestation_invalid",
                attestation=_attesting(changes),
            )
            for name, changes in _OTHERS.items()
        ),
        key_test(
            "vouched-by-the-grant-key",
            "by a key of another purpose",
            "Attestation",
            receipt,
            "key_purpose_mismatch",
            attestation=sign(SAMPLES["key-attestation"].message, published_key("grant")),
        ),
        key_test(
            "vouched-by-a-stranger",
            "by a key that is not in the set",
            "Attestation",
            receipt,
            "key_unknown",
            attestation=sign(SAMPLES["key-attestation"].message, published_key("stranger")),
        ),
        key_test(
            "vouched-by-itself",
            "by the revoked key",
            "Attestation",
            receipt,
            "key_revoked",
            attestation=sign(SAMPLES["key-attestation"].message, published_key("receipt")),
        ),
        key_test(
            "vouched-by-a-capability",
            "by another kind of statement",
            "Attestation",
            receipt,
            "payload_type_mismatch",
            attestation=SAMPLES["commit-capability"].statement(),
        ),
    ]
    keys = [revoked, current, key_record("grant"), key_record("capability")]
    yield key_group("A receipt whose key was revoked", keys, tests)
    narrow = key_record("current receipt", memory_namespace="team/other")
    yield key_group(
        "… and a current key of another memory namespace",
        [revoked, narrow],
        [
            key_test(
                "vouched-elsewhere",
                "its key may not speak of this",
                "Scope",
                receipt,
                "key_scope_mismatch",
                attestation=attestation,
            )
        ],
    )
    active = [key_record("receipt"), current]
    yield key_group(
        "A receipt whose key still counts",
        active,
        [
            key_test("right-content", "for this content", "Content", receipt, None, content=CONTENT),
            key_test("other-content", "for other content", "Content", receipt, "content_mismatch", content=b"{}"),
            key_test("no-content", "for no content at all", "Content", receipt, "content_mismatch", content=b""),
        ],
    )


_OTHERS: Final[Mapping[str, dict[str, Any]]] = {
    "statement": {"statement_digest": sha256(b"another statement")},
    "signature": {"signature_digest": sha256(b"another signature")},
    "key": {"key_id": "sha256:" + "0" * 64},
    "tenant": {"tenant": {"namespace": TENANT.namespace, "id": "other"}},
}


def _attesting(changes: dict[str, Any]) -> SignedStatement:
    message = KeyAttestation()
    message.CopyFrom(SAMPLES["key-attestation"].message)  # type: ignore[arg-type]  # it is one
    for name, value in changes.items():
        if name == "tenant":
            message.tenant.id = value["id"]
        else:
            setattr(message, name, value)
    return sign(message, published_key("current receipt"))
