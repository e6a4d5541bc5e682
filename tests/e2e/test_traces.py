"""One commit is one trace, from its caller to the sink; and watching changes no answer (cases F01, F02, G16)."""

import asyncio
import os
import re
import secrets
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from grpc import aio
from opentelemetry import context as contexts
from opentelemetry import trace

from authority.embedded import PostgresServer
from authority.telemetry.names import ATTRIBUTES, COMMITS, METRICS, REDIS_AVAILABLE, REFUSALS, SPANS, Metric
from authority.telemetry.reading import read
from capability_authority.client.versions import user_agent
from capability_authority.v1.capability_service_pb2 import (
    BatchCommitValidatedRequest,
    BatchCommitValidatedResponse,
    CommitValidatedRequest,
    GetKeySetRequest,
    StreamCommitValidatedRequest,
)
from tests.installation.collector import QUICKLY, CollectedSpan, Collector, collecting
from tests.installation.fixtures import new_installation
from tests.installation.installation import OTHER_NAMESPACE, Installation
from tests.installation.processes import ServiceProcess, eventually
from tests.installation.requests import commit_of
from tests.installation.team import ONCE, Team, team_at
from tests.installation.wire import Wire, wire_to
from tests.integration.rpc.running import Failure

SECRET = "7b1f0c-never-shown"
"""Stands in what is committed, and in what the database says of a commit that it cannot store."""
COMMIT = "capability_authority.v1.CapabilityService/CommitValidated"
_FAULT = f"""
create function public.refuse_plan() returns trigger language plpgsql as
  $$ begin raise exception 'cannot store {SECRET}' using errcode = '23514'; end $$;
create trigger refuse_plan before insert on authority.memory_record for each row
  when (new.memory_namespace = '{OTHER_NAMESPACE}') execute function public.refuse_plan();
"""
"""A defect, for one memory namespace."""


@dataclass(frozen=True, slots=True)
class Watched:
    """An installation with a process that is watched, and one that is not."""

    installation: Installation
    collector: Collector
    service: ServiceProcess
    unwatched: ServiceProcess

    @property
    def variables(self) -> dict[str, str]:
        """What has a process watched."""
        return _variables(self.collector)


def _variables(collector: Collector) -> dict[str, str]:
    collected = {"AUTHORITY_OTLP_ENDPOINT": collector.target, "AUTHORITY_METRICS_LISTEN": "127.0.0.1:0"}
    return {**QUICKLY, **collected, "AUTHORITY_LOG_FORMAT": "json"}


@pytest.fixture(scope="module")
async def watched(
    postgres_server: PostgresServer, redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Watched]:
    with new_installation(postgres_server, redis_url, tmp_path_factory.mktemp("watched")) as made:
        await made.furnish()
        with psycopg.connect(made.admin_url, autocommit=True) as superuser:
            superuser.execute(_FAULT)
        async with collecting() as collector:
            with made.processes() as processes:
                service = processes.start(environment=_variables(collector))
                unwatched = processes.start()
                await service.serving()
                await unwatched.serving()
                yield Watched(made, collector, service, unwatched)


@pytest.fixture
async def team(watched: Watched) -> AsyncIterator[Team]:
    async with team_at(watched.service.address, await watched.installation.tenant(), retries=ONCE) as team:
        yield team


@contextmanager
def a_span_of_the_caller() -> Iterator[trace.SpanContext]:
    """What a caller that uses OpenTelemetry has as its current span."""
    flags = trace.TraceFlags(trace.TraceFlags.SAMPLED)
    context = trace.SpanContext(secrets.randbits(127) + 1, secrets.randbits(63) + 1, is_remote=False, trace_flags=flags)
    token = contexts.attach(trace.set_span_in_context(trace.NonRecordingSpan(context)))
    try:
        yield context
    finally:
        contexts.detach(token)


def _one(spans: Sequence[CollectedSpan], name: str) -> CollectedSpan:
    (found,) = [span for span in spans if span.name == name]
    return found


def _children(spans: Sequence[CollectedSpan], parent: CollectedSpan) -> set[str]:
    return {span.name for span in spans if span.parent_id == parent.span_id}


def _refs(spans: Sequence[CollectedSpan]) -> set[tuple[str, str]]:
    return {(span.trace_id, span.span_id) for span in spans}


