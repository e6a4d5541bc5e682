"""Validators as third parties may write them, well and badly."""

import threading
from typing import cast

from authority.domain.validation import ValidatorName
from authority.validators import Judgement, Material, ValidationOutcome, fails, passes
from authority.validators.catalog import Local
from authority.validators.profiles import Panel, panel
from authority.validators.protocol import Validator


class Shouting:
    """Fails what is all in capitals."""

    name = "shouting"
    version = "2"

    def judge(self, material: Material) -> Judgement:
        return fails("all_capitals") if material.content.isupper() else passes()


class Raising(Shouting):
    """Raises, with what it saw."""

    def __init__(self, fault: BaseException) -> None:
        self._fault = fault

    def judge(self, material: Material) -> Judgement:
        raise self._fault


class Answering(Shouting):
    """Answers whatever it is told to."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def judge(self, material: Material) -> Judgement:
        return cast("Judgement", self._answer)


class Hanging(Shouting):
    """Does not answer until it is let go."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.asked = 0

    def judge(self, material: Material) -> Judgement:
        self.asked += 1
        self.released.wait()
        return passes()


def panel_of(*validators: Validator, limit_s: float = 30.0, name: str = "house") -> Panel:
    """A profile of these, each in a thread."""
    local = [
        Local(ValidatorName(one.name, one.version), "a test", frozenset(), lambda one=one: one, limit_s=limit_s)  # type: ignore[misc]
        for one in validators
    ]
    return panel(name, "1", local)


GARBAGE: tuple[object, ...] = (
    None,
    True,
    "pass",
    Judgement(cast("ValidationOutcome", "pass")),
    Judgement(ValidationOutcome.PASS, "but"),
    Judgement(ValidationOutcome.FAIL),
    Judgement(ValidationOutcome.FAIL, "two words"),
    Judgement(ValidationOutcome.FAIL, "x" * 200),
    Judgement(ValidationOutcome.FAIL, "newline\n"),
    Judgement(ValidationOutcome.REVIEW, "sure", 1001),
    Judgement(ValidationOutcome.REVIEW, "sure", -1),
    Judgement(ValidationOutcome.REVIEW, "sure", cast("int", 0.5)),
    Judgement(ValidationOutcome.REVIEW, "sure", cast("int", "1")),
)
