"""The servicers of the small authority: each does what its RPC is for and judges next to nothing."""
# ruff: noqa: N802  # the contract names the methods

from collections.abc import AsyncIterator

import grpc

from capability_authority.offline import (
    PublicKey,
    capability_fingerprint,
    digest_of,
    from_wire,
    open_statement,
    sha256,
    sign,
    timestamp,
    to_wire,
)
from capability_authority.v1 import capability_service_pb2 as capability_pb
from capability_authority.v1 import memory_service_pb2 as memory_pb
from capability_authority.v1 import policy_service_pb2 as policy_pb
from capability_authority.v1 import proposal_service_pb2 as proposal_pb
from capability_authority.v1 import types_pb2 as types
from capability_authority.v1.capability_service_pb2_grpc import CapabilityServiceServicer
from capability_authority.v1.errors_pb2 import ERROR_REASON_BINDING_MISMATCH, ERROR_REASON_NOT_VALIDATED
from capability_authority.v1.memory_service_pb2_grpc import MemoryServiceServicer
from capability_authority.v1.policy_service_pb2_grpc import PolicyServiceServicer
from capability_authority.v1.proposal_service_pb2_grpc import ProposalServiceServicer
from capability_authority.v1.statements_pb2 import (
    CommitCapability,
    CommitReceipt,
    DecisionReceipt,
    Revocation,
    SignedStatement,
    ValidationReceipt,
)
from tests.integration.client.state import AUDIENCE, NOW_MS, TENANT, State
from tests.integration.client.witness import Context, Refusal


