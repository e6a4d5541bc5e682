"""What is wrong with one call: RPCs and fields that are not there, answers without a why, crowds that do not add up."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

import grpc

from capability_authority_conformance.error_table import error_table
from capability_authority_conformance.running.calling import NOBODY
from capability_authority_conformance.substitution import CALLER
from capability_authority_conformance.target.outcome import BROKEN_CODES, NO_REASON, OK
from capability_authority_conformance.target.rpcs import Rpc, rpc_named, rpc_names
from capability_authority_conformance.v1.suite_pb2 import Answer, Call, SpoiledProof
from capability_authority_conformance.values import of_struct
from capability_authority_conformance.written.lint_fields import path_problem, request_problems
from capability_authority_conformance.written.lint_names import (
    Trouble,
    fields_problems,
    named,
    near,
    unknown_names,
    who_problems,
)

__all__ = ["call_problems"]

_MOST_CALLERS: Final = 1_000
_CODES: Final = frozenset(code.name for code in grpc.StatusCode)


def call_problems(call: Call, names: set[str], *, called_before: bool) -> Iterator[Trouble]:
    """Every problem of a call."""
    rpc = rpc_named(call.rpc)
    if rpc is None:
        close = get_close_matches(call.rpc, rpc_names(), n=1)
        yield f"the contract has no RPC {call.rpc!r}", f"did you mean {close[0]!r}?" if close else "see its services"
        return
    here = names | {CALLER} if call.callers else names
    yield from who_problems(getattr(call, "as"), here, frozenset({NOBODY}))
    yield from _request_problems(call, rpc, here)
    for number, answer in enumerate(call.expect):
        yield from _answer_problems(answer, rpc, here, is_first=number == 0)
    if call.proof == SpoiledProof.SPOILED_PROOF_USED and not called_before:
        yield "SPOILED_PROOF_USED has no call before it", "make the same call before"
    if call.callers > _MOST_CALLERS:
        yield f"has {call.callers:,} callers", f"write at most {_MOST_CALLERS:,}"
    if call.within_ms and call.patient:
        yield "is patient and asks again within_ms", "write one of them"
    yield from _together_problems(call)
    for path in call.save.values():
        problem = path_problem(path, rpc.response, streams=rpc.streams_answers)
        if problem:
            yield problem, "see the answer's message in the contract"


def _request_problems(call: Call, rpc: Rpc, names: set[str]) -> Iterator[Trouble]:
    if sum((call.HasField("request"), bool(call.raw), bool(call.messages))) > 1:
        yield "has more than one of request, raw and messages", "write one of them"
    if call.messages and not rpc.streams_requests:
        yield f"the requests of {rpc.name} are no stream", "write `request`"
    if call.raw:
        yield from named([call.raw], names)
    for struct in call.messages or [call.request]:
        request = of_struct(struct)
        yield from unknown_names(request, names)
        for problem in request_problems(request, rpc.request):
            yield problem, "see the request's message in the contract"


def _answer_problems(answer: Answer, rpc: Rpc, names: set[str], *, is_first: bool) -> Iterator[Trouble]:
    outcomes = (OK, NO_REASON, *error_table())
    if answer.outcome not in outcomes:
        yield f"no outcome is {answer.outcome!r}", near(answer.outcome, outcomes)
    if answer.outcome == NO_REASON and not answer.code:
        yield "NO_REASON without a code", "write `code`"
    if answer.outcome == NO_REASON and answer.code in BROKEN_CODES:
        yield f"{answer.code} without a reason is no answer: a target that breaks would pass", "expect a reason"
    if answer.code and answer.code not in _CODES:
        yield f"gRPC has no code {answer.code!r}", near(answer.code, _CODES)
    if bool(answer.because) == is_first:
        yield (
            ("`because` is for alternatives", "remove it from the first answer")
            if is_first
            else (f"nothing says why {answer.outcome} is permitted too", "write `because`")
        )
    if answer.fields.fields and answer.outcome != OK:
        yield "a refusal has no fields", "write `facts`"
    yield from unknown_names(dict(answer.facts), names)
    yield from fields_problems(answer.fields, names)
    for path in answer.fields.fields:
        problem = path_problem(path, rpc.response, streams=rpc.streams_answers)
        if problem:
            yield problem, "see the answer's message in the contract"


def _together_problems(call: Call) -> Iterator[Trouble]:
    together = call.together
    if call.HasField("together") and call.callers <= 1:
        yield "`together` needs many callers", "write `callers`"
    if together.outcomes and sum(together.outcomes.values()) != call.callers:
        yield f"the outcomes of {call.callers} callers add up to {sum(together.outcomes.values())}", "count again"
    permitted = {answer.outcome for answer in call.expect} or {OK}
    for outcome in together.outcomes.keys() - permitted:
        yield (
            f"together some get {outcome!r}, which no single caller may get",
            f"expect it, or one of {sorted(permitted)}",
        )
