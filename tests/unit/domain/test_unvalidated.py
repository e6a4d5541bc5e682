"""What is said of memory that nobody validated, and which of several reasons is told (semantics §7)."""

import pytest

from authority.domain.decision import DecisionOutcome, PolicyAnswer
from authority.domain.reasons import Reason
from authority.domain.unvalidated import complaints, would_refuse
from authority.domain.validation import Finding, ValidationOutcome, failed_for_secrets, worst

PASS, REVIEW, FAIL = ValidationOutcome
ALLOW, ASK, DENY = DecisionOutcome.ALLOW, DecisionOutcome.REQUIRE_APPROVAL, DecisionOutcome.DENY


def finding(outcome: ValidationOutcome, reason: str = "", name: str = "it") -> Finding:
    return Finding(name, "1", outcome, reason, 1000)


@pytest.mark.parametrize(
    ("found", "answered", "reason"),
    [
        (PASS, ALLOW, None),
        (REVIEW, ALLOW, None),
        (PASS, ASK, Reason.APPROVAL_REQUIRED),
        (FAIL, ALLOW, Reason.NOT_VALIDATED),
        (FAIL, ASK, Reason.NOT_VALIDATED),
        (PASS, DENY, Reason.POLICY_DENIED),
        (FAIL, DENY, Reason.POLICY_DENIED),
    ],
)
def test_of_what_a_commit_would_be_refused_for_the_highest_is_told(
    found: ValidationOutcome, answered: DecisionOutcome, reason: Reason | None
) -> None:
    assert would_refuse((finding(PASS), finding(found)), PolicyAnswer(answered, ())) is reason


def test_whatever_is_no_pass_is_complained_of() -> None:
    findings = (finding(PASS), finding(REVIEW, "unsure", "near"), finding(FAIL, "secret:aws", "secrets"))
    assert complaints(findings) == ("near:unsure", "secrets:secret:aws")


def test_the_worst_finding_counts_and_nobody_asked_is_no_pass() -> None:
    assert [worst([finding(PASS), finding(it), finding(PASS)]) for it in ValidationOutcome] == [PASS, REVIEW, FAIL]
    assert worst([finding(FAIL), finding(REVIEW)]) is FAIL
    assert worst([]) is FAIL


@pytest.mark.parametrize(
    ("outcome", "reason", "erased"),
    [
        (FAIL, "secret:aws", True),
        (FAIL, "secret", True),
        (FAIL, "secretary:x", False),
        (FAIL, "injection:secret", False),
        (REVIEW, "secret:aws", False),
    ],
)
def test_only_what_fails_for_a_secret_is_to_be_erased(outcome: ValidationOutcome, reason: str, *, erased: bool) -> None:
    assert failed_for_secrets([finding(PASS), finding(outcome, reason)]) is erased
