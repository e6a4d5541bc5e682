"""Loading a bundle: what is refused, how clearly, and that the schema speaks the domain's words."""

import hashlib
import re
import subprocess
import sys
import textwrap
from enum import Enum
from importlib import resources
from itertools import count

import cedarpy
import pytest

from authority.domain.identity import PrincipalKind
from authority.domain.proposal import MemoryType, Provenance, Visibility
from authority.domain.validation import ValidationOutcome
from authority.policy.bundle import Bundle, bundle_version, check_bundle, default_bundle, read_bundle
from authority.policy.engine import CedarPolicyEngine
from authority.policy.question import CONTEXT_ATTRIBUTES, entities, request
from authority.policy.rules import policy_schema
from authority.policy.source import BUNDLE_BYTES, NESTING, OPERATORS, policy_texts
from tests.unit.policy.questions import living, question

GOOD = '@id("good") permit (principal, action, resource);\n'


def when(condition: str) -> str:
    return f'@id("it") forbid (principal, action, resource) when {{ {condition} }};'


def asking(quorum: str | None = None) -> str:
    """A forbid that an approval lifts, of so many persons."""
    marks = '@outcome("require_approval")' + ("" if quorum is None else f' @quorum("{quorum}")')
    return when("true").replace("forbid", f"{marks} forbid")[:-1] + " unless { context.approved };"


@pytest.mark.parametrize(
    ("bundle", "problem"),
    [
        ("", "holds no policy"),
        ("// only a comment\n", "holds no policy"),
        (GOOD + "\npermit (principal, action, resource);", 'line 3: this permit has no name: write @id("...")'),
        (GOOD + "@id permit (principal, action, resource);", "line 2: this permit has no name"),
        (GOOD + GOOD, '2 policies have @id("good")'),
        (GOOD.replace("good", "error:good"), "line 1: this permit needs another @id"),
        (GOOD.replace("good", "g" * 65), "line 1: this permit needs another @id"),
        (GOOD.replace("good", "schön"), "line 1: this permit needs another @id"),
        (
            GOOD.replace("@id", '@outcome("require_approval") @id'),
            "line 1: this permit has an @outcome that means nothing",
        ),
        (when("context.approved").replace("forbid", '@outcome("ask") forbid'), "has an @outcome that means nothing"),
        (
            when("true").replace("forbid", '@outcome("require_approval") forbid'),
            "an approval that would not satisfy it",
        ),
        (GOOD.replace("@id", '@quorum("2") @id'), "line 1: this permit has a @quorum but asks for no approval"),
        *((asking(it), "has a @quorum of another kind") for it in ("0", "10", "02", "-1", "two", "", "1.5", "²")),
        (GOOD.replace("principal,", "principal == ?principal,"), "line 1: this permit is a template"),
        (
            when('context.validation == Validation::"failed"'),
            "line 1: this forbid does not fit the schema: entity `Val",
        ),
        (when("context.aproved"), "attribute `aproved` in context"),
        (when('principal.kind == "service"'), "does not fit the schema"),
        (when("resource.owner == principal"), "attribute `owner` on entity type `MemoryNamespace` not found"),
        (when('context.lifetime > duration("1d")'), "unable to guarantee safety of access to optional attribute"),
        (GOOD + "permit (principal, action);", "line 2: the policy that begins here cannot be read"),
        (
            GOOD + "// done\n\npermit (principal, action, resource)",
            "line 4: the policy that begins here cannot be read",
        ),
        (GOOD + '"unterminated', "line 2: the policy that begins here cannot be read"),
        (GOOD + "// " + "x" * BUNDLE_BYTES, f"at most {BUNDLE_BYTES:,} are read"),
        (GOOD + "\0", "NUL"),
        (GOOD + "// \ud800", "the bundle cannot be read"),
        (when("(" * (NESTING + 1) + "true" + ")" * (NESTING + 1)), "line 1: brackets nest 66 deep"),
        (when(" && ".join(["true"] * (OPERATORS + 2))), f"line 1: {OPERATORS + 1} operators in one policy"),
        (when(" && ".join(["context.approved"] * 101)), "nesting exceeds the supported limit of 100 levels"),
    ],
    ids=count(),
)
def test_a_problem_is_told_with_its_place(bundle: str, problem: str) -> None:
    problems = check_bundle(bundle)

    assert len(problems) == 1
    assert problem in problems[0]


