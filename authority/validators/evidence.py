"""Whether what a proposal cites as evidence is there, approved, and may be seen by whoever cites it."""

from authority.domain.evidence import EvidenceState
from authority.domain.material import CitedEvidence, Material, Need
from authority.domain.validation import Judgement
from authority.validators.protocol import passes, review


class Evidence:
    """Every evidence digest resolves to something that is approved and visible to the proposer."""

    name = "evidence"
    version = "1"
    needs = frozenset({Need.EVIDENCE})

    def judge(self, material: Material) -> Judgement:
        """Leaves the first that does not to a person, naming it by the beginning of its digest.

        What the proposer may not see is answered as what is not there.
        """
        return next((problem for cited in material.evidence if (problem := _problem(cited))), passes())


def _problem(cited: CitedEvidence) -> Judgement | None:
    named = cited.digest.hex()[:16]
    if cited.state is None:
        return review(f"evidence_unknown:{named}")
    return None if cited.state is EvidenceState.APPROVED else review(f"evidence_{cited.state.value}:{named}")
