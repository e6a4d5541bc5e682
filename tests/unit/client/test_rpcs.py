"""The RPCs as the client knows them."""

import re

import pytest

from capability_authority.client.rpcs import RPCS, UnknownRpc, rpc_named, rpc_of
from capability_authority.v1.capability_service_pb2 import CommitValidatedRequest, CommitValidatedResponse

PATH = "/capability_authority.v1.CapabilityService/CommitValidated"


def test_every_rpc_is_known_once_with_its_messages() -> None:
    assert {rpc.name for rpc in RPCS.values() if rpc.changes_state} == {
        "IssueGrant",
        "ExchangeGrant",
        "RevokeGrant",
        "CreateProposal",
        "ValidateProposal",
        "DecideProposal",
        "WithdrawProposal",
        "EvaluatePolicy",
        "IssueCapability",
        "BatchIssueCapabilities",
        "CommitValidated",
        "BatchCommitValidated",
        "StreamCommitValidated",
        "RevokeCapability",
        "RevokeRecord",
        "RegisterCitation",
        "CorrectRecord",
        "PutEvidence",
        "ReserveReplay",
        "WriteUnvalidatedRecord",
    }
    assert {rpc.name for rpc in RPCS.values() if rpc.is_stream} == {
        "StreamCommitValidated",
        "WatchAuditEvents",
        "WatchRevocations",
    }
    assert {rpc.name for rpc in RPCS.values() if not rpc.needs_proof} == {"GetKeySet"}
    for name, rpc in RPCS.items():
        assert re.fullmatch(rf"/capability_authority\.v1\.\w+Service/{name}", rpc.path)
        assert (rpc.request_class.__name__, rpc.response_class.__name__) == (f"{name}Request", f"{name}Response")
        assert rpc_of(rpc.request_class) is rpc


def test_every_mutation_carries_a_key() -> None:
    for rpc in RPCS.values():
        fields = rpc.request_class.DESCRIPTOR.fields_by_name
        # Of a commit it is the idempotency key of what is presented, of a batch each item's own.
        carries = "request_id" in fields or rpc.name.endswith("CommitValidated") or rpc.name.startswith("Batch")
        assert carries == rpc.changes_state, rpc.name


@pytest.mark.parametrize(
    "name",
    [
        "CommitValidated",
        "CapabilityService/CommitValidated",
        "CapabilityService.CommitValidated",
        "capability_authority.v1.CapabilityService/CommitValidated",
        "capability_authority.v1.CapabilityService.CommitValidated",
        PATH,
    ],
)
def test_an_rpc_is_found_by_any_of_its_names(name: str) -> None:
    rpc = rpc_named(name)

    assert (rpc.path, rpc.request_class, rpc.response_class) == (PATH, CommitValidatedRequest, CommitValidatedResponse)


@pytest.mark.parametrize(
    "name", ["", "/", "Commit", "commitvalidated", "Service/CommitValidated", "MemoryService/CommitValidated", "a.b/C"]
)
def test_another_name_is_refused(name: str) -> None:
    with pytest.raises(UnknownRpc, match="no RPC is named"):
        rpc_named(name)


@pytest.mark.parametrize("name", ["ComitValidated", "commitvalidated", "CapabilityService/commit_validated"])
def test_a_near_miss_names_what_was_meant(name: str) -> None:
    with pytest.raises(UnknownRpc, match=r"; did you mean CommitValidated\?$"):
        rpc_named(name)


def test_a_message_that_is_no_request_has_no_rpc() -> None:
    with pytest.raises(UnknownRpc, match="CommitValidatedResponse"):
        rpc_of(CommitValidatedResponse)
