"""What validators say of content that is like living memory, or could not be compared with all of it."""

import pytest

from authority.domain.material import Alike, Material, NearRecord
from authority.domain.validation import Judgement, ValidationOutcome
from authority.validators.contradiction import CONFIDENCE, Contradiction
from authority.validators.near_duplicate import THRESHOLD_PERMILLE, NearDuplicate

PASS, REVIEW, _ = ValidationOutcome


def beside(alike: Alike | None) -> Material:
    return Material(content=b"tea", media_type="text/plain", alike=alike)


@pytest.mark.parametrize("validator", [NearDuplicate(), Contradiction()])
def test_what_could_not_be_compared_passes_neither(validator: NearDuplicate | Contradiction) -> None:
    assert validator.judge(beside(None)) == Judgement(REVIEW, "not_compared")
    assert validator.judge(beside(Alike(is_complete=False))) == Judgement(REVIEW, "too_many_to_compare")
    assert validator.judge(beside(Alike())) == Judgement(PASS)


def test_what_is_as_like_as_that_is_left_to_a_person_and_the_likest_is_named() -> None:
    def judged(*permille: int) -> Judgement:
        near = tuple(NearRecord(f"r{number}", of) for number, of in enumerate(permille))
        return NearDuplicate().judge(beside(Alike(near=near)))

    at = THRESHOLD_PERMILLE
    assert judged(at - 1) == Judgement(PASS)
    assert judged(at) == Judgement(REVIEW, "near_duplicate_of:r0", at)
    assert judged(at, at + 2, at + 1) == Judgement(REVIEW, "near_duplicate_of:r1", at + 2)


def test_a_contradiction_is_named_though_there_was_more_to_compare_with() -> None:
    found = Alike(contradicted=("r1", "r2"), is_complete=False)
    assert Contradiction().judge(beside(found)) == Judgement(REVIEW, "contradicts:r1", CONFIDENCE)
