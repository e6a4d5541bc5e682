"""What a person sees who prints what the client answers with: what it is, in one short line."""

from datetime import UTC, datetime

import pytest

from capability_authority.client import IssuedCapability, MemoryRecord, PolicyDecision, Proposal, Validation
from capability_authority.client.values import Receipt
from capability_authority.v1 import memory_service_pb2, proposal_service_pb2
from capability_authority.v1.statements_pb2 import CommitCapability, SignedStatement

APPROVED = proposal_service_pb2.PROPOSAL_STATE_APPROVED
STATEMENT = SignedStatement(payload_type="kept", payload=b"out of sight" * 99)


def issued() -> IssuedCapability:
    terms = CommitCapability(capability_id="an-id", commit_idempotency_key="a key", action="memory.commit-validated")
    terms.expire_time.FromDatetime(datetime(2027, 1, 31, 8, tzinfo=UTC))
    return IssuedCapability(STATEMENT, terms, replayed=False)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (issued(), "<IssuedCapability an-id for 'a key' until 2027-01-31T08:00:00Z>"),
        (
            Proposal(proposal_service_pb2.Proposal(proposal_id="p", revision=2, state=APPROVED), STATEMENT),
            "<Proposal p revision 2, approved>",
        ),
        (
            MemoryRecord(memory_service_pb2.MemoryRecord(record_id="r", memory_namespace="notes", content=b"x" * 999)),
            "<MemoryRecord r in notes>",
        ),
        (Receipt("c", "r", STATEMENT, None, None), "Receipt(receipt_id='c', record_id='r')"),
        (
            Validation(STATEMENT, "pass", (), "validated"),
            "Validation(outcome='pass', findings=(), state='validated')",
        ),
        (
            PolicyDecision(STATEMENT, "allow", ("p1",), "sha256:0"),
            "PolicyDecision(outcome='allow', determining_policies=('p1',), policy_version='sha256:0')",
        ),
    ],
)
def test_an_answer_is_shown_in_one_short_line(value: object, shown: str) -> None:
    assert repr(value) == shown
