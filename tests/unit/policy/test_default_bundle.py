"""The shipped bundle, case by case: what a new installation allows, asks a person for, and denies."""

import pytest

from authority.domain.decision import DecisionOutcome, PolicyAnswer
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import MemoryType, Provenance
from authority.domain.validation import ValidationOutcome
from authority.policy.bundle import check_bundle, default_bundle
from authority.policy.engine import CedarPolicyEngine
from tests.unit.policy.questions import living, question

# holder, provenance, memory type, validation; then marks: P = privileged namespace, A = approved, <n>d = lives n days.
CASES = """
service system_observation durable_fact pass   -    -> allow            allow-people-and-observers
service tool_result        durable_fact pass   -    -> allow            allow-people-and-observers
service user_claim         durable_fact pass   -    -> allow            allow-people-and-observers
user    user_claim         durable_fact pass   -    -> allow            allow-people-and-observers
service user_claim         preference   pass   -    -> allow            allow-people-and-observers
service user_claim         snapshot     pass   -    -> allow            allow-people-and-observers
service user_claim         durable_fact pass   A    -> allow            allow-approved,allow-people-and-observers
service agent_output       critique     pass   -    -> allow            allow-agent-working-memory
service agent_output       snapshot     pass   1d   -> allow            allow-agent-working-memory
service agent_output       snapshot     pass   7d   -> allow            allow-agent-working-memory
service agent_output       snapshot     pass   8d   -> require_approval approve-long-lived-agent-snapshot
service agent_output       snapshot     pass   -    -> require_approval approve-long-lived-agent-snapshot
service agent_output       snapshot     pass   A    -> allow            allow-agent-working-memory,allow-approved
service agent_output       durable_fact pass   -    -> require_approval approve-lasting-agent-output
service agent_output       durable_fact pass   1d   -> require_approval approve-lasting-agent-output
service agent_output       durable_fact pass   A    -> allow            allow-approved
service agent_output       preference   pass   -    -> require_approval approve-lasting-agent-output
service agent_output       procedure    pass   -    -> require_approval approve-procedure
service agent_output       procedure    pass   A    -> allow            allow-approved
service system_observation procedure    pass   -    -> require_approval approve-procedure
service user_claim         procedure    pass   -    -> require_approval approve-procedure
service unknown            durable_fact pass   -    -> require_approval approve-unknown-provenance
service unknown            snapshot     pass   1d   -> require_approval approve-unknown-provenance
service unknown            critique     pass   -    -> require_approval approve-unknown-provenance
service unknown            procedure    pass   -    -> require_approval approve-procedure,approve-unknown-provenance
service unknown            durable_fact pass   A    -> allow            allow-approved
service user_claim         durable_fact review -    -> require_approval approve-reviewed
service agent_output       critique     review -    -> require_approval approve-reviewed
service user_claim         durable_fact review A    -> allow            allow-approved,allow-people-and-observers
service system_observation durable_fact pass   P    -> require_approval approve-privileged-namespace
service agent_output       snapshot     pass   P,1d -> require_approval approve-privileged-namespace
service user_claim         durable_fact pass   P,A  -> allow            allow-approved,allow-people-and-observers
service user_claim         durable_fact fail   -    -> deny             deny-failed-validation
service user_claim         durable_fact fail   A    -> deny             deny-failed-validation
service agent_output       procedure    fail   P    -> deny             deny-failed-validation
agent   user_claim         durable_fact pass   -    -> deny             deny-other-holders
agent   agent_output       durable_fact pass   A    -> deny             deny-other-holders
model   agent_output       snapshot     pass   1d   -> deny             deny-other-holders
admin   user_claim         durable_fact pass   A    -> deny             deny-other-holders
agent   user_claim         durable_fact fail   -    -> deny             deny-failed-validation,deny-other-holders
"""


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_default_bundle_decides(case: str) -> None:
    given, _, then = case.partition("->")
    by, provenance, memory_type, validation, marks = given.split()
    outcome, determining = then.split()
    lifetimes = [living(int(mark.removesuffix("d"))) for mark in marks.split(",") if mark.endswith("d")]

    answer = CedarPolicyEngine().evaluate(
        default_bundle(),
        question(
            by=PrincipalKind(by),
            validation=ValidationOutcome(validation),
            privileged="P" in marks,
            approved="A" in marks,
            provenance=Provenance(provenance),
            memory_type=MemoryType(memory_type),
            record_expire_time=lifetimes[0] if lifetimes else None,
        ),
    )

    persons = 1 if outcome == "require_approval" else 0
    assert answer == PolicyAnswer(DecisionOutcome(outcome), tuple(determining.split(",")), persons)


def test_default_bundle_can_be_loaded() -> None:
    assert check_bundle(default_bundle()) == []


@pytest.mark.parametrize("validation", [ValidationOutcome.PASS, ValidationOutcome.REVIEW])
@pytest.mark.parametrize("provenance", Provenance)
@pytest.mark.parametrize("memory_type", MemoryType)
def test_a_person_can_approve_whatever_did_not_fail(
    memory_type: MemoryType, provenance: Provenance, validation: ValidationOutcome
) -> None:
    asked = question(
        validation=validation, privileged=True, approved=True, memory_type=memory_type, provenance=provenance
    )

    assert CedarPolicyEngine().evaluate(default_bundle(), asked).outcome is DecisionOutcome.ALLOW


@pytest.mark.parametrize("kind", sorted(set(PrincipalKind) - {PrincipalKind.SERVICE, PrincipalKind.USER}, key=str))
def test_adr328_07_nobody_but_services_and_users_may_hold(kind: PrincipalKind) -> None:
    answer = CedarPolicyEngine().evaluate(default_bundle(), question(by=kind, approved=True))

    assert answer == PolicyAnswer(DecisionOutcome.DENY, ("deny-other-holders",))
