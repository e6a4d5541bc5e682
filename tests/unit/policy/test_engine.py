"""How answers come about: deny beats require_approval beats allow, and every error denies (semantics §7)."""

import re
from dataclasses import replace
from importlib import resources

import pytest

from authority.domain import limits
from authority.domain.decision import DecisionOutcome, PolicyAnswer, PolicyQuestion
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import Cost, MemoryType
from authority.domain.record import Mode
from authority.domain.references import Instant, PrincipalRef
from authority.domain.validation import Finding, ValidationOutcome
from authority.policy.bundle import check_bundle
from authority.policy.engine import CedarPolicyEngine
from authority.policy.question import CONTEXT_ATTRIBUTES
from tests.unit.policy.questions import MADE, living, question

ALLOW = '@id("allow") permit (principal, action, resource);'
DENY = '@id("deny") forbid (principal, action, resource);'
ASK = '@id("ask") @outcome("require_approval") forbid (principal, action, resource) unless { context.approved };'
ASK_TOO = ASK.replace('"ask"', '"also-ask"')
ASK_THREE = ASK.replace('"ask")', '"three") @quorum("3")')
# An approval does not satisfy this one: it looks at context.approved and wants the contrary.
ASK_IN_VAIN = ASK.replace('"ask"', '"in-vain"').replace("unless { context", "when { context has approved || context")
RECORD = "00000000-0000-4000-8000-000000000009"
OVERFLOW = "context.usd_micros + 9223372036854775807 > 0"
FAILING_FORBID = f'@id("broken") forbid (principal, action, resource) when {{ {OVERFLOW} }};'


def evaluate(bundle: str, asked: PolicyQuestion | None = None) -> PolicyAnswer:
    assert check_bundle(bundle) == []
    return CedarPolicyEngine().evaluate(bundle, asked or question())


def answer(outcome: str, *determining: str) -> PolicyAnswer:
    return PolicyAnswer(DecisionOutcome(outcome), determining, 1 if outcome == "require_approval" else 0)


@pytest.mark.parametrize(
    ("bundle", "expected"),
    [
        (ALLOW, answer("allow", "allow")),
        (ALLOW + DENY, answer("deny", "deny")),
        (ALLOW + ASK, answer("require_approval", "ask")),
        (ALLOW + ASK + ASK_TOO, answer("require_approval", "also-ask", "ask")),
        (ALLOW + ASK + ASK_THREE, replace(answer("require_approval", "ask", "three"), persons_needed=3)),
        (ALLOW + ASK_THREE + DENY, answer("deny", "deny")),
        (ALLOW + ASK + DENY, answer("deny", "deny")),
        (ALLOW + ASK_IN_VAIN, answer("deny", "in-vain")),
        (ALLOW + ASK + ASK_IN_VAIN, answer("deny", "in-vain")),
        (ASK, answer("deny")),
        (DENY, answer("deny", "deny")),
    ],
    ids=lambda value: "" if isinstance(value, PolicyAnswer) else "+".join(value.split('@id("')[1:])[:60],
)
def test_deny_beats_require_approval_beats_allow(bundle: str, expected: PolicyAnswer) -> None:
    assert evaluate(bundle) == expected


def test_what_no_policy_matches_is_denied() -> None:
    nobody = '@id("agents") permit (principal, action, resource) when { principal.kind == Kind::"agent" };'

    assert evaluate(nobody) == answer("deny")


def test_an_approval_turns_the_question_into_allow() -> None:
    assert evaluate(ALLOW + ASK, question(approved=True)) == answer("allow", "allow")


def test_a_permit_that_only_an_approval_opens_lets_the_asking_forbid_ask() -> None:
    approved = '@id("approved") permit (principal, action, resource) when { context.approved };'

    assert evaluate(approved + ASK) == answer("require_approval", "ask")
    assert evaluate(approved) == answer("deny")


def test_an_approval_does_not_lift_a_plain_deny() -> None:
    assert evaluate(ALLOW + ASK + DENY, question(approved=True)) == answer("deny", "deny")


@pytest.mark.parametrize("approved", [False, True])
def test_a_policy_that_fails_to_evaluate_denies_and_is_named(approved: bool) -> None:  # noqa: FBT001
    assert evaluate(ALLOW + FAILING_FORBID, question(approved=approved)) == answer("deny", "error:broken")


