"""What a signed envelope of upstream must say to prove a commit: every condition by itself, and which answers first."""

from dataclasses import fields, replace
from typing import Any

import pytest

from authority.domain.action_envelope import ActionEnvelope, ActionParty, judge_envelope
from authority.domain.decision import COMMIT_ACTION
from authority.domain.reasons import Reason
from authority.domain.references import MINUTE, SECOND, Instant, TenantRef
from authority.domain.refusal import Refusal
from tests.unit.domain.terms import CAPABILITY, NOW

FINGERPRINT = b"f" * 32
OTHER = "sha256:" + "0" * 64


def wire(digest: bytes) -> str:
    return f"sha256:{digest.hex()}"


GOOD = ActionEnvelope(
    audience=CAPABILITY.audience,
    tenant=CAPABILITY.tenant,
    action=COMMIT_ACTION,
    resource_refs=(CAPABILITY.memory_namespace,),
    request_digest=wire(FINGERPRINT),
    content_digest=wire(CAPABILITY.content_digest),
    idempotency_key=CAPABILITY.commit_idempotency_key,
    policy_receipt_id=wire(CAPABILITY.decision_receipt_digest),
    capability_id=CAPABILITY.capability_id,
    validation_receipt_id=wire(CAPABILITY.validation_receipt_digest),
    subject=ActionParty("ruflo-agent", "anybody"),
    actor=None,
    occur_time=NOW,
    expire_time=Instant(NOW + 5 * MINUTE),
)
BROKEN: list[tuple[str, dict[str, Any]]] = [
    ("audience", {"audience": CAPABILITY.audience.upper()}),
    ("tenant_ref", {"tenant": TenantRef(CAPABILITY.tenant.namespace, "another")}),
    ("tenant_ref", {"tenant": TenantRef("another", CAPABILITY.tenant.id)}),
    ("occurred_at", {"occur_time": Instant(NOW + 30 * SECOND + 1)}),
    ("occurred_at", {"occur_time": Instant(NOW - 5 * MINUTE - 1)}),
    ("expires_at", {"expire_time": NOW}),
    ("expires_at", {"expire_time": None}),
    ("action", {"action": "memory.propose"}),
    ("capability_id", {"capability_id": CAPABILITY.capability_id.upper() + "x"}),
    ("resource_refs", {"resource_refs": ()}),
    ("resource_refs", {"resource_refs": (CAPABILITY.memory_namespace, "more")}),
    ("resource_refs", {"resource_refs": (CAPABILITY.memory_namespace + "/a",)}),
    ("content_digest", {"content_digest": OTHER}),
    ("content_digest", {"content_digest": ""}),
    ("idempotency_key", {"idempotency_key": CAPABILITY.commit_idempotency_key.upper()}),
    ("request_digest", {"request_digest": OTHER}),
    ("policy_receipt_id", {"policy_receipt_id": OTHER}),
    ("validation_receipt_id", {"validation_receipt_id": OTHER}),
]
"""In the order in which they are judged."""


def judged(**changed: Any) -> Refusal | None:
    return judge_envelope(replace(GOOD, **changed), CAPABILITY, FINGERPRINT, NOW)


def test_an_envelope_for_exactly_this_commit_proves_it() -> None:
    assert judged() is None


@pytest.mark.parametrize(("condition", "changed"), BROKEN)
def test_i08_every_condition_that_does_not_hold_is_named(condition: str, changed: dict[str, Any]) -> None:
    assert judged(**changed) == Refusal(Reason.PROOF_INVALID, {"proof": condition})


def test_of_several_the_first_answers() -> None:
    conditions = list(dict.fromkeys(condition for condition, _ in BROKEN))
    for first in range(len(conditions)):
        together: dict[str, Any] = {}
        for condition, changed in BROKEN:
            if conditions.index(condition) >= first:
                together |= changed
        assert judged(**together) == Refusal(Reason.PROOF_INVALID, {"proof": conditions[first]})


def test_every_field_is_judged_but_who_it_is_about() -> None:
    tried = {name for _, changed in BROKEN for name in changed}

    assert {it.name for it in fields(ActionEnvelope)} - tried == {"subject", "actor"}
    assert judged(subject=ActionParty("workload", "else"), actor=ActionParty("workload", "else")) is None


@pytest.mark.parametrize("at", [NOW + 30 * SECOND, NOW - 5 * MINUTE])
def test_its_age_has_edges(at: int) -> None:
    assert judged(occur_time=Instant(at)) is None
