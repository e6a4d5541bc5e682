"""What the built-in validators say of poisoned and of harmless content (cases G12, G14)."""

import pytest

from authority.domain.material import Material
from authority.domain.validation import Judgement, ValidationOutcome
from authority.embedded.demo.poisoned import Poisoned, poisoned_contents
from authority.validators.personal_data import PersonalData
from authority.validators.prompt_injection import RULES, PromptInjection, families_of
from authority.validators.secret_detection import Secrets

CONTENTS = tuple(poisoned_contents())
VALIDATORS = (PromptInjection(), Secrets())


def material(content: bytes | str, media_type: str = "text/plain") -> Material:
    """What a validator is shown of some content."""
    return Material(content=content.encode() if isinstance(content, str) else content, media_type=media_type)


def found(one: Material) -> dict[str, Judgement]:
    """The validators that say anything against it."""
    judged = {validator.name: validator.judge(one) for validator in VALIDATORS}
    return {name: judgement for name, judgement in judged.items() if judgement.outcome is not ValidationOutcome.PASS}


@pytest.mark.parametrize("poisoned", CONTENTS, ids=lambda it: it.name)
def test_g12_g14_each_content_is_found_by_its_validator_and_no_other(poisoned: Poisoned) -> None:
    findings = found(material(poisoned.content, poisoned.media_type))
    outcomes = {name: judgement.outcome.value for name, judgement in findings.items()}
    assert outcomes == ({poisoned.validator: poisoned.outcome} if poisoned.validator else {})


@pytest.mark.parametrize("poisoned", CONTENTS, ids=lambda it: it.name)
def test_no_reason_holds_anything_of_the_content(poisoned: Poisoned) -> None:
    for judgement in found(material(poisoned.content, poisoned.media_type)).values():
        words = judgement.reason.replace("_", ":").replace("+", ":").split(":")
        assert set(words) <= {
            *[
                "hidden",
                "injection",
                "secret",
                "possible",
                "named",
                "as",
                "one",
                "aws",
                "private",
                "key",
                "basic",
                "auth",
            ],
            *(part for family in RULES for part in family.split("_")),
        }


def test_every_technique_of_the_file_is_hostile_or_harmless_and_both_are_there() -> None:
    assert {it.outcome for it in CONTENTS} == {"pass", "review", "fail"}
    assert len({it.name for it in CONTENTS}) == len(CONTENTS)


@pytest.mark.parametrize("family", RULES)
def test_every_family_is_shown_by_an_example(family: str) -> None:
    shown = {one for it in CONTENTS if it.validator == "prompt_injection" for one in families_of(it.content.decode())}
    assert family in shown


@pytest.mark.parametrize(
    "hostile", ["<!--" * 50_000, "ignore all your " * 15_000, "a.b-c." * 40_000, '<span style="display:none" ' * 9_000]
)
def test_text_made_to_keep_the_rules_busy_is_judged_in_seconds(hostile: str) -> None:
    # the guard of the run itself, two minutes, is what a pattern that runs away would meet
    for validator in VALIDATORS:
        validator.judge(material(hostile))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("write to jo.field@quay-bakery.co.uk", "email_address"),
        ("her card is 4111 1111 1111 1111", "credit_card"),
        ("paid from GB33BUKB20201555555555", "iban_code"),
    ],
)
def test_personal_data_is_left_to_a_person_and_nothing_is_fetched(
    text: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a machine without any network
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("the network was asked")

    monkeypatch.setattr("socket.getaddrinfo", refuse)
    monkeypatch.setattr("socket.socket.connect", refuse)
    judgement = PersonalData().judge(material(text))
    assert (judgement.outcome, judgement.reason) == (ValidationOutcome.REVIEW, f"personal_data:{kind}")
    assert PersonalData().judge(material("The bakery files quarterly.")).outcome is ValidationOutcome.PASS
