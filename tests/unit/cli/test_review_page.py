"""What a person is shown of a proposal before deciding on it."""

import pytest

from authority.cli.review_page import proposal_document, proposal_rows
from capability_authority.client import Proposal
from capability_authority.v1 import proposal_service_pb2 as pb
from capability_authority.v1.types_pb2 import PrincipalRef

AGENT, SERVICE, USER = (PrincipalRef(namespace="demo", id=name) for name in ("agent", "service", "user"))


@pytest.fixture
def under_a_grant() -> Proposal:
    """The agent's, in the name of the user, by a grant that came to it through the service."""
    message = pb.Proposal(proposal_id="p-1", revision=1, proposer=AGENT, actor_chain=[SERVICE, AGENT], subject=USER)
    return Proposal(message)


def test_in_whose_name_and_through_whom_it_came(under_a_grant: Proposal) -> None:
    rows, document = dict(proposal_rows(under_a_grant)), proposal_document(under_a_grant)

    assert rows["through"] == "demo|service, demo|agent"
    assert rows["in name of"] == "demo|user, the subject of a grant"
    assert (document["actor_chain"], document["subject"]) == (["demo|service", "demo|agent"], "demo|user")


def test_nobody_stands_between_whoever_proposes_alone() -> None:
    alone = Proposal(pb.Proposal(proposal_id="p-1", revision=1, proposer=AGENT))

    assert not {"through", "in name of"} & dict(proposal_rows(alone)).keys()
    assert proposal_document(alone)["subject"] is None
