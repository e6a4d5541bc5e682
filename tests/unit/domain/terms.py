"""A good capability and what goes with it; tests change one thing at a time."""

from dataclasses import replace
from typing import Any

from authority.domain.capability import CommitCapability, OpenedCapability, Presentation
from authority.domain.decision import COMMIT_ACTION
from authority.domain.references import HOUR, Instant, PrincipalRef, TenantRef
from authority.domain.statement import Statement
from authority.domain.verify import Here

NOW = Instant(1_800_000_000_000)
HERE = Here("issuer", "audience")
TENANT = TenantRef("cognitum-tenant", "acme")
HOLDER = PrincipalRef("workload", "committer")
KEY = b"\x01" * 32

CAPABILITY = CommitCapability(
    capability_id="01890000-0000-7000-8000-000000000001",
    issuer="issuer",
    audience="audience",
    tenant=TENANT,
    memory_namespace="notes",
    subject=PrincipalRef("workload", "agent"),
    holder=HOLDER,
    holder_key=KEY,
    action=COMMIT_ACTION,
    proposal_id="01890000-0000-7000-8000-000000000002",
    proposal_revision=1,
    proposal_digest=b"\x02" * 32,
    content_digest=b"\x03" * 32,
    media_type="text/plain",
    evidence_digests=(b"\x04" * 32, b"\x05" * 32),
    validator_profile="baseline",
    validator_profile_version="1",
    validation_receipt_digest=b"\x06" * 32,
    policy_version=b"\x07" * 32,
    decision_receipt_digest=b"\x08" * 32,
    approval_reference="",
    commit_idempotency_key="k1",
    not_before_time=NOW,
    expire_time=Instant(NOW + HOUR),
    max_uses=1,
    correlation_id="",
    grant_digest=b"",
)

PRESENTATION = Presentation(
    content=b"learned",
    content_digest=CAPABILITY.content_digest,
    media_type=CAPABILITY.media_type,
    evidence_digests=CAPABILITY.evidence_digests,
    commit_idempotency_key="k1",
)


def capability(**changes: Any) -> OpenedCapability:
    """The good capability with these terms changed."""
    return OpenedCapability(Statement("type", b"", "key", b""), b"\x09" * 32, replace(CAPABILITY, **changes))


def presentation(**changes: Any) -> Presentation:
    """The good presentation with these parts changed."""
    return replace(PRESENTATION, **changes)
