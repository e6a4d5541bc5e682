"""What is wrong with one step, whatever it does: every problem, each with its remedy."""

from collections.abc import Iterator
from typing import Final

from capability_authority_conformance.contract import principal_names
from capability_authority_conformance.running.calling import NOBODY
from capability_authority_conformance.running.checking import KINDS
from capability_authority_conformance.v1.suite_pb2 import Check, Make, Step, Use
from capability_authority_conformance.values import Json, of_struct, of_value
from capability_authority_conformance.written.lint_calls import call_problems
from capability_authority_conformance.written.lint_names import (
    Known,
    Trouble,
    fields_problems,
    named,
    near,
    unknown_names,
    who_problems,
)

__all__ = ["step_problems"]

_MOST_TIMES: Final = 8 * 1024 * 1024


def step_problems(step: Step, known: Known, names: set[str], *, called_before: bool) -> Iterator[Trouble]:
    """Every problem of a step that may refer to `names`."""
    if not step.say and (step.HasField("call") or step.HasField("check")):
        yield "says nothing", "write `say`: given, when or then, in words"
    match step.WhichOneof("action"):
        case "call":
            yield from call_problems(step.call, names, called_before=called_before)
        case "use":
            yield from _use_problems(step.use, known, names)
        case "make":
            yield from _make_problems(step.make, names)
        case "check":
            yield from _check_problems(step.check, names)
        case _:
            yield "does nothing", "write call, use, make or check"


def _use_problems(use: Use, known: Known, names: set[str]) -> Iterator[Trouble]:
    procedure = known.procedures.get(use.procedure)
    if procedure is None:
        yield f"no procedure is {use.procedure!r}", near(use.procedure, known.procedures)
        return
    given = of_struct(getattr(use, "with"))
    for name in given:
        if name not in procedure.parameters:
            yield f"{use.procedure} has no parameter {name!r}", near(name, procedure.parameters)
    yield from unknown_names(given, names)
    if not known.is_endless(use.procedure):
        for name in known.parameters_who(use.procedure) & set(given):
            who = given[name]
            if isinstance(who, str) and "${" not in who:
                yield from who_problems(who, names, frozenset({NOBODY}))
    saved = known.saved_in(use.procedure)
    for there in use.save.values():
        if there not in saved:
            yield f"{use.procedure} saves nothing under {there!r}", near(there, saved)


def _make_problems(make: Make, names: set[str]) -> Iterator[Trouble]:
    if not make.save:
        yield "is saved nowhere", "write `save`"
    match make.WhichOneof("made"):
        case "canonical_json" | "value" as kind:
            yield from unknown_names(of_value(getattr(make, kind)), names)
        case "text":
            yield from unknown_names(make.text, names)
        case "repeated":
            yield from unknown_names(make.repeated.text, names)
            yield from _times_problems(make.repeated.times)
        case "digest_of" | "statement_digest" as kind:
            yield from named([getattr(make, kind)], names)
        case "instant":
            yield from named(filter(None, [make.instant.of]), names)
        case "child_grant":
            child = make.child_grant
            yield from _signed_problems(child.parent, child.signed_by, of_value(child.terms), names)
        case "action_envelope":
            envelope = make.action_envelope
            said: Json = [envelope.key_id, of_value(envelope.members)]
            yield from _signed_problems(envelope.capability, envelope.signed_by, said, names)
        case "changed_statement":
            changed = make.changed_statement
            # It may keep the old signature.
            signer = changed.signed_by or next(iter(principal_names()))
            yield from _signed_problems(changed.of, signer, of_value(changed.fields), names)
        case _:
            yield "makes nothing", "write what is made: canonical_json, text, digest_of, ..."


def _times_problems(times: int) -> Iterator[Trouble]:
    if times > _MOST_TIMES:
        yield f"repeats a text {times:,} times", f"write at most {_MOST_TIMES:,}"


def _signed_problems(of: str, signed_by: str, said: Json, names: set[str]) -> Iterator[Trouble]:
    yield from named([of], names)
    yield from unknown_names(said, names)
    yield from who_problems(signed_by, names)


def _check_problems(check: Check, names: set[str]) -> Iterator[Trouble]:
    yield from named([*check.equal, *check.different, *check.fields.fields, *check.verifies], names)
    yield from fields_problems(check.fields, names)
    for kind in check.verifies.values():
        if kind not in KINDS:
            yield f"no payload is a {kind!r}", near(kind, KINDS)
    if not (check.equal or check.different or check.fields.fields or check.verifies):
        yield "checks nothing", "write equal, different, fields or verifies"
