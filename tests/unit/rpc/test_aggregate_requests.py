"""Asking for figures: nothing is said but which, so that no two questions can be subtracted from each other."""

from datetime import UTC, datetime
from typing import Any

import pytest

from authority.domain.aggregate import AggregateCount
from authority.domain.proposal import MemoryType
from authority.domain.references import Instant
from authority.rpc.convert.recall import aggregate_request, aggregate_response
from capability_authority.v1 import memory_service_pb2 as pb
from capability_authority.v1.types_pb2 import MEMORY_TYPE_CRITIQUE
from tests.unit.rpc.requests import CALLER, RPCS, refusal_of

SAID = {"aggregate", "memory_namespace", "grant", "grant_ancestors"}
REST = sorted({field.name for field in pb.RecallRecordsRequest.DESCRIPTOR.fields} - SAID)


def full() -> Any:
    """Every field that a request can have."""
    request: Any = RPCS["RecallRecords"].copy()
    request.aggregate = "trends"
    return request


def asking() -> Any:
    """What may be said."""
    request = full()
    for field in REST:
        request.ClearField(field)
    return request


def test_an_aggregate_is_named_with_its_memory_namespace_and_a_grant() -> None:
    asked = aggregate_request(CALLER, asking())
    assert (asked.name, asked.memory_namespace) == ("trends", "notes")
    assert asked.presented
    assert len(asked.presented.grant.ancestors) == 1
    ungranted = asking()
    ungranted.ClearField("grant")
    ungranted.ClearField("grant_ancestors")
    assert aggregate_request(CALLER, ungranted).presented is None


@pytest.mark.parametrize("field", REST)
def test_nothing_narrows_an_aggregate(field: str) -> None:
    request = full()
    for other in set(REST) - {field}:
        request.ClearField(other)
    refusal = refusal_of(lambda: aggregate_request(CALLER, request))
    assert refusal is not None
    assert (refusal.reason.name, refusal.facts["field"]) == ("MALFORMED", field)


@pytest.mark.parametrize("name", ["*", " trends", "trends\n", "a b", "t" * 257])
def test_g01_an_aggregate_is_one(name: str) -> None:
    request = asking()
    request.aggregate = name
    refusal = refusal_of(lambda: aggregate_request(CALLER, request))
    assert refusal is not None
    assert refusal.facts["field"] == "aggregate"


def test_figures_are_sent_and_nothing_else() -> None:
    month = Instant(int(datetime(2026, 3, 1, tzinfo=UTC).timestamp()) * 1000)
    answer = aggregate_response([AggregateCount(MemoryType.CRITIQUE, month, 40)])
    assert {field.name for field, _ in answer.ListFields()} == {"aggregate_counts"}
    (count,) = answer.aggregate_counts
    assert (count.memory_type, count.month.ToJsonString(), count.records) == (
        MEMORY_TYPE_CRITIQUE, "2026-03-01T00:00:00Z", 40
    )  # fmt: skip
