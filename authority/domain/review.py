"""What waits for persons, and why (semantics §7)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.proposal import StoredProposal
from authority.domain.validation import Finding, ValidationOutcome


@dataclass(frozen=True, slots=True)
class AwaitedReview:
    """A validated revision that is not committed before persons have approved it; its content is left out."""

    proposal: StoredProposal
    findings: tuple[Finding, ...]
    """Of the validators that were not sure."""
    asking_policies: tuple[str, ...]
    """That asked for an approval when policy was evaluated last; none when it was not evaluated yet."""
    persons_needed: int
    persons_approving: int
    """Fewer than are needed. Whether an approval is for one holder alone is not looked at."""


def unsure(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """What a person is asked about."""
    return tuple(finding for finding in findings if finding.outcome is ValidationOutcome.REVIEW)
