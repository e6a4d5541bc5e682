"""What is wrong with one step: names nobody saved, RPCs and fields that are not there, answers without a why."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

import grpc
from google.protobuf import struct_pb2

from capability_authority_conformance.contract import principal_names
from capability_authority_conformance.error_table import error_table
from capability_authority_conformance.running.calling import NOBODY
from capability_authority_conformance.running.checking import KINDS
from capability_authority_conformance.running.judging import JUDGES
from capability_authority_conformance.substitution import CALLER, names_in
from capability_authority_conformance.target.outcome import NO_REASON, OK
from capability_authority_conformance.target.rpcs import Rpc, rpc_named, rpc_names
from capability_authority_conformance.v1.suite_pb2 import Answer, Call, Check, Make, Procedure, SpoiledProof, Step, Use
from capability_authority_conformance.values import Json, of_struct, of_value
from capability_authority_conformance.written.lint_fields import path_problem, request_problems

__all__ = ["Known", "step_problems"]

Trouble = tuple[str, str]
"""What is wrong, and what to do."""
_CODES: Final = frozenset(code.name for code in grpc.StatusCode)


@dataclass(frozen=True, slots=True)
class Known:
    """What steps may refer to."""

    procedures: Mapping[str, Procedure]

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
        if procedure not in self.procedures or self.goes_round(procedure):
            return set()
        return {name for step in self.procedures[procedure].steps for name in self.saved_by(step)}

    def goes_round(self, procedure: str, above: tuple[str, ...] = ()) -> bool:
        """Whether the procedure uses itself, be it through others."""
        if procedure in above:
            return True
        steps = self.procedures[procedure].steps if procedure in self.procedures else ()
        return any(self.goes_round(step.use.procedure, (*above, procedure)) for step in steps if step.HasField("use"))

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

    def unknown_in(self, value: Json, names: set[str]) -> Iterator[str]:
        """The names in a value that are not among those saved."""
        yield from (name for name in names_in(value) if name not in names)


def step_problems(step: Step, known: Known, names: set[str], *, called_before: bool) -> Iterator[Trouble]:
    """Every problem of a step that may refer to `names`."""
    if not step.say and (step.HasField("call") or step.HasField("check")):
        yield "says nothing", "write `say`: given, when or then, in words"
    match step.WhichOneof("action"):
        case "call":
            yield from _call_problems(step.call, known, names, called_before=called_before)
        case "use":
            yield from _use_problems(step.use, known, names)
        case "make":
            yield from _make_problems(step.make, known, names)
        case "check":
            yield from _check_problems(step.check, known, names)
        case _:
            yield "does nothing", "write call, use, make or check"


def _unknown_names(value: Json, known: Known, names: set[str]) -> Iterator[Trouble]:
    for name in known.unknown_in(value, names):
        if name.startswith("${"):
            yield f"{name!r} is no reference", "write ${name}, ${name.path} or ${name[caller]}"
        else:
            yield f"nothing is saved under {name!r} before this step", _near(name, names)


def _named(references: Iterable[str], names: set[str]) -> Iterator[Trouble]:
    for reference in references:
        name = reference.partition(".")[0].partition("[")[0]
        if name not in names:
            yield f"nothing is saved under {name!r} before this step", _near(name, names)


def _near(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else "save it in a step before"


def _who_problems(who: str, known: Known, names: set[str], others: frozenset[str] = frozenset()) -> Iterator[Trouble]:
    if "${" in who:
        yield from _unknown_names(who, known, names)
    elif who not in principal_names() | others:
        yield f"no principal of the set-up contract is {who!r}", _near(who, principal_names())


def _call_problems(call: Call, known: Known, names: set[str], *, called_before: bool) -> Iterator[Trouble]:
    rpc = rpc_named(call.rpc)
    if rpc is None:
        near = get_close_matches(call.rpc, rpc_names(), n=1)
        yield f"the contract has no RPC {call.rpc!r}", f"did you mean {near[0]!r}?" if near else "see its services"
        return
    here = names | {CALLER} if call.callers else names
    yield from _who_problems(getattr(call, "as"), known, here, frozenset({NOBODY}))
    yield from _request_problems(call, rpc, known, here)
    for number, answer in enumerate(call.expect):
        yield from _answer_problems(answer, rpc, known, here, is_first=number == 0)
    if call.proof == SpoiledProof.SPOILED_PROOF_USED and not called_before:
        yield "SPOILED_PROOF_USED has no call before it", "make the same call before"
    if call.within_ms and call.patient:
        yield "is patient and asks again within_ms", "write one of them"
    yield from _together_problems(call)
    for path in call.save.values():
        problem = path_problem(path, rpc.response, streams=rpc.streams_answers)
        if problem:
            yield problem, "see the answer's message in the contract"


def _request_problems(call: Call, rpc: Rpc, known: Known, names: set[str]) -> Iterator[Trouble]:
    if sum((call.HasField("request"), bool(call.raw), bool(call.messages))) > 1:
        yield "has more than one of request, raw and messages", "write one of them"
    if call.messages and not rpc.streams_requests:
        yield f"the requests of {rpc.name} are no stream", "write `request`"
    if call.raw:
        yield from _named([call.raw], names)
    for struct in call.messages or [call.request]:
        request = of_struct(struct)
        yield from _unknown_names(request, known, names)
        for problem in request_problems(request, rpc.request):
            yield problem, "see the request's message in the contract"


def _answer_problems(answer: Answer, rpc: Rpc, known: Known, names: set[str], *, is_first: bool) -> Iterator[Trouble]:
    outcomes = (OK, NO_REASON, *error_table())
    if answer.outcome not in outcomes:
        yield f"no outcome is {answer.outcome!r}", _near(answer.outcome, outcomes)
    if answer.outcome == NO_REASON and not answer.code:
        yield "NO_REASON without a code", "write `code`"
    if answer.code and answer.code not in _CODES:
        yield f"gRPC has no code {answer.code!r}", _near(answer.code, _CODES)
    if bool(answer.because) == is_first:
        yield (
            ("`because` is for alternatives", "remove it from the first answer")
            if is_first
            else (f"nothing says why {answer.outcome} is permitted too", "write `because`")
        )
    if answer.fields.fields and answer.outcome != OK:
        yield "a refusal has no fields", "write `facts`"
    yield from _unknown_names(dict(answer.facts), known, names)
    yield from _fields_problems(answer.fields, known, names)
    for path in answer.fields.fields:
        problem = path_problem(path, rpc.response, streams=rpc.streams_answers)
        if problem:
            yield problem, "see the answer's message in the contract"


def _fields_problems(fields: struct_pb2.Struct, known: Known, names: set[str]) -> Iterator[Trouble]:
    for path, expected in of_struct(fields).items():
        yield from _unknown_names(expected, known, names)
        match expected:
            case {"matches": str(pattern)}:
                try:
                    re.compile(pattern)
                except re.error as error:
                    yield f"{path}: {pattern!r} is no regular expression: {error}", "mend it"
            case dict() if len(expected) == 1 and next(iter(expected)) not in JUDGES:
                word = next(iter(expected))
                near = get_close_matches(word, JUDGES, n=1)
                if near:
                    yield f"{path}: no word that judges is {word!r}", f"did you mean {near[0]!r}?"
            case _:
                pass


def _together_problems(call: Call) -> Iterator[Trouble]:
    together = call.together
    if call.HasField("together") and call.callers <= 1:
        yield "`together` needs many callers", "write `callers`"
    if together.outcomes and sum(together.outcomes.values()) != call.callers:
        yield f"the outcomes of {call.callers} callers add up to {sum(together.outcomes.values())}", "count again"
    for outcome in together.outcomes:
        if outcome not in (OK, NO_REASON, *error_table()):
            yield f"no outcome is {outcome!r}", _near(outcome, (OK, NO_REASON, *error_table()))


def _use_problems(use: Use, known: Known, names: set[str]) -> Iterator[Trouble]:
    procedure = known.procedures.get(use.procedure)
    if procedure is None:
        yield f"no procedure is {use.procedure!r}", _near(use.procedure, known.procedures)
        return
    given = of_struct(getattr(use, "with"))
    for name in given:
        if name not in procedure.parameters:
            yield f"{use.procedure} has no parameter {name!r}", _near(name, procedure.parameters)
    yield from _unknown_names(given, known, names)
    if not known.goes_round(use.procedure):
        for name in known.parameters_who(use.procedure) & set(given):
            who = given[name]
            if isinstance(who, str) and "${" not in who:
                yield from _who_problems(who, known, names, frozenset({NOBODY}))
    saved = known.saved_in(use.procedure)
    for there in use.save.values():
        if there not in saved:
            yield f"{use.procedure} saves nothing under {there!r}", _near(there, saved)


def _make_problems(make: Make, known: Known, names: set[str]) -> Iterator[Trouble]:
    if not make.save:
        yield "is saved nowhere", "write `save`"
    match make.WhichOneof("made"):
        case "canonical_json" | "value" as kind:
            yield from _unknown_names(of_value(getattr(make, kind)), known, names)
        case "text":
            yield from _unknown_names(make.text, known, names)
        case "repeated":
            yield from _unknown_names(make.repeated.text, known, names)
        case "digest_of" | "statement_digest" as kind:
            yield from _named([getattr(make, kind)], names)
        case "instant":
            yield from _named(filter(None, [make.instant.of]), names)
        case "child_grant":
            child = make.child_grant
            yield from _signed_problems(child.parent, child.signed_by, of_value(child.terms), known, names)
        case "action_envelope":
            envelope = make.action_envelope
            said: Json = [envelope.key_id, of_value(envelope.members)]
            yield from _signed_problems(envelope.capability, envelope.signed_by, said, known, names)
        case "changed_statement":
            changed = make.changed_statement
            # It may keep the old signature.
            signer = changed.signed_by or next(iter(principal_names()))
            yield from _signed_problems(changed.of, signer, of_value(changed.fields), known, names)
        case _:
            yield "makes nothing", "write what is made: canonical_json, text, digest_of, ..."


def _signed_problems(of: str, signed_by: str, said: Json, known: Known, names: set[str]) -> Iterator[Trouble]:
    yield from _named([of], names)
    yield from _unknown_names(said, known, names)
    yield from _who_problems(signed_by, known, names)


def _check_problems(check: Check, known: Known, names: set[str]) -> Iterator[Trouble]:
    yield from _named([*check.equal, *check.different, *check.fields.fields, *check.verifies], names)
    yield from _fields_problems(check.fields, known, names)
    for kind in check.verifies.values():
        if kind not in KINDS:
            yield f"no payload is a {kind!r}", _near(kind, KINDS)
    if not (check.equal or check.different or check.fields.fields or check.verifies):
        yield "checks nothing", "write equal, different, fields or verifies"