class ProposalServicer(ProposalServiceServicer):
    """Proposals in memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def CreateProposal(
        self, request: proposal_pb.CreateProposalRequest, context: Context
    ) -> proposal_pb.CreateProposalResponse:
        """Stores it; the request id is the proposal's, so that a retry is answered as one."""
        proposal = proposal_pb.Proposal(
            proposal_id=request.proposal_id or request.request_id,
            revision=2 if request.proposal_id else 1,
            state=proposal_pb.PROPOSAL_STATE_PROPOSED,
            memory_namespace=request.memory_namespace,
            memory_type=request.memory_type,
            provenance=types.PROVENANCE_AGENT_OUTPUT,
            content=request.content,
            content_digest=to_wire(sha256(request.content)),
            media_type=request.media_type,
            evidence_digests=request.evidence_digests,
            proposal_digest=to_wire(sha256(b"proposal" + request.content)),
            record_expire_time=request.record_expire_time if request.HasField("record_expire_time") else None,
            visibility=request.visibility,
        )
        self._state.proposals[proposal.proposal_id] = proposal
        return proposal_pb.CreateProposalResponse(proposal=proposal)

    async def GetProposal(
        self, request: proposal_pb.GetProposalRequest, context: Context
    ) -> proposal_pb.GetProposalResponse:
        """The newest revision."""
        if request.proposal_id not in self._state.proposals:
            raise Refusal(grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
        proposal = self._state.proposals[request.proposal_id]
        return proposal_pb.GetProposalResponse(proposal=proposal, content_erased=not proposal.content)

    async def ListProposals(
        self, request: proposal_pb.ListProposalsRequest, context: Context
    ) -> proposal_pb.ListProposalsResponse:
        """Pages of two; of whatever awaits review, which is all, it says why."""
        page, token = self._state.page(list(self._state.proposals.values()), request.page_token)
        why = proposal_pb.AwaitedReview(asking_policies=["ask"], persons_needed=2, persons_approving=1)
        reviews = [why for _ in page] if request.awaits_review else ()
        return proposal_pb.ListProposalsResponse(proposals=page, next_page_token=token, reviews=reviews)

    async def ValidateProposal(
        self, request: proposal_pb.ValidateProposalRequest, context: Context
    ) -> proposal_pb.ValidateProposalResponse:
        """Passes everything; where it takes long, when the same request asks again."""
        proposal = self._state.proposals[request.proposal_id]
        if self._state.takes_long and request.request_id not in self._state.validating:
            self._state.validating.add(request.request_id)
            return proposal_pb.ValidateProposalResponse(state=proposal_pb.PROPOSAL_STATE_VALIDATING)
        proposal.state = proposal_pb.PROPOSAL_STATE_VALIDATED
        finding = types.ValidationFinding(
            validator="schema", validator_version="1", outcome=types.VALIDATION_OUTCOME_PASS, confidence_permille=1000
        )
        receipt = ValidationReceipt(
            validation_id=self._state.new_id(),
            issuer=self._state.issuer,
            tenant=TENANT,
            memory_namespace=proposal.memory_namespace,
            proposal_id=proposal.proposal_id,
            proposal_revision=proposal.revision,
            proposal_digest=from_wire(proposal.proposal_digest),
            validator_profile="baseline",
            validator_profile_version="1",
            findings=[finding],
            outcome=types.VALIDATION_OUTCOME_PASS,
            validate_time=timestamp(NOW_MS),
            expire_time=timestamp(NOW_MS + 1000),
        )
        return proposal_pb.ValidateProposalResponse(
            validation_receipt=sign(receipt, self._state.signing[types.KEY_PURPOSE_VALIDATION]),
            outcome=types.VALIDATION_OUTCOME_PASS,
            findings=[finding],
            state=proposal.state,
        )

    async def DecideProposal(
        self, request: proposal_pb.DecideProposalRequest, context: Context
    ) -> proposal_pb.DecideProposalResponse:
        """Takes a decision on exactly the digest that is stored, or many."""
        if request.decisions:
            return proposal_pb.DecideProposalResponse(outcomes=map(self._decide_one, request.decisions))
        proposal = self._state.proposals[request.proposal_id]
        assert request.proposal_digest == proposal.proposal_digest
        approved = request.verdict == proposal_pb.DecideProposalRequest.VERDICT_APPROVE
        proposal.state = proposal_pb.PROPOSAL_STATE_APPROVED if approved else proposal_pb.PROPOSAL_STATE_REJECTED
        return proposal_pb.DecideProposalResponse(approval_reference=self._state.new_id(), state=proposal.state)

    def _decide_one(self, decision: proposal_pb.ProposalDecision) -> proposal_pb.DecisionOfMany:
        """Refuses what another digest than the stored one names, alone."""
        proposal = self._state.proposals[decision.proposal_id]
        if decision.proposal_digest != proposal.proposal_digest:
            facts = {"term": "proposal_digest"}
            status = Refusal(grpc.StatusCode.PERMISSION_DENIED, "BINDING_MISMATCH", facts).status()
            return proposal_pb.DecisionOfMany(status=status)
        result = proposal_pb.DecideProposalResponse(approval_reference=self._state.new_id(), state=proposal.state)
        return proposal_pb.DecisionOfMany(result=result)

    async def WithdrawProposal(
        self, request: proposal_pb.WithdrawProposalRequest, context: Context
    ) -> proposal_pb.WithdrawProposalResponse:
        """Marks it, once."""
        if request.proposal_id not in self._state.proposals:
            raise Refusal(grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
        proposal = self._state.proposals[request.proposal_id]
        replayed = proposal.state == proposal_pb.PROPOSAL_STATE_WITHDRAWN
        proposal.state = proposal_pb.PROPOSAL_STATE_WITHDRAWN
        return proposal_pb.WithdrawProposalResponse(withdraw_time=timestamp(NOW_MS), replayed=replayed)


class PolicyServicer(PolicyServiceServicer):
    """Decides as the test says."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def EvaluatePolicy(
        self, request: policy_pb.EvaluatePolicyRequest, context: Context
    ) -> policy_pb.EvaluatePolicyResponse:
        """Decides as the test says."""
        decision = DecisionReceipt(
            decision_id=self._state.new_id(), issuer=self._state.issuer, tenant=TENANT, outcome=self._state.outcome
        )
        return policy_pb.EvaluatePolicyResponse(
            decision_receipt=sign(decision, self._state.signing[types.KEY_PURPOSE_DECISION]),
            outcome=self._state.outcome,
            determining_policies=["allow-approved"],
            policy_version=to_wire(sha256(b"policy")),
        )

    async def GetPolicyVersion(
        self, request: policy_pb.GetPolicyVersionRequest, context: Context
    ) -> policy_pb.GetPolicyVersionResponse:
        """Has one bundle."""
        return policy_pb.GetPolicyVersionResponse(
            policy_version=request.policy_version,
            bundle="forbid (principal, action, resource);",
            load_time=timestamp(NOW_MS),
            active_memory_namespaces=["notes"],
        )


class CapabilityServicer(CapabilityServiceServicer):
    """Signs for real."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def BatchCommitValidated(
        self, request: capability_pb.BatchCommitValidatedRequest, context: Context
    ) -> capability_pb.BatchCommitValidatedResponse:
        """One after the other, each with an outcome of its own; those that the test wants refused are."""
        outcomes = [await self._outcome(item, context) for item in request.requests]
        told = outcomes[: len(outcomes) - self._state.dropped_outcomes]
        return capability_pb.BatchCommitValidatedResponse(outcomes=told)

    async def StreamCommitValidated(
        self, request_iterator: AsyncIterator[capability_pb.StreamCommitValidatedRequest], context: Context
    ) -> AsyncIterator[capability_pb.StreamCommitValidatedResponse]:
        """One after the other, as they come, until the stream ends as the test says."""
        await context.send_initial_metadata(())
        end = self._state.stream_ends.popleft() if self._state.stream_ends else None
        keys: list[str] = []
        self._state.streamed.append(keys)
        while end is None or len(keys) < end.told + end.lost:
            item = await anext(request_iterator, None)
            if item is None:
                return
            keys.append(item.commit.presentation.commit_idempotency_key)
            outcome = await self._outcome(item.commit, context)
            if keys[-1] not in self._state.silent_items and (end is None or len(keys) <= end.told):
                yield capability_pb.StreamCommitValidatedResponse(tag=item.tag, outcome=outcome)
        if end.refusal:
            raise end.refusal

    async def _outcome(
        self, item: capability_pb.CommitValidatedRequest, context: Context
    ) -> capability_pb.CommitOutcome:
        refusals = self._state.refused_items[item.presentation.commit_idempotency_key]
        try:
            if refusals:
                raise refusals.popleft()
            return capability_pb.CommitOutcome(result=await self.CommitValidated(item, context))
        except Refusal as refusal:
            return capability_pb.CommitOutcome(status=refusal.status())

    async def BatchIssueCapabilities(
        self, request: capability_pb.BatchIssueCapabilitiesRequest, context: Context
    ) -> capability_pb.BatchIssueCapabilitiesResponse:
        """One after the other, as BatchCommitValidated."""
        outcomes = [await self._issue_outcome(item, context) for item in request.requests]
        told = outcomes[: len(outcomes) - self._state.dropped_outcomes]
        return capability_pb.BatchIssueCapabilitiesResponse(outcomes=told)

    async def _issue_outcome(
        self, item: capability_pb.IssueCapabilityRequest, context: Context
    ) -> capability_pb.IssueOutcome:
        refusals = self._state.refused_items[item.commit_idempotency_key]
        if refusals:
            return capability_pb.IssueOutcome(status=refusals.popleft().status())
        result = await self.IssueCapability(item, context)
        if item.commit_idempotency_key in self._state.unreadable_items:
            result.capability.payload = b"\xff"
        return capability_pb.IssueOutcome(result=result)

    async def IssueCapability(
        self, request: capability_pb.IssueCapabilityRequest, context: Context
    ) -> capability_pb.IssueCapabilityResponse:
        """Binds what is stored."""
        proposal = self._state.proposals[request.proposal_id]
        seconds = request.lifetime.seconds or 900
        terms = CommitCapability(
            capability_id=self._state.new_id(),
            issuer=self._state.issuer,
            audience=request.audience,
            tenant=TENANT,
            memory_namespace=proposal.memory_namespace,
            holder=request.holder,
            holder_key=from_wire(request.holder_key_id),
            action="memory.commit-validated",
            proposal_id=proposal.proposal_id,
            proposal_revision=proposal.revision,
            proposal_digest=from_wire(proposal.proposal_digest),
            content_digest=from_wire(proposal.content_digest),
            media_type=proposal.media_type,
            evidence_digests=map(from_wire, proposal.evidence_digests),
            validator_profile="baseline",
            validator_profile_version="1",
            validation_receipt_digest=digest_of(request.validation_receipt),
            policy_version=sha256(b"policy"),
            decision_receipt_digest=digest_of(request.decision_receipt),
            commit_idempotency_key=request.commit_idempotency_key,
            not_before_time=timestamp(NOW_MS),
            expire_time=timestamp(NOW_MS + seconds * 1000),
            max_uses=1,
        )
        return capability_pb.IssueCapabilityResponse(
            capability=sign(terms, self._state.signing[types.KEY_PURPOSE_CAPABILITY]), capability_id=terms.capability_id
        )

    async def VerifyCapability(
        self, request: capability_pb.VerifyCapabilityRequest, context: Context
    ) -> capability_pb.VerifyCapabilityResponse:
        """Judges the content alone."""
        terms = self._terms(request.capability)
        presented = sha256(request.presentation.content)
        if request.HasField("presentation") and presented != terms.content_digest:
            return capability_pb.VerifyCapabilityResponse(
                verdict=capability_pb.VerifyCapabilityResponse.VERDICT_REFUSED,
                reason=ERROR_REASON_BINDING_MISMATCH,
                facts={"term": "content_digest"},
            )
        return capability_pb.VerifyCapabilityResponse(verdict=capability_pb.VerifyCapabilityResponse.VERDICT_GRANTED)

    async def CommitValidated(
        self, request: capability_pb.CommitValidatedRequest, context: Context
    ) -> capability_pb.CommitValidatedResponse:
        """Commits once by key; content, media type and key must be the bound ones."""
        terms, presented = self._terms(request.capability), request.presentation
        if presented.commit_idempotency_key in self._state.receipts:
            answer = capability_pb.CommitValidatedResponse()
            answer.CopyFrom(self._state.receipts[presented.commit_idempotency_key])
            answer.replayed = True
            return answer
        bound = {
            "content_digest": terms.content_digest == sha256(presented.content),
            "media_type": terms.media_type == presented.media_type,
            "evidence_digests": list(map(to_wire, terms.evidence_digests)) == list(presented.evidence_digests),
            "commit_idempotency_key": terms.commit_idempotency_key == presented.commit_idempotency_key,
        }
        for term, is_bound in bound.items():
            if not is_bound:
                raise Refusal(grpc.StatusCode.PERMISSION_DENIED, "BINDING_MISMATCH", {"term": term})
        receipt = CommitReceipt(
            receipt_id=self._state.new_id(),
            issuer=self._state.issuer,
            record_id=self._state.new_id(),
            capability=terms,
            capability_digest=digest_of(request.capability),
            request_fingerprint=capability_fingerprint(
                terms,
                content_digest=to_wire(sha256(presented.content)),
                media_type=presented.media_type,
                evidence_digests=presented.evidence_digests,
            ),
            commit_time=timestamp(NOW_MS),
        )
        return self._store(receipt, presented.content)

    def _store(self, receipt: CommitReceipt, content: bytes) -> capability_pb.CommitValidatedResponse:
        terms = receipt.capability
        self._state.records[receipt.record_id] = memory_pb.MemoryRecord(
            record_id=receipt.record_id,
            validated=True,
            memory_namespace=terms.memory_namespace,
            memory_type=self._state.proposals[terms.proposal_id].memory_type,
            provenance=types.PROVENANCE_AGENT_OUTPUT,
            content=content,
            content_digest=to_wire(sha256(content)),
            media_type=terms.media_type,
            receipt_id=receipt.receipt_id,
        )
        response = capability_pb.CommitValidatedResponse(
            receipt=sign(receipt, self._state.signing[types.KEY_PURPOSE_RECEIPT]),
            receipt_id=receipt.receipt_id,
            record_id=receipt.record_id,
            revision_token="fresh",
        )
        self._state.receipts[terms.commit_idempotency_key] = response
        return response

    async def RevokeCapability(
        self, request: capability_pb.RevokeCapabilityRequest, context: Context
    ) -> capability_pb.RevokeCapabilityResponse:
        """Remembers the id."""
        replayed = request.capability_id in self._state.revoked
        self._state.revoked.add(request.capability_id)
        return capability_pb.RevokeCapabilityResponse(revoke_time=timestamp(NOW_MS), replayed=replayed)

    async def GetCommitReceipt(
        self, request: capability_pb.GetCommitReceiptRequest, context: Context
    ) -> capability_pb.GetCommitReceiptResponse:
        """By any of the three names."""
        for key, stored in self._state.receipts.items():
            if (request.receipt_id, request.record_id, request.commit_idempotency_key) in {
                (stored.receipt_id, "", ""),
                ("", stored.record_id, ""),
                ("", "", key),
            }:
                return capability_pb.GetCommitReceiptResponse(
                    receipt=stored.receipt,
                    receipt_id=stored.receipt_id,
                    record_id=stored.record_id,
                    attestation=stored.attestation if stored.HasField("attestation") else None,
                )
        raise Refusal(grpc.StatusCode.NOT_FOUND, "NOT_FOUND")

    async def ListCommitReceipts(
        self, request: capability_pb.ListCommitReceiptsRequest, context: Context
    ) -> capability_pb.ListCommitReceiptsResponse:
        """Pages of two."""
        entries = [
            capability_pb.ListCommitReceiptsResponse.Entry(
                receipt=stored.receipt, receipt_id=stored.receipt_id, record_id=stored.record_id
            )
            for stored in self._state.receipts.values()
        ]
        page, token = self._state.page(entries, request.page_token)
        return capability_pb.ListCommitReceiptsResponse(receipts=page, next_page_token=token)

    async def WatchRevocations(
        self, request: capability_pb.WatchRevocationsRequest, context: Context
    ) -> AsyncIterator[capability_pb.WatchRevocationsResponse]:
        """Tells what the test says, after the cursor, and ends, as an old stream does."""
        for message in [*self._state.feed]:
            if not message.revocations or _sequence_of(message) > request.cursor:
                yield message

    async def GetKeySet(
        self, request: capability_pb.GetKeySetRequest, context: Context
    ) -> capability_pb.GetKeySetResponse:
        """The keys that sign now, and those that were revoked."""
        keys = [
            capability_pb.GetKeySetResponse.Key(
                key_id=key.public_key.key_id,
                public_key=key.public_key.raw,
                purpose=purpose,
                state=types.KEY_STATE_ACTIVE,
            )
            for purpose, key in self._state.signing.items()
        ]
        return capability_pb.GetKeySetResponse(
            issuer=self._state.issuer, audience=AUDIENCE, keys=[*keys, *self._state.old_keys]
        )

    def _terms(self, capability: SignedStatement) -> CommitCapability:
        key = self._state.signing[types.KEY_PURPOSE_CAPABILITY].public_key
        keys: dict[str, PublicKey] = {key.key_id: key}
        return open_statement(capability, expected=CommitCapability, keys=keys.get)


class MemoryServicer(MemoryServiceServicer):
    """Records in memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def GetMemoryRecord(
        self, request: memory_pb.GetMemoryRecordRequest, context: Context
    ) -> memory_pb.GetMemoryRecordResponse:
        """What was committed."""
        if request.record_id not in self._state.records:
            raise Refusal(grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
        return memory_pb.GetMemoryRecordResponse(record=self._state.records[request.record_id])

    async def RecallRecords(
        self, request: memory_pb.RecallRecordsRequest, context: Context
    ) -> memory_pb.RecallRecordsResponse:
        """Records that hold the words as they stand, in pages of two."""
        found = [record for record in self._state.records.values() if request.query.encode() in record.content]
        page, token = self._state.page(found, request.page_token)
        hits = [
            memory_pb.RecallRecordsResponse.Hit(
                record=record,
                score_millionths=500_000,
                observe_time=timestamp(NOW_MS),
                state=memory_pb.RECORD_STATE_LIVE,
            )
            for record in page[: request.page_size]
        ]
        return memory_pb.RecallRecordsResponse(hits=hits, next_page_token=token)

    async def ExportRecord(
        self, request: memory_pb.ExportRecordRequest, context: Context
    ) -> memory_pb.ExportRecordResponse:
        """The record with its receipt, in whichever form; what the test spoils is spoiled."""
        record = memory_pb.MemoryRecord()
        record.CopyFrom(self._state.records[request.record_id])
        (receipt,) = (it for it in self._state.receipts.values() if it.record_id == record.record_id)
        record.content += self._state.spoils_exports
        export = memory_pb.RecordExport(record=record, receipt=receipt.receipt, state=memory_pb.RECORD_STATE_LIVE)
        return memory_pb.ExportRecordResponse(export=export)

    async def RegisterCitation(
        self, request: memory_pb.RegisterCitationRequest, context: Context
    ) -> memory_pb.RegisterCitationResponse:
        """Keeps it."""
        record = self._state.records[request.record_id]
        citation = memory_pb.Citation(
            citation_id=self._state.new_id(),
            record_id=record.record_id,
            memory_namespace=record.memory_namespace,
            content_digest=record.content_digest,
            receipt_digest=to_wire(sha256(b"receipt")),
            cited_by=types.PrincipalRef(namespace="acme", id="reader"),
            citing_kind=request.citing_kind,
            citing_ref=request.citing_ref,
            create_time=timestamp(NOW_MS),
        )
        self._state.citations.append(citation)
        return memory_pb.RegisterCitationResponse(citation=citation)

    async def ListCitations(
        self, request: memory_pb.ListCitationsRequest, context: Context
    ) -> memory_pb.ListCitationsResponse:
        """Pages of two."""
        names = {request.record_id, request.content.content_digest} - {""}
        found = [it for it in self._state.citations if {it.record_id, it.content_digest} & names]
        page, token = self._state.page(found, request.page_token)
        return memory_pb.ListCitationsResponse(citations=page, next_page_token=token)

    async def ListMemoryRecords(
        self, request: memory_pb.ListMemoryRecordsRequest, context: Context
    ) -> memory_pb.ListMemoryRecordsResponse:
        """Pages of two."""
        page, token = self._state.page(list(self._state.records.values()), request.page_token)
        return memory_pb.ListMemoryRecordsResponse(records=page, next_page_token=token)

    async def RevokeRecord(
        self, request: memory_pb.RevokeRecordRequest, context: Context
    ) -> memory_pb.RevokeRecordResponse:
        """Forgets the record, and remembers its id."""
        replayed = request.record_id in self._state.revoked
        if not replayed and self._state.records.pop(request.record_id, None) is None:
            raise Refusal(grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
        self._state.revoked.add(request.record_id)
        return memory_pb.RevokeRecordResponse(
            revoke_time=timestamp(NOW_MS), sequence=7, replayed=replayed, revision_token="token"
        )

    async def CorrectRecord(
        self, request: memory_pb.CorrectRecordRequest, context: Context
    ) -> memory_pb.CorrectRecordResponse:
        """Stores a proposal, whose id is the request's."""
        if request.record_id not in self._state.records:
            raise Refusal(grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
        corrected = self._state.records[request.record_id]
        proposal = proposal_pb.Proposal(
            proposal_id=request.request_id,
            revision=1,
            state=proposal_pb.PROPOSAL_STATE_PROPOSED,
            memory_namespace=corrected.memory_namespace,
            memory_type=request.memory_type or corrected.memory_type,
            content=request.content,
            media_type=request.media_type,
            visibility=request.visibility,
            supersedes_record_id=request.record_id,
        )
        self._state.proposals[proposal.proposal_id] = proposal
        return memory_pb.CorrectRecordResponse(proposal=proposal)

    async def WriteUnvalidatedRecord(
        self, request: memory_pb.WriteUnvalidatedRecordRequest, context: Context
    ) -> memory_pb.WriteUnvalidatedRecordResponse:
        """Stores a record, whose id is the request's, and would have refused it."""
        record = memory_pb.MemoryRecord(
            record_id=request.request_id,
            memory_namespace=request.memory_namespace,
            memory_type=request.memory_type,
            content=request.content,
            media_type=request.media_type,
            visibility=request.visibility,
        )
        replayed = request.request_id in self._state.records
        self._state.records[record.record_id] = record
        return memory_pb.WriteUnvalidatedRecordResponse(
            record=record,
            observation=memory_pb.WriteUnvalidatedRecordResponse.Observation(
                would_refuse=ERROR_REASON_NOT_VALIDATED, validators=["secrets:aws_key"], policies=["deny-failed"]
            ),
            replayed=replayed,
        )


def _sequence_of(message: capability_pb.WatchRevocationsResponse) -> int:
    """Of its last item."""
    return Revocation.FromString(message.revocations[-1].payload).sequence