async def test_a_commit_is_one_trace_from_its_caller_to_the_database_function(watched: Watched, team: Team) -> None:
    # Given a caller that has a span
    ready = await team.ready()
    with a_span_of_the_caller() as caller:
        # When it commits
        committed = await team.commit(ready)
    # Then the call is below its span, and everything that was done for it below the call
    spans = await watched.collector.trace(f"{caller.trace_id:032x}", COMMIT, "postgresql commit")
    call, use_case = _one(spans, COMMIT), _one(spans, "use case commit")
    wait, gathered = _one(spans, "wait for commit"), _one(spans, "gathered commit")
    assert (call.parent_id, call.kind) == (f"{caller.span_id:016x}", "SPAN_KIND_SERVER")
    # And it says which client that was
    assert str(call.attributes["user_agent.original"]).startswith(user_agent())
    assert {"use case authenticate", "use case commit"} <= _children(spans, call)
    assert {"redis MGET", "wait for commit", "redis what was told"} <= _children(spans, use_case)
    assert _children(spans, wait) == {"gathered commit"}
    assert "postgresql commit" in _children(spans, gathered)
    # And the wait and the call that served it name each other
    assert wait.links == _refs([gathered])
    assert gathered.links == _refs([wait])
    # And it is told what came of it
    assert use_case.attributes["authority.record_id"] == committed.record_id
    assert call.attributes["authority.tenant"] == str(team.tenant.ref)
    assert call.attributes["rpc.response.status_code"] == "OK"


async def test_commits_that_go_together_are_linked_with_the_one_call_and_each_in_its_own_trace(
    watched: Watched, team: Team
) -> None:
    # Given more commits than calls of the database may be under way
    ready = [await team.ready() for _ in range(24)]
    before = len(watched.collector.spans)

    async def commit(number: int) -> str:
        with a_span_of_the_caller() as caller:
            await team.commit(ready[number])
            return f"{caller.trace_id:032x}"

    # When they come at once
    traces = await asyncio.gather(*map(commit, range(len(ready))))

    # Then each wait, in its caller's trace, is linked with a call that is linked with it
    def waits() -> list[CollectedSpan]:
        return [span for span in watched.collector.spans[before:] if span.name == "wait for commit"]

    def calls() -> list[CollectedSpan]:
        return [span for span in watched.collector.spans[before:] if span.name == "gathered commit"]

    def carried() -> int:
        return sum(int(call.attributes["authority.items"]) for call in calls())

    await eventually(lambda: len(waits()) == carried() == len(ready), "the spans of all commits")
    assert {wait.trace_id for wait in waits()} == {*traces}
    for call in calls():
        linked = [wait for wait in waits() if (wait.trace_id, wait.span_id) in call.links]
        assert len(linked) == call.attributes["authority.items"]
        assert all(wait.links == _refs([call]) for wait in linked)
    assert any(int(call.attributes["authority.items"]) > 1 for call in calls())


async def test_the_event_of_a_commit_is_delivered_in_its_trace(watched: Watched, team: Team) -> None:
    ready = await team.ready()
    with a_span_of_the_caller() as caller:
        committed = await team.commit(ready)
    # When the relay, another process, delivers what waits
    relay = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "authority.cli", "relay", "--once"),
        env={"PATH": os.defpath, **watched.installation.settings(), **watched.variables},
    )
    assert await relay.wait() == 0
    # Then the event's publishing is in the commit's trace, and names the batch in which it went to the sink
    spans = await watched.collector.trace(f"{caller.trace_id:032x}", COMMIT, "publish memory.committed.v1")
    published = _one(spans, "publish memory.committed.v1")
    assert published.parent_id == _one(spans, COMMIT).span_id
    assert published.kind == "SPAN_KIND_PRODUCER"
    assert published.attributes["authority.record_id"] == committed.record_id
    deliveries = [span for span in watched.collector.spans if span.name == "deliver events"]
    assert published.links <= _refs(deliveries)
    assert len(published.links) == 1


async def _seen_by_the_caller(wire: Wire, request: CommitValidatedRequest) -> tuple[object, ...]:
    """Status, details and trailers of a call, without what differs between any two calls."""
    try:
        answer = await wire.send("CommitValidated", request)
    except aio.AioRpcError as error:
        failure = Failure(error)
        facts = {name: value for name, value in failure.info.metadata.items() if name != "incident_id"}
        assert failure.status is not None
        kinds = [detail.type_url for detail in failure.status.details]
        trailers = sorted({key for key, _ in error.trailing_metadata() or ()})
        told = ("incident_id" in failure.info.metadata, failure.retry is not None, kinds, trailers)
        return (failure.code, failure.message, failure.reason, facts, *told)
    return ("OK", bool(answer))


