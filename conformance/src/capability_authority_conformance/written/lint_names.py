"""What steps refer to: names that were saved, procedures, principals; and whether values can be judged."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from google.protobuf import struct_pb2

from capability_authority_conformance.contract import principal_names
from capability_authority_conformance.running.judging import JUDGES
from capability_authority_conformance.substitution import names_in
from capability_authority_conformance.v1.suite_pb2 import Procedure, Step
from capability_authority_conformance.values import Json, of_struct, shown
from capability_authority_conformance.written.lint_patterns import pattern_problems

__all__ = [
    "MOST_DEPTH",
    "MOST_STEPS",
    "Known",
    "Trouble",
    "fields_problems",
    "named",
    "near",
    "unknown_names",
    "who_problems",
]

Trouble = tuple[str, str]
"""What is wrong, and what to do."""
MOST_STEPS: Final = 1_000
"""Of a procedure, with those of the procedures that it uses."""
MOST_DEPTH: Final = 16
_SAVE: Final = "save it in a step before"


@dataclass(frozen=True, slots=True)
class Known:
    """What steps may refer to."""

    procedures: Mapping[str, Procedure]
    _ending: frozenset[str] = field(init=False)
    """The procedures that come to an end: what looks into others below looks into these alone."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ending", _ending(self.procedures))

    def saved_by(self, step: Step) -> set[str]:
        """The names that are there once the step is taken."""
        match step.WhichOneof("action"):
            case "call":
                return set(step.call.save)
            case "make":
                return {step.make.save}
            case "use":
                return set(step.use.save) or self.saved_in(step.use.procedure)
            case _:
                return set()

    def saved_in(self, procedure: str) -> set[str]:
        """The names that a procedure saves."""
        if procedure not in self.procedures or self.is_endless(procedure):
            return set()
        return {name for step in self.procedures[procedure].steps for name in self.saved_by(step)}

    def asks(self, steps: Iterable[Step]) -> bool:
        """Whether one of the steps asks the target, be it in a procedure. One that is not there may."""
        return any(step.HasField("call") or (step.HasField("use") and self._may_ask(step)) for step in steps)

    def _may_ask(self, step: Step) -> bool:
        name = step.use.procedure
        return name not in self.procedures or self.is_endless(name) or self.asks(self.procedures[name].steps)

    def is_endless(self, procedure: str) -> bool:
        """Whether the procedure uses itself, be it through others, or takes so many steps that it might as well."""
        return procedure in self.procedures and procedure not in self._ending

    def parameters_who(self, procedure: str) -> set[str]:
        """The parameters of a procedure that name who calls or signs, there or in a procedure that it uses."""
        found: set[str] = set()
        for step in self.procedures[procedure].steps:
            make, use = step.make, step.use
            who: list[Json] = [
                getattr(step.call, "as"),
                make.child_grant.signed_by,
                make.action_envelope.signed_by,
                make.changed_statement.signed_by,
            ]
            if use.procedure in self.procedures:
                given = of_struct(getattr(use, "with"))
                who += [given[name] for name in self.parameters_who(use.procedure) if name in given]
            found.update(names_in(who))
        return found & set(self.procedures[procedure].parameters)


def _ending(procedures: Mapping[str, Procedure]) -> frozenset[str]:
    """Those whose steps, with those of all they use, are not too many; found from the innermost outwards."""
    steps: dict[str, int] = {}
    used = {name: [step.use.procedure for step in it.steps if step.HasField("use")] for name, it in procedures.items()}
    for _ in range(MOST_DEPTH):
        steps |= {
            name: len(procedure.steps) + sum(steps.get(it, 0) for it in used[name])
            for name, procedure in procedures.items()
            if name not in steps and all(it in steps or it not in procedures for it in used[name])
        }
    return frozenset(name for name, count in steps.items() if count <= MOST_STEPS)


def unknown_names(value: Json, names: set[str]) -> Iterator[Trouble]:
    """References in a value to what is not among `names`."""
    for name in names_in(value):
        if name in names:
            continue
        if name.startswith("${"):
            yield f"{name!r} is no reference", "write ${name}, ${name.path} or ${name[caller]}"
        else:
            yield f"nothing is saved under {name!r} before this step", near(name, names, _SAVE)


def named(references: Iterable[str], names: set[str]) -> Iterator[Trouble]:
    """Names, or `name.path`, of what is not among `names`."""
    for reference in references:
        name = reference.partition(".")[0].partition("[")[0]
        if name not in names:
            yield f"nothing is saved under {name!r} before this step", near(name, names, _SAVE)


def near(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """What to do about a name that is not known: the one that was meant, `otherwise`, or one of those there are."""
    there = sorted(known)
    close = get_close_matches(name, there, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return otherwise or (f"there are {', '.join(there)}" if there else "there are none")


def who_problems(who: str, names: set[str], others: frozenset[str] = frozenset()) -> Iterator[Trouble]:
    """Whether a principal of the set-up contract, or one of `others`, is named."""
    if "${" in who:
        yield from unknown_names(who, names)
    elif who not in principal_names() | others:
        yield f"no principal of the set-up contract is {who!r}", near(who, principal_names())


def fields_problems(fields: struct_pb2.Struct, names: set[str]) -> Iterator[Trouble]:
    """What cannot be judged: unknown names, patterns that are none, words that are none."""
    for path, expected in of_struct(fields).items():
        yield from unknown_names(expected, names)
        match expected:
            case {"matches": str(pattern)}:
                for problem in pattern_problems(pattern):
                    yield f"{path}: {shown(pattern)} {problem}", "write a simpler one"
            case dict() if len(expected) == 1 and next(iter(expected)) not in JUDGES:
                word = next(iter(expected))
                close = get_close_matches(word, JUDGES, n=1)
                if close:
                    yield f"{path}: no word that judges is {word!r}", f"did you mean {close[0]!r}?"
            case _:
                pass
