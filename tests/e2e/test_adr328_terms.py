"""ADR-328, test 9: a capability with a mismatched term is rejected, one test for each bound term.

Where only a validly signed capability can have the term wrong, one is signed with the authority's own key.
"""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from capability_authority.client import AuthorityError, BindingMismatch, HolderMismatch, NotFound
from capability_authority.v1.statements_pb2 import CommitCapability
from tests.installation.evidence import EVIDENCE
from tests.installation.forgery import Change, altered_by_thief
from tests.installation.installation import OTHER_NAMESPACE, Installation
from tests.installation.processes import ServiceProcess
from tests.installation.storage import Storage
from tests.installation.team import Ready, Team, refused, team_at


def _term(name: str, value: Any) -> Change:
    return lambda terms: setattr(terms, name, value)


def _part(name: str, part: str, value: str) -> Change:
    return lambda terms: setattr(getattr(terms, name), part, value)


def _evidence(digests: list[str]) -> Change:
    def change(terms: CommitCapability) -> None:
        terms.evidence_digests[:] = [bytes.fromhex(digest.removeprefix("sha256:")) for digest in digests]

    return change


def _past(terms: CommitCapability) -> None:
    terms.not_before_time.FromSeconds(1_600_000_000)
    terms.expire_time.FromSeconds(1_600_000_900)


def _future(terms: CommitCapability) -> None:
    terms.not_before_time.FromDatetime(datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=5))


ANOTHER = b"\x5a" * 32
ANOTHER_ID = str(uuid4())
MISMATCH = "BINDING_MISMATCH"
ALTERED: dict[str, tuple[Change, str, str]] = {
    "issuer": (_term("issuer", "someone.else"), "ISSUER_UNKNOWN", ""),
    "audience": (_term("audience", "someone.else"), MISMATCH, "audience"),
    "e16_tenant": (_part("tenant", "id", "tenant-0"), "HOLDER_MISMATCH", ""),
    "tenant_namespace": (_part("tenant", "namespace", "other"), "HOLDER_MISMATCH", ""),
    "memory_namespace": (_term("memory_namespace", OTHER_NAMESPACE), MISMATCH, "memory_namespace"),
    "holder": (_part("holder", "id", "other-service"), "HOLDER_MISMATCH", ""),
    "holder_key": (_term("holder_key", ANOTHER), MISMATCH, "holder_key"),
    "e16_action": (_term("action", "memory.recall"), MISMATCH, "action"),
    "proposal_revision": (_term("proposal_revision", 2), "NOT_VALIDATED", ""),
    "proposal_digest": (_term("proposal_digest", ANOTHER), MISMATCH, "proposal_digest"),
    "validator_profile": (_term("validator_profile", "lenient"), MISMATCH, "validator_profile"),
    "e16_validator_version": (_term("validator_profile_version", "2"), MISMATCH, "validator_profile_version"),
    "validation_receipt": (_term("validation_receipt_digest", ANOTHER), MISMATCH, "validation_receipt_digest"),
    "policy_receipt": (_term("decision_receipt_digest", ANOTHER), MISMATCH, "decision_receipt_digest"),
    # A decision under another policy version is another decision.
    "policy_version": (_term("policy_version", ANOTHER), MISMATCH, "decision_receipt_digest"),
    "approval_reference": (_term("approval_reference", ANOTHER_ID), "APPROVAL_REQUIRED", ""),
    "max_uses": (_term("max_uses", 2), "MALFORMED", ""),
    "e12_expired": (_past, "EXPIRED", ""),
    "not_before": (_future, "NOT_YET_VALID", ""),
    # Nothing else names these, and no such capability was issued.
    "capability_id": (_term("capability_id", ANOTHER_ID), "NOT_FOUND", ""),
    "subject": (_part("subject", "id", "agent"), "NOT_FOUND", ""),
    "correlation_id": (_term("correlation_id", "another"), "NOT_FOUND", ""),
    "grant_digest": (_term("grant_digest", ANOTHER), "NOT_FOUND", ""),
}


async def _assert_unused(team: Team, storage: Storage, ready: Ready) -> None:
    """The true capability still works, and then all is whole."""
    assert not (await team.commit(ready)).replayed
    storage.assert_whole()


@pytest.mark.parametrize("altered", ALTERED)
async def test_adr328_09_a_validly_signed_capability_with_another_term_is_rejected(
    installation: Installation, team: Team, storage: Storage, altered: str
) -> None:
    # Given a capability that differs in one term from what was proposed, validated and decided
    change, reason, term = ALTERED[altered]
    ready = await team.ready(evidence_digests=EVIDENCE[:2])
    forged = altered_by_thief(installation, ready, change)
    before = storage.dump()
    # When it is presented with all else as it should be
    refusal = await refused(team.service.commit(forged, content=ready.content), AuthorityError)
    # Then its holder hears why, and nothing is consumed or stored
    assert (refusal.reason, refusal.metadata.get("term", "")) == (reason, term)
    assert storage.dump() == before
    await _assert_unused(team, storage, ready)


