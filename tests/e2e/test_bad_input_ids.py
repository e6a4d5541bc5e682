"""Bad input over the wire: ids, keys and names. They are compared byte for byte, and nothing is trimmed or folded."""

from uuid import uuid4

import pytest

from capability_authority.v1.capability_service_pb2 import IssueCapabilityRequest, ListCommitReceiptsRequest
from capability_authority.v1.memory_service_pb2 import (
    ListCitationsRequest,
    ListMemoryRecordsRequest,
    RecallRecordsRequest,
)
from capability_authority.v1.proposal_service_pb2 import ListProposalsRequest
from tests.installation.installation import Tenant
from tests.installation.requests import commit_of, digests, issue_of, proposal_of
from tests.installation.storage import Storage
from tests.installation.team import Team
from tests.installation.wire import MALFORMED, Wire, assert_bad_shape

UNLIKE_K1 = {
    "a09_space_before": " k1",
    "a09_space_after": "k1 ",
    "a09_newline": "k1\n",
    "a09_zero_width_space": "k\u200b1",
    "c11_nul": "k1\0",
    "empty": "",
    "fullwidth": "\uff4b1",
    "sign_first": "-k1",
}


@pytest.mark.parametrize("text", UNLIKE_K1.values(), ids=UNLIKE_K1)
async def test_a09_a_key_with_anything_added_is_malformed_everywhere(
    team: Team, proposer: Wire, holder: Wire, tenant: Tenant, storage: Storage, text: str
) -> None:
    # Given a capability whose key is "k1"
    ground = await team.ground()
    ready = await team.issue(ground, "k1")
    before = storage.dump()
    # When the key, or a request id, comes with something added
    failures = [
        (await holder.refused("CommitValidated", commit_of(ready, commit_idempotency_key=text)), "presentation."),
        (await holder.refused("IssueCapability", issue_of(ground, tenant["service"], commit_idempotency_key=text)), ""),
    ]
    other = await proposer.refused("CreateProposal", proposal_of(request_id=text))
    # Then it is malformed: nothing is trimmed, folded or normalised
    for failure, prefix in failures:
        assert_bad_shape(failure, MALFORMED, f"{prefix}commit_idempotency_key")
    assert_bad_shape(other, MALFORMED, "request_id")
    assert storage.dump() == before
    # And another case is another key
    refusal = await holder.refused("CommitValidated", commit_of(ready, commit_idempotency_key="K1"))
    assert (refusal.reason, refusal.info.metadata["term"]) == ("BINDING_MISMATCH", "commit_idempotency_key")
    assert not (await team.commit(ready)).replayed
    storage.assert_whole()


@pytest.mark.parametrize("text", ["", " ", "*", "%", "notes\n", "a|b"])
async def test_g01_a_memory_namespace_that_is_no_name_is_malformed_never_all(
    proposer: Wire, storage: Storage, text: str
) -> None:
    before = storage.dump()
    content = ListCitationsRequest.Content(memory_namespace=text, content_digest=digests(1)[0])
    # When everything is asked of no memory namespace, or of what looks like every one
    failures = [
        await proposer.refused("CreateProposal", proposal_of(memory_namespace=text)),
        await proposer.refused("ListProposals", ListProposalsRequest(memory_namespace=text)),
        await proposer.refused("ListMemoryRecords", ListMemoryRecordsRequest(memory_namespace=text)),
        await proposer.refused("ListCommitReceipts", ListCommitReceiptsRequest(memory_namespace=text)),
        await proposer.refused("RecallRecords", RecallRecordsRequest(memory_namespace=text, query="tea")),
    ]
    citations = await proposer.refused("ListCitations", ListCitationsRequest(content=content))
    # Then it is malformed
    for failure in failures:
        assert_bad_shape(failure, MALFORMED, "memory_namespace")
    assert_bad_shape(citations, MALFORMED, "content.memory_namespace")
    assert storage.dump() == before


@pytest.mark.parametrize("holder_name", ["service", "agent"])
async def test_g02_who_may_not_issue_is_not_told_which_proposals_exist(
    team: Team, tenant: Tenant, proposer: Wire, storage: Storage, holder_name: str
) -> None:
    # Given a good ground for a capability, and an agent, which may not issue
    request = issue_of(await team.ground(), tenant[holder_name])
    elsewhere = IssueCapabilityRequest()
    elsewhere.CopyFrom(request)
    elsewhere.proposal_id = str(uuid4())
    before = storage.dump()
    # When it asks for a capability on the proposal, and on one that does not exist
    failures = [await proposer.refused("IssueCapability", asked) for asked in (request, elsewhere)]
    # Then the two answers are the same
    assert [failure.reason for failure in failures] == ["NOT_ALLOWED"] * 2
    assert failures[0].info == failures[1].info
    assert storage.dump() == before
