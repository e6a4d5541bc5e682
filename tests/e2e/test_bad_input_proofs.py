"""Bad input over the wire: proofs that are missing, doubled, stale, stolen, or made for another call."""

import hashlib
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import grpc
import pytest
from redis import Redis

from authority.domain.references import PrincipalRef
from authority.rpc.methods import METHODS, MethodKind
from capability_authority.client import grant_terms
from capability_authority.client.rpcs import RPCS
from capability_authority.offline import PrivateKey
from capability_authority.v1.audit_service_pb2 import ListAuditEventsRequest
from capability_authority.v1.capability_service_pb2 import (
    CommitValidatedRequest,
    CommitValidatedResponse,
    GetCommitReceiptRequest,
    ListCommitReceiptsRequest,
    VerifyCapabilityRequest,
)
from capability_authority.v1.evidence_service_pb2 import ReadEvidenceRequest
from capability_authority.v1.grant_service_pb2 import GetGrantRequest, VerifyGrantRequest
from capability_authority.v1.interop_service_pb2 import ResolveKeyRequest, VerifyActionEnvelopeRequest
from capability_authority.v1.memory_service_pb2 import (
    ExportRecordRequest,
    GetMemoryRecordRequest,
    ListCitationsRequest,
    ListMemoryRecordsRequest,
    RecallRecordsRequest,
)
from capability_authority.v1.policy_service_pb2 import GetPolicyVersionRequest
from capability_authority.v1.proposal_service_pb2 import GetProposalRequest, ListProposalsRequest
from capability_authority.v1.statements_pb2 import CommitCapability, Signature, SignedStatement
from capability_authority.v1.types_pb2 import PrincipalRef as PrincipalMessage
from capability_authority.v1.types_pb2 import TenantRef as TenantMessage
from tests.installation.forgery import altered
from tests.installation.installation import NAMESPACE, Installation, Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.requests import commit_of
from tests.installation.storage import Storage
from tests.installation.team import Ready, Team, all_of
from tests.installation.wire import Wire, wire_to
from tests.unit.rpc.requests import ENVELOPE_JSON

MINUTE_MS = 60_000


Changes = dict[str, Any]


