"""What validators say of a proposal revision, and by which profiles they are asked (semantics §7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from authority.domain.material import Need
from authority.domain.references import Instant, TenantRef
from authority.domain.statement import Statement

BASELINE = "baseline"
BASELINE_VERSION = "1"
CERTAIN = 1000


class ValidationOutcome(Enum):
    """Pass, leave it to a person, or fail; the worst finding decides."""

    PASS = "pass"  # noqa: S105 - an outcome, not a password
    REVIEW = "review"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a validator answers. `reason` is a machine word, empty for a pass; `confidence_permille` of 0 to 1000."""

    outcome: ValidationOutcome
    reason: str = ""
    confidence_permille: int = CERTAIN


@dataclass(frozen=True, slots=True)
class Finding:
    """What one validator said. `confidence_permille` runs from 0 to 1000; `reason` is empty for a pass."""

    validator: str
    validator_version: str
    outcome: ValidationOutcome
    reason: str
    confidence_permille: int


@dataclass(frozen=True, slots=True)
class ValidatorName:
    """Which validator, in which version. Another version may judge otherwise."""

    name: str
    version: str

    def finds(self, judgement: Judgement) -> Finding:
        """The judgement as a finding of this validator."""
        return Finding(self.name, self.version, judgement.outcome, judgement.reason, judgement.confidence_permille)


@dataclass(frozen=True, slots=True)
class Profile:
    """Validators that judge together, in this order. A profile's version binds theirs."""

    name: str
    version: str
    validators: tuple[ValidatorName, ...]
    needs: frozenset[Need]
    is_quick: bool
    """Whether it answers at once: nothing in it takes noticeable time."""

    def includes(self, least: "Profile") -> bool:
        """Whether whoever chooses this profile evades no validator of the least one."""
        mine = {validator.name for validator in self.validators}
        return mine >= {validator.name for validator in least.validators}


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationReceipt:
    """The payload that the validation key signs."""

    validation_id: str
    issuer: str
    tenant: TenantRef
    memory_namespace: str
    proposal_id: str
    proposal_revision: int
    proposal_digest: bytes
    validator_profile: str
    validator_profile_version: str
    findings: tuple[Finding, ...]
    outcome: ValidationOutcome
    validate_time: Instant
    expire_time: Instant


SECRET = "secret"  # noqa: S105 - the beginning of a reason
"""How the reason of a finding begins when it fails content for a credential, as "secret:aws"."""


@dataclass(frozen=True, slots=True)
class SignedValidation:
    """A validation receipt with its statement and digest."""

    receipt: ValidationReceipt
    statement: Statement
    digest: bytes


def failed_for_secrets(findings: Sequence[Finding]) -> bool:
    """Whether a validator failed the content for a credential in it: it is erased after its review (semantics §7)."""
    failing = (one.reason for one in findings if one.outcome is ValidationOutcome.FAIL)
    return any(reason.partition(":")[0] == SECRET for reason in failing)


def worst(findings: Sequence[Finding]) -> ValidationOutcome:
    """The outcome of a profile: that of its worst finding. A profile without validators passes nothing."""
    order = list(ValidationOutcome)
    return max((finding.outcome for finding in findings), key=order.index, default=ValidationOutcome.FAIL)
