"""Memory that is written without validation, where an operator lets a memory namespace take it (semantics §7).

The mode of a memory namespace relaxes the outcomes of validation, policy and approval for such writes, and nothing
else: neither who writes, nor for whom, nor what was withdrawn.
"""

from dataclasses import dataclass

from authority.domain.decision import DecisionOutcome, PolicyAnswer
from authority.domain.reasons import Reason
from authority.domain.record import MemoryNamespace, MemoryRecord, Mode
from authority.domain.refusal import Refusal, highest
from authority.domain.validation import Finding, ValidationOutcome, worst


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What would have become of a write under enforcement: found out as for a commit, and recorded."""

    would_refuse: Reason | None
    """POLICY_DENIED, NOT_VALIDATED or APPROVAL_REQUIRED, the highest of those that apply; None: it would be allowed."""
    validators: tuple[str, ...]
    """`name:reason` of each that did not pass it."""
    policies: tuple[str, ...]
    """That determined the decision."""
    validator_profile: str
    validator_profile_version: str
    policy_version: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class UnvalidatedRecord:
    """A record that nobody validated, how its memory namespace came to take it, and what would have become of it."""

    record: MemoryRecord
    mode: Mode
    observation: Observation | None
    """Where the memory namespace was observed."""


def would_refuse(findings: tuple[Finding, ...], answer: PolicyAnswer) -> Reason | None:
    """Why a commit of it would be refused, by what validators and policy say now."""
    denied = Refusal(Reason.POLICY_DENIED) if answer.outcome is DecisionOutcome.DENY else None
    failed = Refusal(Reason.NOT_VALIDATED) if worst(findings) is ValidationOutcome.FAIL else None
    asked = Refusal(Reason.APPROVAL_REQUIRED) if answer.outcome is DecisionOutcome.REQUIRE_APPROVAL else None
    refusal = highest((denied, failed, asked))
    return refusal.reason if refusal else None


def complaints(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """`name:reason` of every finding that is no pass."""
    told = (it for it in findings if it.outcome is not ValidationOutcome.PASS)
    return tuple(f"{it.validator}:{it.reason}" for it in told)


def refuse_unvalidated(
    namespace: MemoryNamespace | None, *, is_writer_active: bool, is_withdrawn: bool
) -> Refusal | None:
    """Why nothing is written, by live state; the database function `write_unvalidated` says the same.

    POLICY_DENIED where the memory namespace is privileged, in every mode; REVOKED for a writer or content that was
    withdrawn; NOT_VALIDATED where it enforces; NOT_FOUND where there is none.
    """
    denied = gone = unvalidated = None
    if namespace is not None and namespace.privileged:
        denied = unvalidated_refusal(Reason.POLICY_DENIED)
    if not is_writer_active or is_withdrawn:
        gone = unvalidated_refusal(Reason.REVOKED)
    if namespace is not None and namespace.mode is Mode.ENFORCE:
        unvalidated = unvalidated_refusal(Reason.NOT_VALIDATED)
    absent = unvalidated_refusal(Reason.NOT_FOUND) if namespace is None else None
    return highest((denied, gone, unvalidated, absent))


def unvalidated_refusal(reason: Reason) -> Refusal:
    """The refusal of a write without validation, with what its caller may know of it."""
    facts = {
        Reason.POLICY_DENIED: {"problem": "a privileged memory namespace takes no memory without validation"},
        Reason.NOT_VALIDATED: {"problem": "the memory namespace enforces: propose, validate and commit it"},
        Reason.NOT_FOUND: {"field": "memory_namespace"},
    }
    return Refusal(reason, facts.get(reason, {}))
