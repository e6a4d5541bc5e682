"""Verbs of ProposalService: propose, validate, decide."""

from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime
from typing import Unpack
from uuid import uuid4

from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.content import Content, content_bytes
from capability_authority.client.grant_values import HeldGrant
from capability_authority.client.times import time_message
from capability_authority.client.values import Finding, Proposal, ProposalWithdrawal, RevisionLike, Validation
from capability_authority.client.words import (
    MemoryType,
    ProposalState,
    Visibility,
    memory_type_number,
    name_of,
    visibility_number,
    word_of,
)
from capability_authority.v1 import proposal_service_pb2 as pb
from capability_authority.v1 import types_pb2

__all__ = ["ProposalVerbs", "finding_of"]


class ProposalVerbs(Connection):
    """Proposals of learned memory. Nothing here writes memory."""

    async def propose(  # noqa: PLR0913  # every field of a proposal by its name
        self,
        *,
        memory_namespace: str,
        memory_type: MemoryType,
        content: Content,
        media_type: str | None = None,
        source_refs: Iterable[str] = (),
        subject_refs: Iterable[str] = (),
        evidence_digests: Iterable[str] = (),
        validator_profile: str = "",
        visibility: Visibility | None = None,
        visibility_scope: str = "",
        valid_from_time: datetime | None = None,
        valid_until_time: datetime | None = None,
        record_expire_time: datetime | None = None,
        expire_time: datetime | None = None,
        correlation_id: str = "",
        costs: Iterable[types_pb2.Cost] = (),
        proposal_id: str = "",
        grant: HeldGrant | None = None,
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> Proposal:
        """Store a new proposal or, with `proposal_id`, the next revision of one of the caller's own.

        A dict or list is sent as canonical JSON, a str as plain text, bytes as they are with their `media_type`. Times
        are cut to milliseconds. A channel or team is named by `visibility_scope`. An empty `request_id` is made up: the
        same for all attempts of this call.

        The revision expires at `expire_time`, at most 30 days from now and by then when None, and never lives longer
        than what it says: its `valid_until_time` and `record_expire_time` end it as well.

        Under a `grant` for `memory.propose` that the caller holds, its subject's right is used; the proposal names all
        who acted.

        Raises `JsonError` or `ValueError` for content that cannot be sent, and `AuthorityError`: `NotAllowed` without
        the right `propose` or for a channel or team of others, `NotFound` for an unknown memory namespace,
        `AlreadyCommitted` for a committed proposal; under a grant also `GrantExceeded` with its `dimension`,
        `HolderMismatch`, `Expired`, `Revoked`.
        """
        data, kind = content_bytes(content, media_type)
        request = pb.CreateProposalRequest(
            request_id=request_id,
            proposal_id=proposal_id,
            memory_namespace=memory_namespace,
            memory_type=memory_type_number(memory_type),
            content=data,
            media_type=kind,
            source_refs=source_refs,
            subject_refs=subject_refs,
            evidence_digests=evidence_digests,
            validator_profile=validator_profile,
            visibility=visibility_number(visibility),
            visibility_scope=visibility_scope,
            valid_from_time=time_message(valid_from_time),
            valid_until_time=time_message(valid_until_time),
            record_expire_time=time_message(record_expire_time),
            correlation_id=correlation_id,
            costs=costs,
            expire_time=time_message(expire_time),
            grant=None if grant is None else grant.statement,
            grant_ancestors=() if grant is None else grant.ancestors,
        )
        return Proposal((await self._send(request, pb.CreateProposalResponse, **options)).proposal)

    async def get_proposal(self, proposal_id: str, *, revision: int = 0, **options: Unpack[CallOptions]) -> Proposal:
        """Read a revision with its content and newest validation receipt; 0 is the newest revision.

        Raises `AuthorityError`, `NotFound` when it is absent or not visible to the caller.
        """
        request = pb.GetProposalRequest(proposal_id=proposal_id, revision=revision)
        response = await self._send(request, pb.GetProposalResponse, **options)
        receipt = response.validation_receipt if response.HasField("validation_receipt") else None
        return Proposal(response.proposal, receipt, tuple(response.decisions), response.content_erased)

    async def list_proposals(
        self,
        *,
        memory_namespace: str,
        state: ProposalState | None = None,
        page_size: int = 0,
        **options: Unpack[CallOptions],
    ) -> AsyncIterator[Proposal]:
        """Proposals without their content, page after page, each page a call of its own.

        `state` "validated" is the review queue; None is every state. A page has 50 when `page_size` is 0, 200 at most.
        """
        request = pb.ListProposalsRequest(memory_namespace=memory_namespace, page_size=page_size)
        if state is not None:
            request.state = pb.ProposalState.Value(name_of(pb.ProposalState, state))
        while True:
            response = await self._send(request, pb.ListProposalsResponse, **options)
            for proposal in response.proposals:
                yield Proposal(proposal)
            if not response.next_page_token:
                return
            request.page_token = response.next_page_token

    async def validate(
        self, proposal: RevisionLike, *, request_id: str = "", **options: Unpack[CallOptions]
    ) -> Validation:
        """Have a revision validated by its profile.

        Validators are waited for 30 seconds, or as long as `timeout` allows. When they need longer, `state` is
        "validating": ask again with the `request_id` of the answer, which goes on waiting for the same run. Raises
        `AuthorityError`.
        """
        request_id = request_id or str(uuid4())
        request = pb.ValidateProposalRequest(
            request_id=request_id, proposal_id=proposal.proposal_id, revision=proposal.revision
        )
        response = await self._send(request, pb.ValidateProposalResponse, **options)
        return Validation(
            receipt=response.validation_receipt,
            outcome=word_of(types_pb2.ValidationOutcome, response.outcome),
            findings=tuple(map(finding_of, response.findings)),
            state=word_of(pb.ProposalState, response.state),
            request_id=request_id,
        )

    async def withdraw(
        self, proposal: Proposal | str, *, request_id: str = "", **options: Unpack[CallOptions]
    ) -> ProposalWithdrawal:
        """Withdraw a proposal with all its revisions for ever, named by itself or by its id.

        By its proposer or an admin. Once this returns nothing of it is committed, and no revision follows. Withdrawn
        before, by whomever: the time of that. Raises `AuthorityError`: `AlreadyCommitted`, `NotFound` for what is not
        there or not yours.
        """
        proposal_id = proposal if isinstance(proposal, str) else proposal.proposal_id
        request = pb.WithdrawProposalRequest(request_id=request_id, proposal_id=proposal_id)
        response = await self._send(request, pb.WithdrawProposalResponse, **options)
        return ProposalWithdrawal(response.withdraw_time.ToDatetime(tzinfo=UTC), response.replayed)


def finding_of(finding: types_pb2.ValidationFinding) -> Finding:
    """What one validator said."""
    return Finding(
        validator=finding.validator,
        validator_version=finding.validator_version,
        outcome=word_of(types_pb2.ValidationOutcome, finding.outcome),
        reason=finding.reason,
        confidence=finding.confidence_permille / 1000,
    )
