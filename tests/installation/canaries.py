"""A word that is planted wherever a tenant can leave one, and requests that ask others' RPCs for all of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from capability_authority.client import HeldGrant, grant_terms
from capability_authority.client.rpcs import RPCS
from capability_authority.v1.capability_service_pb2 import StreamCommitValidatedRequest
from capability_authority.v1.memory_service_pb2 import RecallRecordsRequest, RecallRecordsResponse
from capability_authority.v1.statements_pb2 import SignedStatement
from capability_authority.v1.types_pb2 import Cost
from tests.installation.installation import AUDIENCE, NAMESPACE
from tests.installation.requests import commit_of
from tests.installation.team import Ready, Team
from tests.unit.rpc import requests

STREAM: Final = "StreamCommitValidated"
MADE_UP: Final = {"request_id"}
"""Fields in which every request says something of its own."""


@dataclass(frozen=True, slots=True)
class Planted:
    """What a tenant has, all of it with its canary: ids and texts by the names of fields, and signed statements."""

    canary: str
    texts: Mapping[str, str]
    statements: Mapping[str, SignedStatement]
    ready: Ready
    """A capability that was not used."""


async def plant(team: Team, canary: str) -> Planted:
    """Has the tenant's people leave the canary in everything that they can say, and notes where."""
    said: dict[str, Any] = {
        "source_refs": [f"thread:{canary}"],
        "subject_refs": [f"client:{canary}"],
        "correlation_id": canary,
        "costs": [Cost(stage=canary, model=canary)],
    }
    kept = await team.user.put_evidence(f"log of {canary}", visibility="workspace")
    ready = await team.ready(f"Tea for {canary}.", **said, evidence_digests=[kept.digest])
    await team.admin.decide(ready.ground.proposal, "approve", note=f"Fine, {canary}.")
    committed = await team.commit(ready)
    await team.user.cite(committed.record_id, citing_kind=canary, citing_ref=canary)
    await team.commit(await team.ready(f"More tea for {canary}.", **said))
    gone = await team.commit(await team.ready(f"No tea for {canary}.", **said))
    revoked = await team.admin.revoke_record(gone.record_id, note=f"Wrong, {canary}.")
    unused = await team.ready(f"Other tea for {canary}.", **said)
    grant = await granted(team, canary)
    first = RecallRecordsRequest(memory_namespace=NAMESPACE, query="tea", page_size=1)
    page = await team.user.call("RecallRecords", first)
    assert isinstance(page, RecallRecordsResponse)
    terms = unused.capability.terms
    return Planted(
        canary,
        {
            "record_id": committed.record_id,
            "receipt_id": committed.receipt_id,
            "proposal_id": unused.ground.proposal.proposal_id,
            "proposal_digest": unused.ground.proposal.proposal_digest,
            "capability_id": terms.capability_id,
            "commit_idempotency_key": unused.key,
            "memory_namespace": NAMESPACE,
            "query": f"tea or {canary}",
            "page_token": page.next_page_token,
            "at_least_as_fresh_as": revoked.revision_token,
            "evidence_digests": kept.digest,
            "digest": kept.digest,
            "content_digest": ready.ground.proposal.content_digest,
            "grant_digest": grant.digest,
            "aggregate": canary,
            "correlation_id": canary,
            "source_refs": f"thread:{canary}",
            "subject_refs": f"client:{canary}",
        },
        {
            "capability": unused.capability.statement,
            "validation_receipt": unused.ground.validation.receipt,
            "decision_receipt": unused.ground.decision.receipt,
            "grant": grant.statement,
        },
        unused,
    )


async def granted(team: Team, canary: str) -> HeldGrant:
    """A grant to recall, and to be told an aggregate."""
    user = team.tenant["user"]
    terms = grant_terms(
        audiences=[AUDIENCE],
        actions=["memory.recall"],
        resources=["aggregate/*"],
        read_memory_namespaces=[NAMESPACE],
        write_memory_namespaces=[],
        tools=[],
        providers=[],
        models=[],
        usd_micros=0,
        tokens=0,
        latency_ms=1_000,
        concurrency=10,
        uses=10,
        network=False,
        destructive=False,
    )
    return await team.admin.issue_grant(
        terms, subject=user.principal, holder=user.principal, holder_key_id=user.key_id, correlation_id=canary
    )


def aimed_at(planted: Planted, name: str) -> Iterator[Message]:
    """Requests of an RPC for what was planted: with every field, with each filter and token alone, with each choice."""
    if name == STREAM:
        yield StreamCommitValidatedRequest(tag=1, commit=commit_of(planted.ready))
        return
    good: Any = requests.RPCS[name].copy() if name in requests.RPCS else RPCS[name].request_class()
    yield _filled(good, planted)
    narrowed = [field.name for field in good.DESCRIPTOR.fields if field.name in _NARROWING]
    if narrowed:
        wide = _filled(good, planted)
        if "from_beginning" in wide.DESCRIPTOR.fields_by_name:
            wide.from_beginning = True
        for field_name in narrowed:
            wide.ClearField(field_name)
        yield wide
        for field_name in narrowed:
            one = type(wide)()
            one.CopyFrom(wide)
            _set_alone(one, field_name, _filled(good, planted))
            yield one
    for choice in good.DESCRIPTOR.oneofs:
        for field in choice.fields:
            if field.type == FieldDescriptor.TYPE_STRING and field.name in planted.texts:
                chosen = _filled(good, planted)
                setattr(chosen, field.name, planted.texts[field.name])
                yield chosen


_NARROWING: Final = (
    "memory_types", "provenances", "source_refs", "subject_refs", "created_after_time", "created_before_time",
    "start_time", "end_time", "page_token", "at_least_as_fresh_as", "grant", "grant_ancestors", "aggregate", "state",
    "filter", "cursor",
)  # fmt: skip


def _set_alone(message: Any, only: str, of: Message) -> None:
    value = getattr(of, only)
    field = message.DESCRIPTOR.fields_by_name[only]
    if field.is_repeated:
        getattr(message, only).extend(value)
    elif field.message_type is not None:
        getattr(message, only).CopyFrom(value)
    else:
        setattr(message, only, value)


def _filled(message: Message, planted: Planted) -> Any:
    """The same request with everything that is the tenant's in place of what stands there."""
    found: Any = type(message)()
    found.CopyFrom(message)
    _fill_in(found, planted)
    return found


def _fill_in(message: Any, planted: Planted) -> None:
    for field, value in message.ListFields():
        if field.message_type is not None:
            for one in value if field.is_repeated else [value]:
                if isinstance(one, SignedStatement):
                    one.CopyFrom(planted.statements.get(field.name, planted.statements["grant"]))
                else:
                    _fill_in(one, planted)
        elif field.name in MADE_UP:
            setattr(message, field.name, str(uuid4()))
        elif field.type == FieldDescriptor.TYPE_STRING and field.name in planted.texts:
            if field.is_repeated:
                del value[:]
                value.append(planted.texts[field.name])
            else:
                setattr(message, field.name, planted.texts[field.name])
        elif field.name == "page_size":
            message.page_size = 50
        elif field.name in ("revision", "proposal_revision"):
            setattr(message, field.name, 1)