def test_all_problems_are_told_at_once() -> None:
    bundle = GOOD + "permit (principal, action, resource);\n" + when("context.aproved") + "\n" + GOOD

    assert [problem.split(":")[0] for problem in check_bundle(bundle)] == [
        "line 2",
        '2 policies have @id("good")',
        "line 3",
    ]


def test_every_policy_that_cannot_be_read_is_told() -> None:
    bundle = f"permit (;\n{GOOD}\n{when('foo(1)')}\nprmit (principal, action, resource);"

    assert [problem.split(":")[0] for problem in check_bundle(bundle)] == ["line 1", "line 4", "line 5"]


def test_strings_and_comments_hide_what_they_hold() -> None:
    bundle = when(r'context.proposer == "a;\";((("') + '// ;((( "\n' + GOOD

    assert check_bundle(bundle) == []
    assert [text.line for text in policy_texts(bundle)] == [1, 2]


@pytest.mark.parametrize(
    "shape",
    ["(" * 50_000, "[" * 50_000, "true && " * 8_000, "context" + ".a" * 30_000, "1 + " * 15_000],
    ids=["brackets", "sets", "conjunctions", "attributes", "sums"],
)
def test_text_that_would_end_the_process_does_not_reach_the_parser(shape: str) -> None:
    program = textwrap.dedent(
        """
        import sys
        from authority.policy.bundle import check_bundle
        print(*check_bundle(sys.stdin.read()), sep="\\n")
        """
    )

    told = subprocess.run(
        [sys.executable, "-c", program], input=when(shape), capture_output=True, text=True, check=False
    )

    assert told.returncode == 0, told.stderr
    assert "are read" in told.stdout


def test_the_most_intricate_policy_that_is_read_can_be_evaluated() -> None:
    nested = "(" * (NESTING - 2) + "true" + ")" * (NESTING - 2)
    many = " && ".join([nested] * 2 + ["context.usd_micros >= 0"] * 40)

    assert check_bundle(when(many)) == []
    assert CedarPolicyEngine().evaluate(when(many), question()).determining_policies == ("it",)


def test_the_version_is_the_digest_of_the_exact_bytes() -> None:
    assert bundle_version(GOOD) == hashlib.sha256(GOOD.encode()).digest()
    assert bundle_version(GOOD.replace("\n", "\r\n")) != bundle_version(GOOD)


def test_the_default_bundle_is_read_as_it_is_shipped() -> None:
    shipped = resources.files("authority.policy").joinpath("default.cedar").read_bytes()

    assert default_bundle().encode() == shipped
    assert bundle_version(default_bundle()) == hashlib.sha256(shipped).digest()


def test_the_default_bundle_is_formatted_so_that_its_policies_are_found_by_line() -> None:
    lines = default_bundle().splitlines()

    assert all(lines[text.line - 1].startswith("@id(") for text in policy_texts(default_bundle()))


def test_policies_are_known_by_their_names_and_say_how_many_persons_must_approve() -> None:
    for text, persons in ((asking(), 1), (asking("1"), 1), (asking("9"), 9)):
        bundle = read_bundle(GOOD + text)

        assert isinstance(bundle, Bundle)
        assert {bundle.ids[number]: wanted for number, wanted in bundle.asking.items()} == {"it": persons}
        assert sorted(bundle.ids.values()) == ["good", "it"]


@pytest.mark.parametrize(
    ("entity", "words"),
    [
        ("Kind", PrincipalKind),
        ("Provenance", Provenance),
        ("MemoryType", MemoryType),
        ("Validation", ValidationOutcome),
        ("Visibility", Visibility),
    ],
)
def test_the_schema_knows_exactly_the_words_of_the_domain(entity: str, words: type[Enum]) -> None:
    declared = re.search(rf"entity {entity} enum \[([^]]*)\]", str(policy_schema()))

    assert declared is not None
    assert sorted(re.findall(r'"([^"]*)"', declared[1])) == sorted(word.value for word in words)


@pytest.mark.parametrize("changes", [{}, {"record_expire_time": living(1)}], ids=["lasting", "expiring"])
def test_questions_fit_the_schema(changes: dict[str, object]) -> None:
    asked = question(**changes)  # type: ignore[arg-type]  # one of the revision's own fields

    result = cedarpy.is_authorized(request(asked, CONTEXT_ATTRIBUTES), GOOD, entities(asked), schema=policy_schema())

    assert (result.allowed, result.diagnostics.errors) == (True, [])