def test_a_policy_that_fails_only_once_approved_denies_and_is_named() -> None:
    late = FAILING_FORBID.replace("when { ", "when { context.approved && ")

    assert evaluate(ALLOW + ASK + late) == answer("deny", "error:broken")


def test_a_failing_permit_denies_even_beside_one_that_allows() -> None:
    failing = FAILING_FORBID.replace("forbid", "permit")

    assert evaluate(ALLOW + failing) == answer("deny", "error:broken")


@pytest.mark.parametrize(
    "bundle",
    [
        "",
        "permit (principal, action, resource",
        "permit (principal, action, resource);",
        ALLOW + ALLOW,
        ALLOW + '@id("typo") forbid (principal, action, resource) when { context.aproved };',
        "(" * 100_000,
        "\0",
        "\ud800",
    ],
    ids=["empty", "unparsable", "unnamed", "named twice", "off the schema", "deep", "NUL", "surrogate"],
)
def test_a_bundle_that_could_not_be_loaded_denies_everything(bundle: str) -> None:
    assert check_bundle(bundle)

    assert CedarPolicyEngine().evaluate(bundle, question(approved=True)) == answer("deny", "error:bundle")


def test_bundles_are_not_confused_with_each_other() -> None:
    engine = CedarPolicyEngine()

    outcomes = [engine.evaluate(bundle, question()).outcome.value for bundle in (ALLOW, DENY, ALLOW, DENY + ALLOW)]

    assert outcomes == ["allow", "deny", "allow", "deny"]


FACTS = """
principal == Authority::Principal::"cognitum-service|committer"
principal.name == "cognitum-service|committer"
principal.kind == Kind::"service"
principal in Authority::Tenant::"cognitum-tenant|northwind-books"
action == Action::"memory.commit-validated"
resource == MemoryNamespace::"bookkeeping/clients"
resource.name like "bookkeeping/*"
resource in Authority::Tenant::"cognitum-tenant|northwind-books"
!resource.privileged
!context.approved
context.validation == Validation::"pass"
context.validator_profile == "baseline"
context.provenance == Provenance::"user_claim"
context.memory_type == MemoryType::"durable_fact"
context.visibility == Visibility::"team"
context.media_type == "text/plain"
context.proposer == "cognitum-user|bookkeeper"
context.proposer != principal.name
context.proposer_kind == Kind::"user"
context.evidence_count == 0
context.source_count == 1
context.usd_micros == 270
!(context has lifetime)
resource.mode == Mode::"enforce"
context.validator_profile_version == ""
context.validators.pass.isEmpty() && context.validators.review.isEmpty() && context.validators.fail.isEmpty()
!context.delegated
context.actor_count == 0
!(context has subject)
!context.corrects
context.cited_count == 0 && context.cited_unvalidated == 0
"""


@pytest.mark.parametrize("fact", FACTS.strip().splitlines())
def test_policy_can_ask_about(fact: str) -> None:
    assert evaluate(f'@id("fact") permit (principal, action, resource) when {{ {fact} }};') == answer("allow", "fact")
    assert evaluate(f'@id("fact") permit (principal, action, resource) unless {{ {fact} }};') == answer("deny")


def test_policy_can_ask_who_proposed() -> None:
    own = '@id("own") forbid (principal, action, resource) when { context.proposer == principal.name };'

    answered = evaluate(ALLOW + own, question(proposer=PrincipalRef("cognitum-service", "committer")))

    assert answered == answer("deny", "own")


@pytest.mark.parametrize(("expires", "allowed"), [(living(2), True), (living(3), False), (Instant(MADE - 1), True)])
def test_policy_can_ask_how_long_a_record_would_live(expires: Instant, allowed: bool) -> None:  # noqa: FBT001
    short = """@id("short") permit (principal, action, resource)
        when { context has lifetime && context.lifetime <= duration("48h") };"""

    answered = evaluate(short, question(memory_type=MemoryType.SNAPSHOT, record_expire_time=expires))

    assert answered == (answer("allow", "short") if allowed else answer("deny"))


def test_the_longest_lifetime_can_be_asked_about() -> None:
    asked = question(create_time=Instant(limits.EARLIEST_MS), record_expire_time=Instant(limits.LATEST_MS))
    long = """@id("long") permit (principal, action, resource)
        when { context has lifetime && context.lifetime > duration("365d") };"""

    assert evaluate(long, asked) == answer("allow", "long")


