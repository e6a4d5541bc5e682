"""The request fingerprint: which terms it covers, and that no byte can move between them."""

import inspect
from hashlib import sha256
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_authority.offline import DigestError, capability_fingerprint, request_fingerprint, timestamp, to_wire
from tests.unit.offline.builders import capability, digest

PRESENTED: dict[str, Any] = {
    "content_digest": to_wire(digest("content")),
    "media_type": "application/json",
    "evidence_digests": [to_wire(digest("a")), to_wire(digest("b"))],
}
TERMS: dict[str, Any] = {
    "tenant_namespace": "cognitum-tenant",
    "tenant_id": "acme",
    "memory_namespace": "team/build",
    "holder_namespace": "workload",
    "holder_id": "committer",
    "audience": "memory.example",
    "proposal_id": "prop_1",
    "proposal_revision": 2,
    "proposal_digest": to_wire(digest("proposal")),
    "validator_profile": "baseline",
    "validator_profile_version": "1",
    **PRESENTED,
}
TEXT_TERMS = sorted(name for name, value in TERMS.items() if isinstance(value, str) and not name.endswith("_digest"))


def test_it_is_the_digest_of_the_length_prefixed_parts() -> None:
    parts = [
        b"capability-authority/fingerprint/v1",
        b"cognitum-tenant",
        b"acme",
        b"team/build",
        b"workload",
        b"committer",
        b"memory.example",
        b"prop_1",
        b"2",
        b"sha256:" + digest("proposal").hex().encode(),
        b"sha256:" + digest("content").hex().encode(),
        b"application/json",
        b"2",
        b"sha256:" + digest("a").hex().encode(),
        b"sha256:" + digest("b").hex().encode(),
        b"baseline",
        b"1",
    ]
    preimage = b"".join(bytes([0, 0, 0, len(part)]) + part for part in parts)

    assert request_fingerprint(**TERMS) == sha256(preimage).digest()


def test_every_term_is_covered() -> None:
    changed = {
        name: value + 1 if isinstance(value, int) else value[:-1] if isinstance(value, list) else value + "x"
        for name, value in TERMS.items()
    }
    changed |= {name: to_wire(digest("other")) for name in TERMS if name.endswith("_digest")}

    fingerprints = {request_fingerprint(**{**TERMS, name: value}) for name, value in changed.items()}

    assert set(changed) == set(inspect.signature(request_fingerprint).parameters)
    assert len(fingerprints | {request_fingerprint(**TERMS)}) == len(TERMS) + 1


@pytest.mark.parametrize(("left", "right"), list(pairwise(TEXT_TERMS)))
def test_d11_shifting_a_byte_to_a_neighbour_changes_it(left: str, right: str) -> None:
    one = request_fingerprint(**{**TERMS, left: "ab", right: "c"})
    other = request_fingerprint(**{**TERMS, left: "a", right: "bc"})

    assert one != other


def test_d11_a_number_does_not_run_into_its_neighbour() -> None:
    one = request_fingerprint(**{**TERMS, "proposal_id": "x", "proposal_revision": 12})
    other = request_fingerprint(**{**TERMS, "proposal_id": "x1", "proposal_revision": 2})

    assert one != other


@given(st.lists(st.tuples(st.sampled_from(TEXT_TERMS), st.text("ab\x00", max_size=3)), max_size=6))
def test_d11_equal_fingerprints_have_equal_terms(changes: list[tuple[str, str]]) -> None:
    changed = {**TERMS, **dict(changes)}

    assert (request_fingerprint(**changed) == request_fingerprint(**TERMS)) == (changed == TERMS)


def test_d10_the_order_and_number_of_evidence_digests_matter() -> None:
    a, b = PRESENTED["evidence_digests"]
    orders = [[], [a], [b], [a, a], [a, b], [b, a], [a, b, b]]

    assert len({request_fingerprint(**{**TERMS, "evidence_digests": order}) for order in orders}) == len(orders)


@pytest.mark.parametrize(
    "change",
    [
        {"content_digest": PRESENTED["content_digest"].upper()},
        {"content_digest": digest("content").hex()},
        {"proposal_digest": ""},
        {"evidence_digests": [PRESENTED["content_digest"], "sha256:"]},
    ],
)
def test_digests_are_in_wire_form(change: dict[str, Any]) -> None:
    with pytest.raises(DigestError):
        request_fingerprint(**{**TERMS, **change})


def test_the_terms_of_a_capability_are_taken_from_it_and_the_rest_as_presented() -> None:
    held = capability()

    assert capability_fingerprint(held, **PRESENTED) == request_fingerprint(
        **{
            **TERMS,
            "proposal_id": held.proposal_id,
            "proposal_digest": to_wire(held.proposal_digest),
        }
    )


def test_d14_a_capability_issued_again_has_the_same_fingerprint() -> None:
    held, again = capability(), capability()
    again.capability_id = "cap_again"
    again.correlation_id = "another run"
    again.policy_version = digest("policy of today")
    again.decision_receipt_digest = digest("decision of today")
    again.validation_receipt_digest = digest("validation of today")
    again.approval_reference = "approval"
    again.not_before_time.CopyFrom(timestamp(1))
    again.expire_time.CopyFrom(timestamp(2))

    assert capability_fingerprint(held, **PRESENTED) == capability_fingerprint(again, **PRESENTED)
