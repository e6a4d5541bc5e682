"""What every validator has, and what it may answer."""

from typing import Protocol

from authority.domain.material import Material
from authority.domain.validation import CERTAIN, Judgement, ValidationOutcome


class Validator(Protocol):
    """Judges content. It is given plain values, so that it can write nothing; it should keep nothing of them.

    One that needs facts looked up for it (`Need`) names them in an attribute `needs`. Many threads may call `judge` at
    once. What it raises, answers wrongly or does not answer in time is a finding `review`, never a pass.
    """

    @property
    def name(self) -> str:
        """At most 64 lowercase letters, digits and `_-.`; what findings and profiles call it."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever it may judge otherwise than before."""
        ...

    def judge(self, material: Material) -> Judgement:
        """What it says of the content."""
        ...


_PASSED = Judgement(ValidationOutcome.PASS)


def passes() -> Judgement:
    """There is nothing to say against it."""
    return _PASSED


def review(reason: str, confidence_permille: int = CERTAIN) -> Judgement:
    """A person has to look, because of this machine word: letters, digits and `._:@+/-`, nothing of the content."""
    return Judgement(ValidationOutcome.REVIEW, reason, confidence_permille)


def fails(reason: str, confidence_permille: int = CERTAIN) -> Judgement:
    """It must not become memory."""
    return Judgement(ValidationOutcome.FAIL, reason, confidence_permille)