def test_costs_beyond_all_numbers_count_as_the_largest() -> None:
    dear = '@id("dear") forbid (principal, action, resource) when { context.usd_micros >= 5000000 };'
    costs = (Cost("a", "m", 0, 0, limits.INT64_MAX), Cost("b", "m", 0, 0, limits.INT64_MAX))

    assert evaluate(ALLOW + dear, question(costs=costs)) == answer("deny", "dear")


def test_names_with_every_allowed_character_are_compared_as_they_are() -> None:
    odd = PrincipalRef("spiffe:a.b_c", "x@y+z/w-1:2")
    rule = '@id("odd") permit (principal, action, resource) when { context.proposer == "spiffe:a.b_c|x@y+z/w-1:2" };'

    assert evaluate(rule, question(proposer=odd)) == answer("allow", "odd")


@pytest.mark.parametrize("kind", PrincipalKind)
def test_every_kind_of_holder_can_be_named(kind: PrincipalKind) -> None:
    rule = f'@id("kind") permit (principal, action, resource) when {{ principal.kind == Kind::"{kind.value}" }};'

    assert evaluate(rule, question(by=kind)) == answer("allow", "kind")


@pytest.mark.parametrize("mode", Mode)
def test_policy_can_ask_for_the_mode_of_the_memory_namespace(mode: Mode) -> None:
    rule = f'@id("mode") permit (principal, action, resource) when {{ resource.mode == Mode::"{mode.value}" }};'

    assert evaluate(rule, replace(question(), mode=mode)) == answer("allow", "mode")


def test_policy_can_ask_which_validators_found_something() -> None:
    rule = """@id("secrets") forbid (principal, action, resource) when {
        context.validators.review.contains("pii") && context.validators.fail.containsAny(["secrets", "injection"])
        && context.validators.pass == ["schema"] && context.validator_profile_version == "3" };"""
    said = {"schema": "pass", "pii": "review", "secrets": "fail"}
    findings = tuple(Finding(name, "1", ValidationOutcome(word), "", 1000) for name, word in said.items())

    answered = evaluate(ALLOW + rule, replace(question(), findings=findings, validator_profile_version="3"))

    assert answered == answer("deny", "secrets")
    assert evaluate(ALLOW + rule) == answer("allow", "allow")


def test_policy_can_ask_for_whom_and_through_how_many_hands_something_was_proposed() -> None:
    hands = tuple(PrincipalRef("cognitum-agent", name) for name in ("planner", "writer"))
    rule = """@id("hands") permit (principal, action, resource) when { context.delegated && context.actor_count == 2
        && context has subject && context.subject == "cognitum-user|owner" };"""

    asked = replace(question(actor_chain=hands), subject=PrincipalRef("cognitum-user", "owner"))

    assert evaluate(rule, asked) == answer("allow", "hands")


def test_policy_can_ask_whether_a_record_would_be_superseded() -> None:
    rule = '@id("corrects") permit (principal, action, resource) when { context.corrects };'

    assert evaluate(rule, question(supersedes_record_id=RECORD)) == answer("allow", "corrects")
    assert evaluate(rule) == answer("deny")


@pytest.mark.parametrize(
    "said",
    [
        'context has "\\u{6c}ifetime"',
        'context has lifetime && context["lifetime"] > duration("1d")',
        'if context has lifetime then context.lifetime > duration("1d") else false',
        "context has lifetime && [context].contains(context)",
        "context has lifetime && context == context",
        "!(context has unheard_of) && context has lifetime",
    ],
)
def test_what_a_bundle_looks_at_is_told_however_it_looks(said: str) -> None:
    rule = f'@id("looks") permit (principal, action, resource) when {{ {said} }};'

    assert evaluate(rule, question(record_expire_time=living(2))) == answer("allow", "looks")


def test_the_context_has_what_the_schema_names_and_nothing_else() -> None:
    schema = resources.files("authority.policy").joinpath("schema.cedarschema").read_text()

    named = re.findall(r"^    (\w+)\??: ", schema.split("context: {")[1], re.MULTILINE)

    assert sorted(named) == sorted(CONTEXT_ATTRIBUTES)