async def _all_that_is_seen(address: str, watched: Watched) -> list[object]:
    """What a caller sees of a good commit, refused ones and a defect: alone, in a batch and on a stream."""
    tenant = await watched.installation.tenant()
    async with team_at(address, tenant, retries=ONCE) as team, wire_to(address, tenant["service"]) as wire:
        ready = [await team.ready(SECRET + str(number)) for number in range(3)]
        faulty = [await team.ready(SECRET + str(number), memory_namespace=OTHER_NAMESPACE) for number in range(3)]
        changed = [commit_of(one, content=b"something else") for one in ready]
        seen: list[object] = [
            await _seen_by_the_caller(wire, commit)
            for commit in (commit_of(ready[0]), changed[1], commit_of(faulty[0]), CommitValidatedRequest())
        ]
        batch = [commit_of(ready[1]), changed[2], commit_of(faulty[1])]
        answer = await wire.send("BatchCommitValidated", BatchCommitValidatedRequest(requests=batch))
        seen.extend(_outcome(one) for one in BatchCommitValidatedResponse.FromString(answer).outcomes)
        # Not last: it is counted just after it was told, and may be counted late.
        stranger = await wire.refused("CommitValidated", commit_of(ready[0]), proofs=[])
        seen.append((stranger.code, stranger.reason))
        stream = wire.stream()
        for tag, commit in enumerate((commit_of(ready[2]), changed[0], commit_of(faulty[2]))):
            await stream.send(StreamCommitValidatedRequest(tag=tag, commit=commit))
            told = await stream.outcome()
            assert told is not None
            seen.append((told.tag, _outcome(told.outcome)))
        assert await stream.close() == []
        seen.append(await stream.call.code())
    return seen


def _outcome(outcome: object) -> object:
    return re.sub(r"[0-9a-f-]{36}", "ID", str(getattr(outcome, "status", ""))) or type(outcome).__name__


async def test_f01_what_a_caller_sees_is_the_same_whether_or_not_it_is_watched(watched: Watched) -> None:
    seen = await _all_that_is_seen(watched.service.address, watched)

    assert seen == await _all_that_is_seen(watched.unwatched.address, watched)
    # And it was all of what there is: a good commit, a refusal, a defect, and a request of a wrong shape
    assert [one[2] if len(one) > 2 else one[0] for one in seen[:4] if isinstance(one, tuple)] == [
        "OK",
        "BINDING_MISMATCH",
        "INTERNAL",
        "MALFORMED",
    ]


async def test_f01_a_refusal_is_no_error_and_a_defect_is_one_under_its_incident_id(
    watched: Watched, team: Team
) -> None:
    good, bad = await team.ready(SECRET), await team.ready(SECRET, memory_namespace=OTHER_NAMESPACE)
    async with wire_to(watched.service.address, team.tenant["service"]) as wire:
        before = len(watched.collector.spans)
        await wire.refused("CommitValidated", commit_of(good, content=b"something else"))
        failure = await wire.refused("CommitValidated", commit_of(bad))

    def calls() -> list[CollectedSpan]:
        return [span for span in watched.collector.spans[before:] if span.name == COMMIT]

    await eventually(lambda: len(calls()) == 2, "the spans of both calls")
    refused, failed = sorted(calls(), key=lambda span: span.is_error)
    assert (refused.is_error, failed.is_error) == (False, True)
    assert refused.attributes["authority.reason"] == "BINDING_MISMATCH"
    assert refused.attributes["rpc.response.status_code"] == "PERMISSION_DENIED"
    assert failed.attributes["rpc.response.status_code"] == "INTERNAL"
    incident = failure.info.metadata["incident_id"]
    assert failed.attributes["authority.incident_id"] == incident
    # And the log tells of the incident in the same trace
    await eventually(lambda: incident in watched.service.said, "the incident in the log")
    (line,) = [line for line in watched.service.said.splitlines() if incident in line]
    assert f'"trace_id": "{failed.trace_id}"' in line
    assert f'"span_id": "{failed.span_id}"' in line


