"""Which approvals count, and of how many persons (semantics §7).

A quorum counts persons, not principals: whoever is linked with another is one person with them. The proposer, the chain
of actors it was proposed through, the subject of its grant, and whoever is one person with any of these, never count
(case I16).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from authority.domain.decision import Approval, ApprovalVerdict, Decider, DecisionOutcome, PolicyAnswer
from authority.domain.proposal import ProposalRevision
from authority.domain.references import Instant, PrincipalRef


def interested(revision: ProposalRevision) -> frozenset[PrincipalRef]:
    """Whose own matter a revision is: nobody who is one person with any of them decides on it."""
    subject = (revision.subject,) if revision.subject else ()
    return frozenset((revision.proposer, *revision.actor_chain, *subject))


@dataclass(frozen=True, slots=True)
class Electorate:
    """What says whether an approval of a revision counts now, for one who would commit it."""

    deciders: Mapping[PrincipalRef, Decider]
    """Of everybody who decided on the revision."""
    interested: frozenset[PrincipalRef]
    validation_digest: bytes
    holder: PrincipalRef
    now: Instant

    def standing(self, approvals: Sequence[Approval]) -> tuple[Approval, ...]:
        """One approval that counts for each person, the newest first.

        `approvals` are the decisions on the revision in the order in which they were taken. One against, of anybody,
        takes every approval before it back; what policy said is no person's approval and counts never.
        """
        by_person: dict[frozenset[PrincipalRef], Approval] = {}
        for approval in _since_the_last_against(approvals):
            decider = self.deciders.get(approval.decided_by) if approval.decided_by else None
            if decider and self._counts(approval, decider):
                by_person.setdefault(decider.person, approval)
        return tuple(by_person.values())

    def _counts(self, approval: Approval, decider: Decider) -> bool:
        return (
            decider.may_decide
            and decider.person.isdisjoint(self.interested)
            and approval.validation_receipt_digest == self.validation_digest
            and approval.holder in (None, self.holder)
            and self.now < approval.expire_time
            and not approval.is_used_up
        )


def unless_taken_back(answer: PolicyAnswer, approvals: Sequence[Approval]) -> PolicyAnswer:
    """What policy answers for a revision that a person took back once: from then on a person must approve it.

    So whoever takes back what policy allowed by itself is not overruled by asking policy again.
    """
    back = next((it for it in reversed(approvals) if it.verdict is ApprovalVerdict.REVOKE), None)
    if back is None or answer.outcome is not DecisionOutcome.ALLOW:
        return answer
    return PolicyAnswer(DecisionOutcome.REQUIRE_APPROVAL, (f"person:{back.reference}",), persons_needed=1)


def _since_the_last_against(approvals: Sequence[Approval]) -> Iterator[Approval]:
    """The approvals that nobody took back, the newest first."""
    since = takewhile(lambda it: not it.verdict.is_against, reversed(approvals))
    return (it for it in since if it.verdict is ApprovalVerdict.APPROVE)
