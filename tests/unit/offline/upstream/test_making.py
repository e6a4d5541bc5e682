"""The envelope for a commit says exactly what its capability allows."""

import json
from typing import Any

import pytest

from capability_authority.offline import ActionEnvelopeInvalid, sha256, to_wire
from capability_authority.offline.upstream import (
    ActionEnvelope,
    ActionRef,
    commit_action_envelope,
    read_action_envelope,
    sign_action_envelope,
)
from capability_authority.v1.statements_pb2 import CommitCapability
from capability_authority.v1.types_pb2 import PrincipalRef, TenantRef
from tests.unit.offline.upstream.envelopes import KEY, OCCURRED_MS

CAPABILITY = CommitCapability(
    capability_id="0190f3a0-0000-7000-8000-000000000001",
    audience="ruflo.memory",
    tenant=TenantRef(namespace="cognitum-tenant", id="acme"),
    memory_namespace="project/notes",
    holder=PrincipalRef(namespace="workload", id="loader"),
    proposal_id="0190f3a0-0000-7000-8000-000000000002",
    proposal_revision=2,
    proposal_digest=sha256(b"proposal"),
    content_digest=sha256(b"content"),
    media_type="text/plain",
    validator_profile="baseline",
    validator_profile_version="1",
    validation_receipt_digest=sha256(b"validation"),
    decision_receipt_digest=sha256(b"decision"),
    commit_idempotency_key="key-1",
)
FINGERPRINT = "sha256:956fcdd7ba8b87bbe6656ddbcdb4bab897e9f4409025faada27f4c1926b6d5d9"


def made(capability: CommitCapability = CAPABILITY, **changed: Any) -> dict[str, object]:
    said: dict[str, Any] = {
        "event_id": "event-1",
        "subject": ActionRef("ruflo-agent", "agent-7"),
        "occurred_ms": OCCURRED_MS,
    }
    return commit_action_envelope(capability, **(said | changed))


def test_it_names_what_the_capability_binds() -> None:
    read = read_action_envelope(made())

    assert isinstance(read, ActionEnvelope)
    assert (read.action, read.audience) == ("memory.commit-validated", "ruflo.memory")
    assert read.tenant == ActionRef("cognitum-tenant", "acme")
    assert read.resource_refs == ("project/notes",)
    assert (read.capability_id, read.idempotency_key) == (CAPABILITY.capability_id, "key-1")
    assert read.content_digest == to_wire(sha256(b"content"))
    assert (read.policy_receipt_id, read.validation_receipt_id) == (
        to_wire(sha256(b"decision")),
        to_wire(sha256(b"validation")),
    )
    assert read.request_digest == FINGERPRINT
    assert (read.occurred_ms, read.expires_ms) == (OCCURRED_MS, OCCURRED_MS + 300_000)
    assert (read.correlation_id, read.actor) == ("event-1", None)


def test_who_acts_and_what_it_is_correlated_by_are_said_when_they_are_known() -> None:
    known = CommitCapability(correlation_id="run-7")
    known.MergeFrom(CAPABILITY)

    read = read_action_envelope(made(known, actor=ActionRef("workload", "coder"), privacy_class="P3"))

    assert isinstance(read, ActionEnvelope)
    assert (read.actor, read.correlation_id, read.privacy_class) == (ActionRef("workload", "coder"), "run-7", "P3")


@pytest.mark.parametrize(
    ("changed", "path"),
    [({"audience": "memory.example"}, "$.audience"), ({"tenant": TenantRef(namespace="test", id="a")}, "$.tenantRef")],
)
def test_for_an_authority_or_a_tenant_that_none_can_name_it_is_not_signed(changed: dict[str, Any], path: str) -> None:
    elsewhere = CommitCapability()
    elsewhere.CopyFrom(CAPABILITY)
    elsewhere.ClearField("tenant")
    elsewhere.MergeFrom(CommitCapability(**({"tenant": CAPABILITY.tenant} | changed)))

    with pytest.raises(ActionEnvelopeInvalid) as refused:
        sign_action_envelope(made(elsewhere), KEY)

    assert any(issue.path.startswith(path) for issue in refused.value.issues)


def test_it_is_signed_with_whichever_name_the_key_has() -> None:
    assert json.loads(sign_action_envelope(made(), KEY, key_id="loader/1"))["keyId"] == "loader/1"
