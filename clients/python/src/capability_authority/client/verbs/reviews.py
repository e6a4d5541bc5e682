"""Verbs of review: what waits for persons, and what they decide."""

from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import Unpack
from uuid import uuid4

from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.credentials import Reference
from capability_authority.client.errors import TransportError
from capability_authority.client.failures import AuthorityError
from capability_authority.client.review_values import AwaitedReview, Decision, holder_message
from capability_authority.client.rpcs import RPCS
from capability_authority.client.statuses import KeyedCall, failure_in
from capability_authority.client.values import Proposal, Review
from capability_authority.client.verbs.proposals import finding_of
from capability_authority.client.words import ReviewVerdict, word_of
from capability_authority.v1 import proposal_service_pb2 as pb

__all__ = ["ReviewVerbs"]


class ReviewVerbs(Connection):
    """Decisions of persons on proposals of learned memory."""

    async def list_reviews(
        self, *, memory_namespace: str, page_size: int = 0, **options: Unpack[CallOptions]
    ) -> AsyncIterator[AwaitedReview]:
        """What waits for persons and why, the oldest first, page after page, each page a call of its own.

        An admin sees all of it, a user with the right `decide` what is not their own matter. Proposals come without
        their content. Raises `AuthorityError`, `NotAllowed` for whoever does not decide.
        """
        request = pb.ListProposalsRequest(memory_namespace=memory_namespace, page_size=page_size, awaits_review=True)
        while True:
            response = await self._send(request, pb.ListProposalsResponse, **options)
            for proposal, why in zip(response.proposals, response.reviews, strict=True):
                yield AwaitedReview(
                    proposal=Proposal(proposal),
                    findings=tuple(map(finding_of, why.findings)),
                    asking_policies=tuple(why.asking_policies),
                    persons_needed=why.persons_needed,
                    persons_approving=why.persons_approving,
                )
            if not response.next_page_token:
                return
            request.page_token = response.next_page_token

    async def decide(
        self,
        proposal: Proposal,
        verdict: ReviewVerdict,
        *,
        note: str = "",
        expire_time: datetime | None = None,
        holder: Reference | None = None,
        max_uses: int = 0,
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> Review:
        """Decide as a person on exactly the revision that was read: its digest goes along.

        `note` has at most 1,024 bytes. `expire_time` is when an approval stops counting; 30 days from now when None. It
        is for one `holder`, or whoever commits; at most `max_uses` decisions of policy rest on it, or any number for 0.
        "revoke" takes every earlier approval back, and no commit that follows the answer uses one; what policy allowed
        without a person it takes back, too, with the record that was committed, until somebody said "adopt".

        Raises `AuthorityError`: `NotAllowed` for whoever is no user or admin with the right `decide`, had a part in the
        proposal, or is one person with somebody who had.
        """
        decision = Decision(proposal, verdict, note, expire_time, holder, max_uses).message()
        request = pb.DecideProposalRequest(
            request_id=request_id,
            proposal_id=decision.proposal_id,
            revision=decision.revision,
            proposal_digest=decision.proposal_digest,
            verdict=decision.verdict,
            note=decision.note,
            expire_time=decision.expire_time if decision.HasField("expire_time") else None,
            holder=holder_message(holder),
            max_uses=max_uses,
        )
        response = await self._send(request, pb.DecideProposalResponse, **options)
        return _review(response)

    async def decide_many(
        self, decisions: Iterable[Decision], *, request_id: str = "", **options: Unpack[CallOptions]
    ) -> list[Review | AuthorityError]:
        """Decide on many revisions: for each, in order, what `decide` would return, or the exception it would raise.

        At most 512 in one request, each taken as if it were asked for after the one before it. The same `request_id`
        again takes those that were not taken, and answers the others as before; made up when it is empty, it is the
        same for all attempts of this call. Raises `AuthorityError` for what refuses them all: `NotAllowed` for whoever
        does not decide, `IdempotencyConflict` for a request id of another request.
        """
        request = pb.DecideProposalRequest(
            request_id=request_id or str(uuid4()), decisions=[it.message() for it in decisions]
        )
        if not request.decisions:
            return []
        response = await self._send(request, pb.DecideProposalResponse, **options)
        call = KeyedCall.of(RPCS["DecideProposal"], request)
        return [_outcome(call, it) for it in response.outcomes]


def _review(response: pb.DecideProposalResponse) -> Review:
    return Review(response.approval_reference, word_of(pb.ProposalState, response.state))


def _outcome(call: KeyedCall, outcome: pb.DecisionOfMany) -> Review | AuthorityError:
    if outcome.HasField("result"):
        return _review(outcome.result)
    if outcome.HasField("status"):
        return failure_in(call, outcome.status)
    return TransportError(call.failure(None, "the answer holds neither a result nor a refusal"))
