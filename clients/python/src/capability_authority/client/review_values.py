"""What reviewers are shown, and what they decide."""

from dataclasses import dataclass
from datetime import datetime

from capability_authority.client.credentials import Reference
from capability_authority.client.times import time_message
from capability_authority.client.values import Finding, Proposal
from capability_authority.client.words import ReviewVerdict, name_of
from capability_authority.v1 import proposal_service_pb2 as pb
from capability_authority.v1 import types_pb2

__all__ = ["AwaitedReview", "Decision"]


@dataclass(frozen=True, slots=True)
class AwaitedReview:
    """A proposal that waits for persons, without its content, and why it does."""

    proposal: Proposal
    findings: tuple[Finding, ...]
    """Of the validators that were not sure."""
    asking_policies: tuple[str, ...]
    """Policies that asked for persons when policy was evaluated last; none when it was not yet."""
    persons_needed: int
    persons_approving: int
    """Persons whose approval counts now, fewer than are needed."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One of many decisions: on exactly the revision that was read, as `decide` says."""

    proposal: Proposal
    verdict: ReviewVerdict
    note: str = ""
    expire_time: datetime | None = None
    holder: Reference | None = None
    max_uses: int = 0

    def message(self) -> pb.ProposalDecision:
        """As it is sent."""
        return pb.ProposalDecision(
            proposal_id=self.proposal.proposal_id,
            revision=self.proposal.revision,
            proposal_digest=self.proposal.proposal_digest,
            verdict=pb.DecideProposalRequest.Verdict.Value(name_of(pb.DecideProposalRequest.Verdict, self.verdict)),
            note=self.note,
            expire_time=time_message(self.expire_time),
            holder=holder_message(self.holder),
            max_uses=self.max_uses,
        )


def holder_message(holder: Reference | None) -> types_pb2.PrincipalRef | None:
    """The holder as it is sent; None for whoever commits."""
    return None if holder is None else types_pb2.PrincipalRef(namespace=holder.namespace, id=holder.id)