@pytest.mark.parametrize(
    ("bound", "presented"),
    [
        pytest.param(EVIDENCE[:2], EVIDENCE[:1], id="missing"),
        pytest.param(EVIDENCE[:2], [], id="none"),
        pytest.param(EVIDENCE[:2], [EVIDENCE[1], EVIDENCE[0]], id="d10_reordered"),
        pytest.param(EVIDENCE[:2], EVIDENCE, id="extra"),
        pytest.param(EVIDENCE[:2], [EVIDENCE[0], EVIDENCE[2]], id="exchanged"),
        pytest.param([], EVIDENCE[:1], id="where_none_is_bound"),
    ],
)
async def test_adr328_09_another_evidence_set_is_rejected(
    installation: Installation, team: Team, storage: Storage, bound: list[str], presented: list[str]
) -> None:
    # Given a capability that binds evidence
    ready = await team.ready(evidence_digests=bound)
    forged = altered_by_thief(installation, ready, _evidence(presented))
    before = storage.dump()
    # When other evidence is presented, with it or with a forged one that binds just that
    refusal = await refused(team.commit(ready, evidence_digests=presented), BindingMismatch)
    await refused(team.service.commit(forged, content=ready.content), NotFound)
    # Then both are refused, and nothing is consumed or stored
    assert refusal.term == "evidence_digests"
    assert storage.dump() == before
    await _assert_unused(team, storage, ready)


async def test_adr328_09_another_content_digest_is_rejected(
    installation: Installation, team: Team, storage: Storage
) -> None:
    # Given a forged capability for other content of the same length
    ready, other = await team.ready("The answer is 41."), b"The answer is 42."
    forged = altered_by_thief(installation, ready, _term("content_digest", hashlib.sha256(other).digest()))
    before = storage.dump()
    # When it is presented with just that content
    refusal = await refused(team.service.commit(forged, content=other), BindingMismatch)
    # Then the stored revision tells
    assert refusal.term == "content_digest"
    assert storage.dump() == before
    await _assert_unused(team, storage, ready)


async def test_adr328_09_another_media_type_is_rejected(
    installation: Installation, team: Team, storage: Storage
) -> None:
    # Given text that is JSON too
    ready = await team.ready("[1,2]")
    forged = altered_by_thief(installation, ready, _term("media_type", "application/json"))
    before = storage.dump()
    # When it is presented as JSON, with its capability or with a forged one
    as_json = team.commit(ready, content=ready.content, media_type="application/json")
    refusal = await refused(as_json, BindingMismatch)
    await refused(team.service.commit(forged, content=ready.content), NotFound)
    # Then both are refused
    assert refusal.term == "media_type"
    assert storage.dump() == before
    await _assert_unused(team, storage, ready)


@pytest.mark.parametrize("term", ["validation_receipt_digest", "decision_receipt_digest"])
async def test_adr328_09_i13_receipts_of_another_proposal_are_rejected(
    installation: Installation, team: Team, storage: Storage, term: str
) -> None:
    # Given two proposals of the same content, and a capability of one that names a receipt of the other
    ready, twin = await team.ready("Said twice."), await team.ready("Said twice.")
    forged = altered_by_thief(installation, ready, _term(term, getattr(twin.capability.terms, term)))
    validated, decided = (twin, ready) if term.startswith("validation") else (ready, twin)
    before = storage.dump()
    # When it is committed, and when one like it is asked for
    at_commit = team.service.commit(forged, content=ready.content)
    at_issue = team.service.issue(
        ready.ground.proposal,
        validation_receipt=validated.ground.validation.receipt,
        decision_receipt=decided.ground.decision.receipt,
    )
    # Then the receipt is found to be another's
    for attempt in (at_commit, at_issue):
        assert (await refused(attempt, BindingMismatch)).term == term
    assert storage.dump() == before
    await _assert_unused(team, storage, ready)


async def test_adr328_09_i02_a_capability_of_another_tenant_is_rejected(
    team: Team, services: tuple[ServiceProcess, ...], installation: Installation, storage: Storage
) -> None:
    # Given a capability, and another tenant whose people have the same names
    ready, others = await team.ready(), await installation.tenant()
    before = storage.dump()
    # When their service presents it, then it is not the holder
    async with team_at(services[0].address, others) as strangers:
        await refused(strangers.service.commit(ready.capability, content=ready.content), HolderMismatch)
    assert storage.dump() == before
    await _assert_unused(team, storage, ready)
