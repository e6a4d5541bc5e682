"""Bad input over the wire: requests for a capability, and commits, whose fields are not what the contract allows."""

from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from capability_authority.v1.capability_service_pb2 import CommitValidatedRequest
from capability_authority.v1.statements_pb2 import SignedStatement
from tests.installation.installation import Tenant
from tests.installation.requests import commit_of, digests, issue_of
from tests.installation.storage import Storage
from tests.installation.team import Team
from tests.installation.wire import LIMIT_EXCEEDED, MALFORMED, Wire, assert_bad_shape

MIB = 1024 * 1024
BAD_ISSUES: dict[str, tuple[dict[str, Any], str, str]] = {
    "lifetime_of_nothing": ({"lifetime": Duration()}, MALFORMED, "lifetime"),
    "negative_lifetime": ({"lifetime": Duration(seconds=-60)}, MALFORMED, "lifetime"),
    "lifetime_over_a_day": ({"lifetime": Duration(seconds=86_401)}, LIMIT_EXCEEDED, "lifetime"),
    "c15_lifetime_for_ever": ({"lifetime": Duration(seconds=315_576_000_000)}, LIMIT_EXCEEDED, "lifetime"),
    "empty_grant": ({"grant": SignedStatement()}, MALFORMED, "grant.payload"),
    "no_holder": ({"holder": None}, MALFORMED, "holder"),
    "c15_revision": ({"proposal_revision": -1}, MALFORMED, "proposal_revision"),
    "key_id": ({"holder_key_id": "sha256:00"}, MALFORMED, "holder_key_id"),
    "audience": ({"audience": "two words"}, MALFORMED, "audience"),
    "no_receipt": ({"validation_receipt": None}, MALFORMED, "validation_receipt"),
    "empty_receipt": ({"decision_receipt": SignedStatement()}, MALFORMED, "decision_receipt.payload"),
    "over_long_key": ({"commit_idempotency_key": "k" * 129}, LIMIT_EXCEEDED, "commit_idempotency_key"),
}


@pytest.mark.parametrize("bad", BAD_ISSUES)
async def test_a_bad_request_for_a_capability_is_refused_by_its_field(
    team: Team, holder: Wire, tenant: Tenant, storage: Storage, bad: str
) -> None:
    changed, reason, field = BAD_ISSUES[bad]
    ground, before = await team.ground(), storage.dump()
    request = issue_of(ground, tenant["service"], **changed)
    assert_bad_shape(await holder.refused("IssueCapability", request), reason, field)
    assert storage.dump() == before


BAD_PRESENTATIONS: dict[str, tuple[dict[str, Any], str, str]] = {
    "content_over_the_limit": ({"content": b"x" * (MIB + 1)}, LIMIT_EXCEEDED, "content"),
    "media_type": ({"media_type": "application/octet-stream"}, MALFORMED, "media_type"),
    "too_much_evidence": ({"evidence_digests": digests(65)}, LIMIT_EXCEEDED, "evidence_digests"),
    "d10_evidence_twice": ({"evidence_digests": digests(1) * 2}, MALFORMED, "evidence_digests[1]"),
    "g16_over_long_key": ({"commit_idempotency_key": "k" * 129}, LIMIT_EXCEEDED, "commit_idempotency_key"),
}


@pytest.mark.parametrize("bad", BAD_PRESENTATIONS)
async def test_a_bad_presentation_is_refused_by_its_field(team: Team, holder: Wire, storage: Storage, bad: str) -> None:
    changed, reason, field = BAD_PRESENTATIONS[bad]
    ready, before = await team.ready(), storage.dump()
    failure = await holder.refused("CommitValidated", commit_of(ready, **changed))
    assert_bad_shape(failure, reason, f"presentation.{field}")
    assert storage.dump() == before


async def test_a_commit_without_its_parts_or_with_an_envelope_is_refused(
    team: Team, holder: Wire, storage: Storage
) -> None:
    ready, before = await team.ready(), storage.dump()
    good = commit_of(ready)
    without = CommitValidatedRequest(capability=good.capability)
    assert_bad_shape(await holder.refused("CommitValidated", without), MALFORMED, "presentation")
    without = CommitValidatedRequest(presentation=good.presentation)
    assert_bad_shape(await holder.refused("CommitValidated", without), MALFORMED, "capability")
    good.upstream_envelope_json = "{}"
    assert_bad_shape(await holder.refused("CommitValidated", good), MALFORMED, "upstream_envelope_json")
    assert storage.dump() == before
