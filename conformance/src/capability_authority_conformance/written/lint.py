"""What is wrong with suites as written, seen before anything is asked: every problem at once, each with its remedy."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from capability_authority_conformance.problems import Problem
from capability_authority_conformance.running.context import BASE_NAMES
from capability_authority_conformance.substitution import names_in
from capability_authority_conformance.v1.suite_pb2 import Case, Procedure, Step
from capability_authority_conformance.values import of_value
from capability_authority_conformance.written.lint_names import MOST_DEPTH, MOST_STEPS, Known
from capability_authority_conformance.written.lint_steps import step_problems
from capability_authority_conformance.written.reading import PROCEDURES, WrittenSuite

__all__ = ["lint"]

_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST_NAME: Final = 80


def lint(suites: Sequence[WrittenSuite]) -> list[Problem]:
    """Every problem, in the order of the files."""
    procedures: dict[str, Procedure] = {}
    problems: list[Problem] = []
    for written in suites:
        problems.extend(_suite_problems(written))
        for index, procedure in enumerate(written.suite.procedures):
            if written.suite.name != PROCEDURES:
                problems.append(written.problem("", "procedures stand in procedures.yaml", "move them", "procedures"))
            if procedure.name in procedures:
                problems.append(
                    written.problem(f"procedure {procedure.name}", "is there twice", "rename one", "procedures", index)
                )
            procedures[procedure.name] = procedure
    known = Known(procedures)
    for written in suites:
        for index, procedure in enumerate(written.suite.procedures):
            problems.extend(_procedure_problems(written, procedure, known, ("procedures", index)))
        for index, case in enumerate(written.suite.cases):
            problems.extend(_case_problems(written, case, known, ("cases", index)))
    return problems


def _suite_problems(written: WrittenSuite) -> Iterator[Problem]:
    suite = written.suite
    if f"{suite.name}.yaml" != written.file:
        yield written.problem("", f"is named {suite.name!r}", f"name it {written.file.removesuffix('.yaml')!r}", "name")
    if not suite.about:
        yield written.problem("", "does not say what it is about", "write `about`")
    if not suite.cases and suite.name != PROCEDURES:
        yield written.problem("", "has no cases", "write one, or remove the file")
    for name, count in Counter(case.name for case in suite.cases).items():
        if count > 1:
            yield written.problem(f"case {name}", "is there twice", "rename one", "cases")


def _case_problems(written: WrittenSuite, case: Case, known: Known, path: tuple[str | int, ...]) -> Iterator[Problem]:
    place = f"case {case.name}"
    if not _NAME.fullmatch(case.name) or len(case.name) > _LONGEST_NAME:
        yield written.problem(
            place, f"a case is not named {case.name!r}", f"use small-words-like-these, at most {_LONGEST_NAME}", *path
        )
    if not case.holds:
        yield written.problem(place, "does not say what holds", "write `holds`, one sentence", *path)
    if not case.covers:
        yield written.problem(place, "does not say what it covers", "write `covers`: whose rule it is", *path)
    if bool(case.not_yet) == bool(case.steps):
        yield written.problem(place, "has steps and `not_yet`, or neither", "write one of them", *path)
    if case.steps and not known.asks(case.steps):
        yield written.problem(place, "asks the target nothing", "a case that asks nothing cannot fail: call", *path)
    yield from _steps_problems(written, place, case.steps, known, set(BASE_NAMES), path)


def _procedure_problems(
    written: WrittenSuite, procedure: Procedure, known: Known, path: tuple[str | int, ...]
) -> Iterator[Problem]:
    place = f"procedure {procedure.name}"
    if not procedure.about:
        yield written.problem(place, "does not say what it makes", "write `about`", *path)
    if known.is_endless(procedure.name):
        what = f"uses itself, or others {MOST_DEPTH} deep, or takes more than {MOST_STEPS:,} steps with all of theirs"
        yield written.problem(place, what, "procedures use only others, and few", *path)
        return
    for name, default in procedure.parameters.items():
        for unknown in set(names_in(of_value(default))) - BASE_NAMES:
            what = f"the default of {name!r} names {unknown!r}"
            yield written.problem(place, what, "use a name of every case", *path)
    names = set(BASE_NAMES) | set(procedure.parameters)
    yield from _steps_problems(written, place, procedure.steps, known, names, path)


def _steps_problems(
    written: WrittenSuite,
    place: str,
    steps: Sequence[Step],
    known: Known,
    names: set[str],
    path: tuple[str | int, ...],
) -> Iterator[Problem]:
    called_before = False
    for index, step in enumerate(steps):
        for what, remedy in step_problems(step, known, names, called_before=called_before):
            yield written.problem(f"{place}, step {index + 1}", what, remedy, *path, "steps", index)
        called_before = called_before or step.HasField("call") or step.HasField("use")
        names |= known.saved_by(step)