def _ago(milliseconds: int) -> Callable[[], Changes]:
    """Counted from the call, not from when the tests were collected: that may be minutes before."""
    return lambda: {"issued_ms": time.time_ns() // 1_000_000 - milliseconds}


async def test_i06_a_call_needs_exactly_one_proof(team: Team, holder: Wire, storage: Storage) -> None:
    # Given a good commit
    ready = await team.ready()
    data = commit_of(ready).SerializeToString()
    one, other = holder.proof("CommitValidated", data), holder.proof("CommitValidated", data)
    before = storage.dump()
    # When it comes with no proof, with two, the same one twice, or with nonsense
    for proofs in ([], [one, other], [one, one], [b""], [b"nonsense"], [one[:-1]], [one + b"\xa2\x06\x01x"]):
        failure = await holder.refused("CommitValidated", data, proofs=proofs)
        # Then nobody is authenticated
        assert (failure.code, failure.reason) == (grpc.StatusCode.UNAUTHENTICATED, "CALLER_UNAUTHENTICATED")
        assert dict(failure.info.metadata) == {}
    assert storage.dump() == before
    # And with one it is committed
    await holder.send("CommitValidated", data, proofs=[one])
    storage.assert_whole()


STRANGERS: dict[str, dict[str, Any]] = {
    "unregistered_key": {"private_key": PrivateKey.generate()},
    "another_principal": {"principal": PrincipalMessage(namespace="test", id="admin")},
    "unknown_principal": {"principal": PrincipalMessage(namespace="test", id="nobody")},
    "another_namespace_of_principals": {"principal": PrincipalMessage(namespace="other", id="service")},
    "another_tenant": {"tenant": TenantMessage(namespace="cognitum-tenant", id="tenant-0")},
    "g01_no_tenant": {"tenant": TenantMessage()},
    "g01_any_tenant": {"tenant": TenantMessage(namespace="cognitum-tenant", id="*")},
}


@pytest.mark.parametrize("stranger", STRANGERS)
async def test_a_proof_by_nobody_who_is_registered_authenticates_nobody(
    team: Team, holder: Wire, storage: Storage, stranger: str
) -> None:
    ready, before = await team.ready(), storage.dump()
    data = commit_of(ready).SerializeToString()
    proof = holder.proof("CommitValidated", data, **STRANGERS[stranger])
    failure = await holder.refused("CommitValidated", data, proofs=[proof])
    assert (failure.code, failure.reason) == (grpc.StatusCode.UNAUTHENTICATED, "CALLER_UNAUTHENTICATED")
    assert storage.dump() == before


MISFITS: dict[str, tuple[Changes | Callable[[], Changes], str]] = {
    "another_audience": ({"audience": "someone.else"}, "audience"),
    "another_rpc": ({"method": "/capability_authority.v1.CapabilityService/VerifyCapability"}, "method"),
    "i05_another_request": ({"request_bytes": b"another"}, "request_digest"),
    "i05_no_request": ({"request_bytes": b""}, "request_digest"),
    "stale": (_ago(5 * MINUTE_MS + 1), "issue_time"),
    "from_the_future": (_ago(-2 * MINUTE_MS), "issue_time"),
}


@pytest.mark.parametrize("misfit", MISFITS)
async def test_i05_a_proof_for_another_call_is_invalid(team: Team, holder: Wire, storage: Storage, misfit: str) -> None:
    # Given a good commit, and a proof by its holder that was made for something else
    changes, proof = MISFITS[misfit]
    ready, before = await team.ready(), storage.dump()
    changed = changes() if callable(changes) else changes
    data = commit_of(ready).SerializeToString()
    failure = await holder.refused("CommitValidated", data, proofs=[holder.proof("CommitValidated", data, **changed)])
    # Then the holder is told what does not fit, and can try again with a new proof
    assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PROOF_INVALID")
    assert dict(failure.info.metadata) == {"proof": proof}
    assert storage.dump() == before
    assert not (await team.commit(ready)).replayed
    storage.assert_whole()


async def test_i05_a_proof_over_one_commit_carries_no_other(team: Team, holder: Wire, storage: Storage) -> None:
    # Given two good commits, and the proof of one
    one, other = commit_of(await team.ready()), commit_of(await team.ready())
    proof = holder.proof("CommitValidated", one.SerializeToString())
    before = storage.dump()
    # When it is sent with the other, or with more than it was made for
    more = CommitValidatedRequest()
    more.CopyFrom(one)
    more.presentation.evidence_digests.append("sha256:" + "0" * 64)
    for request in (other, more):
        failure = await holder.refused("CommitValidated", request, proofs=[proof])
        # Then it is for another request
        assert failure.reason == "PROOF_INVALID"
    assert storage.dump() == before


async def test_a_mutation_sent_again_with_its_proof_is_a_retry(team: Team, holder: Wire, storage: Storage) -> None:
    # Given a commit as a channel that retries by itself would send it: the same bytes, the same proof
    data = commit_of(await team.ready()).SerializeToString()
    proof = holder.proof("CommitValidated", data, **_ago(4 * MINUTE_MS)())
    first, again = [
        CommitValidatedResponse.FromString(await holder.send("CommitValidated", data, proofs=[proof])) for _ in range(2)
    ]
    # Then the second is answered as a retry
    assert [first.replayed, again.replayed] == [False, True]
    assert first.receipt == again.receipt
    storage.assert_whole()


async def test_i03_the_proof_of_a_read_works_once_also_from_elsewhere(
    team: Team, holder: Wire, services: tuple[ServiceProcess, ...], tenant: Tenant
) -> None:
    # Given a read that was captured on its way
    committed = await team.commit(await team.ready())
    data = GetMemoryRecordRequest(record_id=committed.record_id).SerializeToString()
    proof = holder.proof("GetMemoryRecord", data)
    await holder.send("GetMemoryRecord", data, proofs=[proof])
    # When it is sent again, from another connection, to this process and to the other
    for process in services:
        async with wire_to(process.address, tenant["service"]) as thief:
            failure = await thief.refused("GetMemoryRecord", data, proofs=[proof])
        # Then it has been used
        assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PROOF_REPLAYED")
    # And a minute later it would have been stale
    old = await holder.refused(
        "GetMemoryRecord", data, proofs=[holder.proof("GetMemoryRecord", data, **_ago(MINUTE_MS)())]
    )
    assert old.reason == "PROOF_INVALID"


async def test_i03_the_proof_of_each_read_works_once(
    team: Team, services: tuple[ServiceProcess, ...], tenant: Tenant
) -> None:
    # Given every way to read
    ready = await team.ready("Tea.")
    record_id = (await team.commit(ready)).record_id
    evidence = await team.user.put_evidence("It was poured at five.", visibility="workspace")
    grant = await team.admin.issue_grant(
        grant_terms(),
        subject=tenant["service"].principal,
        holder=tenant["service"].principal,
        holder_key_id=tenant["service"].key_id,
    )
    reads: dict[str, Any] = {
        "VerifyCapability": VerifyCapabilityRequest(capability=ready.capability.statement),
        "GetCommitReceipt": GetCommitReceiptRequest(record_id=record_id),
        "ListCommitReceipts": ListCommitReceiptsRequest(memory_namespace=NAMESPACE),
        "GetProposal": GetProposalRequest(proposal_id=ready.ground.proposal.proposal_id),
        "ListProposals": ListProposalsRequest(memory_namespace=NAMESPACE),
        "GetMemoryRecord": GetMemoryRecordRequest(record_id=record_id),
        "ListMemoryRecords": ListMemoryRecordsRequest(memory_namespace=NAMESPACE),
        "RecallRecords": RecallRecordsRequest(memory_namespace=NAMESPACE, query="tea"),
        "ListCitations": ListCitationsRequest(record_id=record_id),
        "ExportRecord": ExportRecordRequest(record_id=record_id, form=ExportRecordRequest.FORM_AUDIT),
        "ListAuditEvents": ListAuditEventsRequest(),
        "GetPolicyVersion": GetPolicyVersionRequest(policy_version=ready.ground.decision.policy_version),
        "VerifyGrant": VerifyGrantRequest(grant=grant.statement),
        "GetGrant": GetGrantRequest(grant_digest=grant.digest),
        "ReadEvidence": ReadEvidenceRequest(digest=evidence.digest),
        "ResolveKey": ResolveKeyRequest(key_id=tenant["service"].key_id),
        "VerifyActionEnvelope": VerifyActionEnvelopeRequest(
            envelope_json=ENVELOPE_JSON, key_id=tenant["service"].key_id
        ),
    }
    assert {RPCS[name].path for name in reads} == {name for name, kind in METHODS.items() if kind is MethodKind.READ}
    address = services[0].address
    async with wire_to(address, tenant["admin"]) as admin, wire_to(address, tenant["service"]) as service:
        for rpc, request in reads.items():
            # When a call is sent again as it was, then its proof has been used
            data = request.SerializeToString()
            caller = service if "InteropService" in RPCS[rpc].path else admin
            proof = caller.proof(rpc, data)
            await caller.send(rpc, data, proofs=[proof])
            assert (await caller.refused(rpc, data, proofs=[proof])).reason == "PROOF_REPLAYED", rpc


async def test_e03_a_key_that_anybody_can_sign_for_authenticates_nobody(
    installation: Installation, tenant: Tenant, holder: Wire, storage: Storage
) -> None:
    # Given the identity point as a principal's key, which no act of the operator's lets in, put into the table itself
    weak = b"\1" + bytes(31)
    key_id = hashlib.sha256(weak).digest()
    insert = (
        "insert into authority.principal_key (tenant, key_id, principal, public_key, state, create_time)"
        " values (%s, %s, %s, %s, 'active', now())"
    )
    storage.ask(insert, str(tenant.ref), key_id, str(PrincipalRef("test", "service")), weak)
    # When a proof comes with the one signature that holds for it under every message
    data = GetCommitReceiptRequest(commit_idempotency_key="none").SerializeToString()
    proof = SignedStatement.FromString(holder.proof("GetCommitReceipt", data))
    signature = Signature(key_id=f"sha256:{key_id.hex()}", signature=weak + bytes(32))
    proof.signature.CopyFrom(signature)
    failure = await holder.refused("GetCommitReceipt", data, proofs=[proof.SerializeToString(deterministic=True)])
    # Then it authenticates nobody
    assert failure.reason == "CALLER_UNAUTHENTICATED"


async def test_g02_what_is_anothers_and_what_is_missing_get_the_same_answer(
    team: Team, services: tuple[ServiceProcess, ...], installation: Installation, storage: Storage
) -> None:
    # Given things of one tenant, and a member of another
    ready = await team.ready()
    committed = await team.commit(ready)
    strangers = await installation.tenant()
    record = {"record_id": committed.record_id}
    words = {"content": b"Tea, rather.", "media_type": "text/plain"}
    asked: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("GetMemoryRecord", record, {}),
        ("GetCommitReceipt", {"receipt_id": committed.receipt_id}, {}),
        ("GetCommitReceipt", record, {}),
        ("GetProposal", {"proposal_id": ready.ground.proposal.proposal_id}, {}),
        ("ExportRecord", record, {"form": "FORM_COMPACT"}),
        ("ExportRecord", record, {"form": "FORM_AUDIT"}),
        ("RevokeRecord", record, {"request_id": "1"}),
        ("RegisterCitation", record, {"request_id": "2", "citing_kind": "answer", "citing_ref": "1"}),
        ("CorrectRecord", record, {"request_id": "3"} | words),
    ]
    before = storage.dump()
    # When those who may do most there ask for one of them, and for one that does not exist
    for member in ("service", "admin", "user"):
        async with wire_to(services[0].address, strangers[member]) as stranger:
            for rpc, known, rest in asked:
                missing = dict.fromkeys(known, str(uuid4()))
                there, nowhere = [
                    await stranger.refused(rpc, RPCS[rpc].request_class(**name, **rest)) for name in (known, missing)
                ]
                # Then the answers are the same to the last byte
                if (member, rpc) != ("admin", "CorrectRecord"):
                    assert (there.code, there.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND"), (member, rpc)
                assert there.status == nowhere.status
            # And nothing is told of what cites it
            citations = await stranger.send("ListCitations", ListCitationsRequest(record_id=committed.record_id))
            assert citations == b""
    # And nothing has changed
    assert storage.dump() == before
    assert not (await team.commit(await team.ready())).replayed


def _made_up(ready: Ready) -> CommitValidatedRequest:
    """A commit with a capability of its own id and key, signed by nobody."""
    name = str(uuid4())

    def change(terms: CommitCapability) -> None:
        terms.capability_id = terms.commit_idempotency_key = name

    request = commit_of(ready, commit_idempotency_key=name)
    request.capability.CopyFrom(altered(ready, change, PrivateKey.generate()))
    return request


async def test_g16_a_flood_of_refused_calls_leaves_nothing_behind(
    installation: Installation, team: Team, holder: Wire, storage: Storage, services: tuple[ServiceProcess, ...]
) -> None:
    # Given what is stored, and what is in the logs
    ready = await team.ready()
    before, logged = storage.dump(), sum(len(process.said) for process in services)
    with Redis.from_url(installation.redis_url) as redis:
        names = set(redis.scan_iter("*"))
        # When hundreds of calls come with keys and proofs of nobody, and commits with made-up capabilities
        data = commit_of(ready).SerializeToString()
        strangers = [holder.proof("CommitValidated", data, private_key=PrivateKey.generate()) for _ in range(200)]
        calls = [holder.refused("CommitValidated", data, proofs=[proof]) for proof in strangers]
        calls += [holder.refused("CommitValidated", _made_up(ready)) for _ in range(200)]
        failures = await all_of(calls)
        # Then all are refused, and nothing is kept of them
        assert {failure.reason for failure in failures} == {"CALLER_UNAUTHENTICATED", "ISSUER_UNKNOWN"}
        # But for what the services ask Redis by, which comes and goes.
        assert {name for name in redis.scan_iter("*") if not name.endswith(b":probe")} <= names
    assert storage.dump() == before
    assert sum(len(process.said) for process in services) < logged + 10_000, "a line for each call has more"
