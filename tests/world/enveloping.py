"""Commits that a signed envelope of upstream proves, in place of an Invocation."""

import json
from dataclasses import replace
from itertools import count
from typing import Any

from authority.domain.plan import CommitPlan
from authority.domain.refusal import Refusal
from authority.usecases.authenticate import Shown
from authority.usecases.commit import CommitAnswer, CommitRequest
from authority.usecases.prove_by_envelope import Proven
from capability_authority.offline import PrivateKey, read_payload
from capability_authority.offline.upstream import ActionRef, commit_action_envelope, sign_action_envelope
from capability_authority.v1.statements_pb2 import CommitCapability
from tests.world.world import WITHIN_S, Issued, Presented, World, must, soon

_EVENTS = count(1)
SUBJECT = ActionRef("ruflo-agent", "agent 7 | of nobody here")
ACTOR = ActionRef("workload", "spiffe://example/coder")


def envelope_for(world: World, issued: Issued, **changed: Any) -> dict[str, object]:
    """An envelope for exactly this commit, but for what is changed."""
    statement = issued.capability.statement
    terms = read_payload(statement.payload_type, statement.payload, CommitCapability)
    event_id = f"event-{next(_EVENTS)}"
    made = commit_action_envelope(
        terms, event_id=event_id, subject=SUBJECT, actor=ACTOR, occurred_ms=world.now(), issuer="ruflo.policy"
    )
    return {name: value for name, value in (made | changed).items() if value is not None}


def signed(envelope: dict[str, object], key: PrivateKey, key_id: str | None = None) -> bytes:
    """The envelope, signed."""
    return sign_action_envelope(envelope, key, key_id=key_id)


def envelope_of(world: World, issued: Issued, **changed: Any) -> bytes:
    """An envelope for exactly this commit, signed by the holder."""
    return signed(envelope_for(world, issued, **changed), issued.holder.key)


def resigned(presented: bytes, **wrapper: object) -> bytes:
    """The signed envelope with other members around it, as text."""
    return json.dumps(json.loads(presented) | wrapper).encode()


async def prove(
    world: World, issued: Issued, presented: bytes, shown: Shown | None = None, **presents: Any
) -> Proven | Refusal:
    """Who it proves to commit."""
    request = _request(issued, **presents)
    return await world.authority.do.prove_by_envelope(shown or Shown(), request, presented)


async def commit_by(
    world: World, issued: Issued, presented: bytes, shown: Shown | None = None, **presents: Any
) -> CommitAnswer | Refusal:
    """CommitValidated with the envelope, as the servicer does it."""
    proven = await prove(world, issued, presented, shown, **presents)
    if isinstance(proven, Refusal):
        return proven
    request = replace(_request(issued, **presents), action_proof=proven.proof)
    return await world.authority.do.commit(proven.caller, request)


async def proven_by_envelope(world: World) -> CommitAnswer:
    """A record that was committed so."""
    issued = await world.issued()
    return must(await commit_by(world, issued, envelope_of(world, issued)))


async def plan_by(world: World, issued: Issued, presented: bytes) -> CommitPlan:
    """What would be handed to the committer, once the envelope was believed."""
    return replace(world.plan(issued), action_proof=must(await prove(world, issued, presented)).proof)


def _request(issued: Issued, **presents: Any) -> CommitRequest:
    different: Presented = {**presents}  # type: ignore[typeddict-item]  # as the world's own `commit` takes them
    presentation = replace(issued.presentation, **different)
    return CommitRequest(issued.capability.statement, presentation, soon(WITHIN_S))
