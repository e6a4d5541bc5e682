"""What verify says of a capability's own terms, and which refusal answers where several apply."""

import pytest

from authority.domain.capability import FINGERPRINTED, differing_terms
from authority.domain.reasons import Reason
from authority.domain.references import HOUR, MINUTE, SECOND, Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.verify import Granted, Here, verify
from tests.unit.domain.terms import CAPABILITY, HERE, KEY, NOW, PRESENTATION, capability, presentation


def judge(**changes: object) -> Granted | Refusal:
    given = {
        "capability": capability(),
        "signature_refusal": None,
        "presentation": PRESENTATION,
        "presented_key": KEY,
        "here": HERE,
        "now": NOW,
    }
    return verify(**{**given, **changes})  # type: ignore[arg-type]


def test_a_good_capability_is_granted() -> None:
    assert judge() == Granted()


@pytest.mark.parametrize(
    ("term", "changes"),
    [
        ("audience", {"capability": capability(audience="elsewhere")}),
        ("holder_key", {"presented_key": b"\x0f" * 32}),
        ("action", {"capability": capability(action="memory.recall")}),
        ("content_digest", {"presentation": presentation(content_digest=b"\x0e" * 32)}),
        ("media_type", {"presentation": presentation(media_type="application/json")}),
        ("evidence_digests", {"presentation": presentation(evidence_digests=CAPABILITY.evidence_digests[::-1])}),
        ("evidence_digests", {"presentation": presentation(evidence_digests=CAPABILITY.evidence_digests[:1])}),
        ("commit_idempotency_key", {"presentation": presentation(commit_idempotency_key="K1")}),
    ],
)
def test_e16_d10_a09_a_bound_term_that_differs_is_named(term: str, changes: dict[str, object]) -> None:
    assert judge(**changes) == Refusal(Reason.BINDING_MISMATCH, {"term": term})


def test_another_issuer_is_unknown() -> None:
    assert judge(here=Here("other", HERE.audience)) == Refusal(Reason.ISSUER_UNKNOWN)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (NOW - 30 * SECOND - 1, Reason.NOT_YET_VALID),
        (NOW - 30 * SECOND, None),
        (NOW, None),
        (NOW + HOUR - 1, None),
        (NOW + HOUR, Reason.EXPIRED),
        (NOW + HOUR + 1, Reason.EXPIRED),
    ],
)
def test_e12_expiry_is_refused_at_the_boundary_and_only_not_before_has_skew(at: int, expected: Reason | None) -> None:
    verdict = judge(now=Instant(at))

    assert (verdict.reason if isinstance(verdict, Refusal) else None) is expected


CAUSES: dict[str, dict[str, object]] = {
    "signature": {"signature_refusal": Refusal(Reason.SIGNATURE_INVALID)},
    "revoked key": {"signature_refusal": Refusal(Reason.KEY_REVOKED)},
    "issuer": {"here": Here("other", HERE.audience)},
    "binding": {"presentation": presentation(media_type="application/json")},
    "expired": {"now": Instant(NOW + HOUR)},
    "early": {"now": Instant(NOW - MINUTE)},
}


@pytest.mark.parametrize(
    ("causes", "answers"),
    [
        (("signature", "issuer", "binding", "expired"), Reason.SIGNATURE_INVALID),
        (("issuer", "binding", "expired"), Reason.ISSUER_UNKNOWN),
        (("issuer", "revoked key", "binding"), Reason.ISSUER_UNKNOWN),
        (("revoked key", "binding", "expired"), Reason.KEY_REVOKED),
        (("binding", "expired"), Reason.BINDING_MISMATCH),
        (("binding", "early"), Reason.BINDING_MISMATCH),
        (("expired",), Reason.EXPIRED),
        (("early",), Reason.NOT_YET_VALID),
    ],
)
def test_of_several_causes_the_upper_row_of_the_error_table_answers(causes: tuple[str, ...], answers: Reason) -> None:
    changes = {name: value for cause in causes for name, value in CAUSES[cause].items()}

    verdict = judge(**changes)

    assert isinstance(verdict, Refusal)
    assert verdict.reason is answers


def test_of_several_terms_the_first_field_answers() -> None:
    changed = presentation(media_type="application/json", commit_idempotency_key="k2")

    assert judge(presentation=changed) == Refusal(Reason.BINDING_MISMATCH, {"term": "media_type"})


def test_a12_differing_terms_are_sorted_field_names_of_the_fingerprint_alone() -> None:
    stored = CAPABILITY
    renewed = capability(decision_receipt_digest=b"\x00" * 32, capability_id="other", expire_time=Instant(0)).terms
    other = capability(tenant=TenantRef("x", "y"), holder=PrincipalRef("x", "y"), proposal_revision=2).terms

    assert differing_terms(stored, renewed, PRESENTATION) == ""
    assert differing_terms(stored, other, presentation(media_type="application/json")) == (
        "holder,media_type,proposal_revision,tenant"
    )


def test_every_fingerprinted_term_is_a_field_of_the_capability() -> None:
    assert all(hasattr(CAPABILITY, name) for name in FINGERPRINTED)