async def test_g16_a_stranger_gives_no_name_to_spans_or_metrics(watched: Watched) -> None:
    before = len(watched.collector.spans)
    async with aio.insecure_channel(watched.service.address) as channel:
        for method in ("/capability_authority.v1.CapabilityService/Stranger", "/other.Service/Stranger"):
            call: aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method)
            with pytest.raises(aio.AioRpcError):
                await call(b"")
        known: aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
            "/capability_authority.v1.CapabilityService/GetKeySet"
        )
        await known(GetKeySetRequest().SerializeToString())

    def names() -> list[str]:
        return [span.name for span in watched.collector.spans[before:]]

    await eventually(lambda: any("GetKeySet" in name for name in names()), "the span of the known call")
    assert [name for name in names() if "Stranger" in name] == []
    assert "unknown" in names()


async def test_nothing_that_was_told_holds_content_proofs_or_passwords(watched: Watched, team: Team) -> None:
    # Given a busy run: commits, refusals and defects whose content holds a secret, and the database's words
    await _all_that_is_seen(watched.service.address, watched)
    await eventually(lambda: len(watched.collector.spans) > 0, "spans")
    # Then neither spans nor the log hold it, nor the database's password, nor statements
    passwords = [url.partition("://")[2].partition(":")[2].partition("@")[0] for url in _urls(watched.installation)]
    told = "\n".join([*(span.everything for span in watched.collector.spans), watched.service.said])
    for secret in (SECRET, *passwords, "select ", "insert into", "something else", "proof-bin"):
        assert secret
        assert secret.lower() not in told.lower()
    # And no span was ended elsewhere than it began, of which OpenTelemetry would complain
    assert "detach" not in watched.service.said
    # And every span and attribute is one of the list
    known = [re.escape(span.name).replace(r"\{\}", ".+") for span in SPANS]
    attributes = {attribute.name for attribute in ATTRIBUTES}
    for span in watched.collector.spans:
        assert any(re.fullmatch(pattern, span.name) for pattern in known), span.name
        assert {*span.attributes} <= attributes


def _urls(installation: Installation) -> list[str]:
    settings = installation.settings()
    return [settings["AUTHORITY_DATABASE_URL"], installation.redis_url]


async def test_metrics_count_what_became_of_each_call_and_item_strangers_too(watched: Watched) -> None:
    (url,) = re.findall(r"metrics +(http://\S+)", watched.service.said)
    before = await asyncio.to_thread(read, url, 10)
    await _all_that_is_seen(watched.service.address, watched)
    after = await asyncio.to_thread(read, url, 10)

    def grown(metric: Metric, **labels: str) -> float:
        return after.total(metric, **labels) - before.total(metric, **labels)

    # A good commit alone, in a batch, and on a stream; likewise with a defect, and with changed content: on the stream
    # under a key that was committed with.
    assert grown(COMMITS, outcome="committed") == 3
    assert grown(COMMITS, outcome="refused", reason="BINDING_MISMATCH") == 2
    assert grown(COMMITS, outcome="conflict", reason="IDEMPOTENCY_CONFLICT") == 1
    assert grown(COMMITS, outcome="refused", reason="INTERNAL") + grown(COMMITS, outcome="failed") == 3
    for method in ("CommitValidated", "BatchCommitValidated"):
        assert grown(REFUSALS, method=method, reason="BINDING_MISMATCH") == 1
    assert grown(REFUSALS, method="StreamCommitValidated", reason="IDEMPOTENCY_CONFLICT") == 1
    assert grown(REFUSALS, method="CommitValidated", reason="MALFORMED") == 1
    # A stranger's call is a metric, and nothing else (semantics §9).
    assert grown(REFUSALS, method="CommitValidated", reason="CALLER_UNAUTHENTICATED") == 1
    assert after.total(REDIS_AVAILABLE) == 1


async def test_metrics_reach_the_collector_too(watched: Watched, team: Team) -> None:
    await team.ready()
    await eventually(lambda: "authority.rpc.duration" in watched.collector.metrics, "metrics")
    assert watched.collector.metrics <= {metric.name for metric in METRICS}


async def test_a_collector_that_is_away_disturbs_nobody(watched: Watched, tmp_path: Path) -> None:
    with watched.installation.processes() as processes:
        service = processes.start(environment={**QUICKLY, "AUTHORITY_OTLP_ENDPOINT": "http://127.0.0.1:1"})
        await service.serving()
        async with team_at(service.address, await watched.installation.tenant(), retries=ONCE) as team:
            await team.commit(await team.ready())
        service.terminate()
        assert await service.ends() == 0
