"""Clients of another version: what is older than the service works, what is newer is told so, and who calls is seen."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from capability_authority.client import Versions
from capability_authority.client.versions import CONTRACT_REVISION, client_version
from capability_authority.v1.capability_service_pb2 import GetKeySetResponse
from capability_authority.v1.types_pb2 import ContractRevision
from tests.installation.installation import NAMESPACE
from tests.installation.team import Team
from tests.installation.wire import MALFORMED, Wire

RELEASED = Path(__file__).resolve().parents[2] / "proto" / "released" / "v1.binpb"
"""An earlier contract, the one that `make check` guards against breaking changes."""

OldMessage = Callable[..., Any]


@pytest.fixture
def old() -> OldMessage:
    """Makes messages as a client does that was generated from the released contract."""
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(RELEASED.read_bytes()).file:
        pool.Add(file)

    def make(name: str, **fields: Any) -> Any:
        return GetMessageClass(pool.FindMessageTypeByName(f"capability_authority.v1.{name}"))(**fields)

    return make


def test_the_released_contract_is_older_than_this_one(old: OldMessage) -> None:
    ours = {field.name for field in GetKeySetResponse.DESCRIPTOR.fields}
    theirs = {field.name for field in old("GetKeySetResponse").DESCRIPTOR.fields}
    assert ours - theirs == {"service_version", "contract_revision"}


async def test_an_older_client_makes_a_whole_exchange(old: OldMessage, proposer: Wire, holder: Wire) -> None:
    # Given a client whose messages are those of the released contract, and lack all that came since
    async def ask(wire: Wire, rpc: str, **fields: Any) -> Any:
        answer = old(f"{rpc}Response")
        answer.ParseFromString(await wire.send(rpc, old(f"{rpc}Request", **fields).SerializeToString()))
        return answer

    content = b'{"seen":"by an older client"}'
    # When it proposes, has it judged, issues and commits
    proposed = await ask(
        proposer,
        "CreateProposal",
        request_id="propose",
        memory_namespace=NAMESPACE,
        memory_type="MEMORY_TYPE_DURABLE_FACT",
        content=content,
        media_type="application/json",
        visibility="VISIBILITY_WORKSPACE",
    )
    proposal = proposed.proposal
    named = {"proposal_id": proposal.proposal_id, "proposal_revision": proposal.revision}
    validated = await ask(
        proposer,
        "ValidateProposal",
        request_id="validate",
        proposal_id=proposal.proposal_id,
        revision=proposal.revision,
    )
    decided = await ask(holder, "EvaluatePolicy", request_id="decide", **named)
    caller = holder.credentials
    issued = await ask(
        holder,
        "IssueCapability",
        request_id="issue",
        holder={"namespace": caller.principal.namespace, "id": caller.principal.id},
        holder_key_id=caller.signing_key.public_key.key_id,
        audience=caller.audience,
        commit_idempotency_key="commit",
        validation_receipt=validated.validation_receipt,
        decision_receipt=decided.decision_receipt,
        **named,
    )
    presented = {
        "content": content,
        "media_type": "application/json",
        "commit_idempotency_key": "commit",
    }
    committed = await ask(holder, "CommitValidated", capability=issued.capability, presentation=presented)
    again = await ask(holder, "CommitValidated", capability=issued.capability, presentation=presented)

    # Then it has its receipt, once and for all
    assert not committed.replayed
    assert again.replayed
    assert again.receipt == committed.receipt
    # And what it does not know of an answer is no trouble
    keys = await ask(holder, "GetKeySet")
    assert keys.issuer == caller.issuer


async def test_a_field_of_a_later_contract_is_refused_and_not_guessed_at(holder: Wire) -> None:
    # Given the request of a client of a later contract, with a field 1023 that this service does not know
    newer = b"\xfa\x3f\x01x"
    # When it asks, then it is told what the matter is
    assert (await holder.refused("GetKeySet", newer, proofs=[])).reason == MALFORMED


async def test_a_client_and_a_service_tell_each_other_their_versions(team: Team) -> None:
    # When a client asks which versions meet
    met = await team.service.versions()

    # Then it knows its own, the service's, and what both speak
    assert met == Versions(client_version(), client_version(), CONTRACT_REVISION, CONTRACT_REVISION)
    assert met.contract == max(ContractRevision.values())
    assert not met.authority_is_older
