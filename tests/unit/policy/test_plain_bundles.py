"""The bundles that decide everything alike: what each answers, and that their versions stay."""

import hashlib

import pytest

from authority.domain.decision import DecisionOutcome, PolicyAnswer
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import MemoryType, Provenance
from authority.domain.validation import ValidationOutcome
from authority.policy.bundle import check_bundle, default_bundle
from authority.policy.engine import CedarPolicyEngine
from authority.policy.plain import PlainRule, plain_bundle, plain_versions
from tests.unit.policy.questions import question

# rule, validation, approved -> outcome, persons needed
CASES = """
allow       pass   no  -> allow            0
allow       review no  -> require_approval 1
allow       review yes -> allow            0
allow       fail   no  -> deny             0
allow       fail   yes -> deny             0
one_person  pass   no  -> require_approval 1
one_person  pass   yes -> allow            0
one_person  review no  -> require_approval 1
one_person  fail   no  -> deny             0
one_person  fail   yes -> deny             0
two_persons pass   no  -> require_approval 2
two_persons pass   yes -> allow            0
two_persons review no  -> require_approval 2
two_persons fail   no  -> deny             0
two_persons fail   yes -> deny             0
deny        pass   no  -> deny             0
deny        pass   yes -> deny             0
deny        fail   no  -> deny             0
"""

VERSIONS = {
    PlainRule.ALLOW: "9b529cbdd93b617eea8b5c9c26ac1553b14bbf38593424c1e4944abf4f8963f9",
    PlainRule.ONE_PERSON: "d396504d25cbc794535ef865b3fec45510549448c94cf5a0379b0e2f432a7471",
    PlainRule.TWO_PERSONS: "7626f835b753d381615f2e0271b83c227994137d41e50f498a196e790d5efe94",
    PlainRule.DENY: "c3399d99865313e4439d280d88a0c703de795c630e40e534900053912ae13b4d",
}
"""A bundle that is changed is another one: `authority provision` would no longer know the one it loaded."""


def answer(rule: PlainRule, **of: object) -> PolicyAnswer:
    return CedarPolicyEngine().evaluate(plain_bundle(rule), question(**of))  # type: ignore[arg-type]  # as question takes it


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_a_plain_bundle_decides(case: str) -> None:
    given, _, then = case.partition("->")
    rule, validation, approved = given.split()
    outcome, persons = then.split()

    found = answer(PlainRule(rule), validation=ValidationOutcome(validation), approved=approved == "yes")

    assert (found.outcome, found.persons_needed) == (DecisionOutcome(outcome), int(persons))


@pytest.mark.parametrize("provenance", Provenance)
@pytest.mark.parametrize("memory_type", MemoryType)
def test_what_passed_is_allowed_whatever_it_is(memory_type: MemoryType, provenance: Provenance) -> None:
    of = {"memory_type": memory_type, "provenance": provenance, "privileged": True}

    assert answer(PlainRule.ALLOW, **of).outcome is DecisionOutcome.ALLOW
    assert answer(PlainRule.ONE_PERSON, **of).outcome is DecisionOutcome.REQUIRE_APPROVAL


@pytest.mark.parametrize("rule", PlainRule)
def test_adr328_07_no_rule_lets_an_agent_hold(rule: PlainRule) -> None:
    assert answer(rule, by=PrincipalKind.AGENT, approved=True).outcome is DecisionOutcome.DENY


@pytest.mark.parametrize("rule", PlainRule)
def test_every_plain_bundle_is_good_and_stays_as_it_is(rule: PlainRule) -> None:
    assert check_bundle(plain_bundle(rule)) == []
    assert hashlib.sha256(plain_bundle(rule).encode()).hexdigest() == VERSIONS[rule]


def test_no_plain_bundle_is_the_default_one() -> None:
    assert len(plain_versions()) == len(PlainRule)
    assert hashlib.sha256(default_bundle().encode()).digest() not in plain_versions()
