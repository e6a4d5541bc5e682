"""What validators say of a proposal revision, and the pure rules of the baseline profile (semantics §7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from authority.domain import limits
from authority.domain.proposal import StoredProposal, least_trusted, stamp_provenance
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
class Finding:
    """What one validator said. `confidence_permille` runs from 0 to 1000; `reason` is empty for a pass."""

    validator: str
    validator_version: str
    outcome: ValidationOutcome
    reason: str
    confidence_permille: int


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


@dataclass(frozen=True, slots=True)
class SignedValidation:
    """A validation receipt with its statement and digest."""

    receipt: ValidationReceipt
    statement: Statement
    digest: bytes


def worst(findings: Sequence[Finding]) -> ValidationOutcome:
    """The outcome of a profile: that of its worst finding. A profile without validators passes nothing."""
    order = list(ValidationOutcome)
    return max((finding.outcome for finding in findings), key=order.index, default=ValidationOutcome.FAIL)


def judge_baseline(
    proposal: StoredProposal, content_problem: str | None, duplicate_of: str | None
) -> tuple[Finding, ...]:
    """The baseline profile: schema and limits, canonical JSON, exact duplicate, provenance stamping.

    `content_problem` is what is wrong with the content's form, `duplicate_of` the record that already says it in this
    memory namespace.
    """
    oversized = len(proposal.content) > limits.CONTENT_BYTES
    revision = proposal.revision
    stamped = stamp_provenance(revision.proposer_kind, revision.memory_type)
    lifted = least_trusted(stamped, revision.provenance) is not revision.provenance
    return (
        _finding("schema_and_limits", "content_over_limit" if oversized else ""),
        _finding("canonical_json", content_problem or ""),
        _finding("exact_duplicate", f"duplicate_of:{duplicate_of}" if duplicate_of else ""),
        _finding("provenance", "provenance_lifted" if lifted else ""),
    )


def _finding(validator: str, failure: str) -> Finding:
    outcome = ValidationOutcome.FAIL if failure else ValidationOutcome.PASS
    return Finding(validator, BASELINE_VERSION, outcome, failure, CERTAIN)
