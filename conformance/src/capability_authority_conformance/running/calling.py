"""Takes the Call steps: asks, alone or as many, once or again, and judges every answer (suite.proto: Call)."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from google.protobuf.json_format import ParseDict, ParseError

from capability_authority_conformance.paths import Absent, found
from capability_authority_conformance.running.asking import asked_until, judged
from capability_authority_conformance.running.context import StepFailed, Story
from capability_authority_conformance.running.judging import Expected, misfits
from capability_authority_conformance.running.making import bytes_of
from capability_authority_conformance.running.statements import UNKNOWN_FIELD, caller_named
from capability_authority_conformance.running.together import misfits_together
from capability_authority_conformance.set_up import Caller
from capability_authority_conformance.substitution import CALLER, Names, NothingThere, replaced
from capability_authority_conformance.target.outcome import OK, Outcome
from capability_authority_conformance.target.proofs import Metadata, proof_metadata
from capability_authority_conformance.target.rpcs import Rpc, rpc_named
from capability_authority_conformance.v1.suite_pb2 import Answer, Call, SpoiledProof
from capability_authority_conformance.values import Json, members_of, of_struct, shown

__all__ = ["NOBODY", "called"]

NOBODY: Final = "nobody"
_PATIENCE_S: Final = 30.0
_WATCHED_MS: Final = 2_000
_SHOWN_CHARACTERS: Final = 600


@dataclass(frozen=True, slots=True)
class _Asked:
    """One caller's question, ready to be sent."""

    rpc: Rpc
    caller: Caller | None
    requests: list[bytes]
    expected: list[Expected]
    number: int
    shape: str
    """For people: whom, what and how, without the proof."""

    @property
    def permitted(self) -> frozenset[str]:
        """The outcomes that the case names."""
        return frozenset(expected.outcome for expected in self.expected)


async def called(call: Call, story: Story) -> None:
    """Ask as the step says, judge what is answered, save what is to be saved. Raises `StepFailed`, `NothingThere`."""
    rpc = rpc_named(call.rpc)
    assert rpc is not None, "linted"
    many = call.callers or 1
    asked = [_asked(call, rpc, story, number) for number in range(many)]
    outcomes = await asyncio.gather(*(_settled(call, each, story) for each in asked))
    for each, outcome in zip(asked, outcomes, strict=True):
        _require_permitted(each, outcome, many)
    lines = misfits_together(call.together, outcomes)
    if lines:
        raise StepFailed(["what all answers together must be"], lines, asked[0].shape)
    answers: list[Json] = [outcome.answer for outcome in outcomes]
    for name, path in call.save.items():
        saved = [_to_save(answer, path, name) for answer in answers]
        story.names[name] = saved if call.callers else saved[0]


def _asked(call: Call, rpc: Rpc, story: Story, number: int) -> _Asked:
    names: Names = {**story.names, CALLER: number} if call.callers else story.names
    caller = replaced(getattr(call, "as"), names)
    documents = [replaced(of_struct(struct), names) for struct in (call.messages or [call.request])]
    requests = [_bytes(rpc, document) for document in documents]
    if call.raw:
        requests = [bytes_of(call.raw, names)]
    if call.append_unknown_field:
        requests = [request + UNKNOWN_FIELD for request in requests]
    return _Asked(
        rpc=rpc,
        caller=None if caller == NOBODY else caller_named(caller, story.run.callers),
        requests=requests,
        expected=[_expected(answer, names) for answer in call.expect] or [Expected(OK, "", {}, {})],
        number=number,
        shape=_shape(call, caller, documents),
    )


def _bytes(rpc: Rpc, document: Json) -> bytes:
    try:
        return ParseDict(members_of(document), rpc.request_class()).SerializeToString(deterministic=True)
    except ParseError as error:
        raise NothingThere(f"the request cannot be made: {error}") from None


def _expected(answer: Answer, names: Names) -> Expected:
    facts = {name: str(replaced(value, names)) for name, value in answer.facts.items()}
    fields = {path: replaced(value, names) for path, value in of_struct(answer.fields).items()}
    return Expected(answer.outcome, answer.code, facts, fields)


async def _settled(call: Call, asked: _Asked, story: Story) -> Outcome:
    """The caller's last answer: its only one, unless the step says to ask again, or the target could not judge."""
    fits = _fits(asked)

    async def ask() -> Outcome:
        metadata = _metadata(call, asked, story)
        if asked.rpc.streams_answers and not asked.rpc.streams_requests:
            within_s = (call.within_ms or _WATCHED_MS) / 1_000
            return await story.run.target.watch(asked.rpc, asked.requests[0], metadata, within_s, fits)
        return await story.run.target.call(asked.rpc, asked.requests, metadata, caller=asked.number)

    async def once() -> Outcome:
        return await judged(ask, asked.permitted, story.run.note_asked_again)

    outcome = await once()
    if call.within_ms and not asked.rpc.streams_answers:
        outcome = await asked_until(fits, once, outcome, call.within_ms / 1_000)
    if call.patient:
        outcome = await asked_until(lambda answered: not answered.retry, once, outcome, _PATIENCE_S)
    return outcome


def _fits(asked: _Asked) -> Callable[[Outcome], bool]:
    return lambda outcome: any(not misfits(expected, outcome) for expected in asked.expected)


def _metadata(call: Call, asked: _Asked, story: Story) -> Metadata:
    """The proof of the call, of which the story remembers the last."""
    if asked.caller is None:
        return ()
    # A stream of requests is opened by a proof over the empty message.
    request = b"" if asked.rpc.streams_requests else asked.requests[0]
    if call.proof == SpoiledProof.SPOILED_PROOF_USED:
        if story.used is None or story.used[0] != request:
            raise NothingThere("SPOILED_PROOF_USED asks for the very request of the call before")
        return story.used[1]
    metadata = proof_metadata(asked.caller, asked.rpc, request, story.run.identity.audience, call.proof)
    story.used = (request, metadata)
    return metadata


def _require_permitted(asked: _Asked, outcome: Outcome, many: int) -> None:
    lines = [misfits(expected, outcome) for expected in asked.expected]
    if not all(lines):
        return
    closest = min(lines, key=len)
    who = [f"caller {asked.number} of {many}"] if many > 1 else []
    raise StepFailed(
        [str(expected) for expected in asked.expected],
        [*who, str(outcome), *closest],
        asked.shape,
        transport=outcome.is_transport,
    )


def _to_save(answer: Json, path: str, name: str) -> Json:
    there = found(answer, path)
    if isinstance(there, Absent):
        raise NothingThere(f"{path!r}, to be saved as {name!r}, leads nowhere in the answer {shown(answer)}")
    return there


def _shape(call: Call, caller: Json, documents: list[Json]) -> str:
    who = caller.get("name") if isinstance(caller, dict) else caller
    proof = f", proof {SpoiledProof.Name(call.proof)}" if call.proof else ""
    text = json.dumps(documents[0] if len(documents) == 1 else documents, ensure_ascii=False)
    cut = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return f"{call.rpc} as {who}{proof}: {cut}"
