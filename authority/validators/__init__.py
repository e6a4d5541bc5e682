"""Validators: named, versioned plug-ins that judge proposed content, composed into named, versioned profiles.

Whoever writes one needs what is here: `Validator` says what it has, `Material` what it is shown, and `passes`, `review`
and `fails` are its answers. docs/validators.md shows one, and how it is installed or hosted.
"""

from authority.domain.material import Alike, CitedEvidence, Material, NearRecord, Need
from authority.domain.validation import Judgement, ValidationOutcome
from authority.validators.protocol import Validator, fails, passes, review

__all__ = [
    "Alike",
    "CitedEvidence",
    "Judgement",
    "Material",
    "NearRecord",
    "Need",
    "ValidationOutcome",
    "Validator",
    "fails",
    "passes",
    "review",
]
