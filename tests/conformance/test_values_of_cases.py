"""Paths into answers, references to what was saved, and whether an answer is what a case permits."""

from base64 import b64encode

import pytest

from capability_authority.offline import PrivateKey, sign
from capability_authority.v1.statements_pb2 import RevocationHeartbeat
from capability_authority.v1.types_pb2 import TenantRef
from capability_authority_conformance.paths import ABSENT, as_json, found
from capability_authority_conformance.running.judging import Expected, misfits, misfits_of_fields
from capability_authority_conformance.running.together import misfits_together
from capability_authority_conformance.substitution import NothingThere, names_in, replaced
from capability_authority_conformance.target.outcome import Outcome
from capability_authority_conformance.v1.suite_pb2 import Together
from capability_authority_conformance.values import Json

STATEMENT = as_json(
    sign(RevocationHeartbeat(issuer="i", tenant=TenantRef(namespace="n", id="t")), PrivateKey.from_seed(bytes(32)))
)
ANSWER: Json = {
    "id": "r1",
    "count": "7",
    "replayed": False,
    "nothing": None,
    "hits": [{"tags": ["a", "b"]}, {"tags": ["c"]}, {}],
    "statement": STATEMENT,
}


@pytest.mark.parametrize(
    ("path", "there"),
    [
        (".", ANSWER),
        ("id", "r1"),
        ("hits.0.tags.1", "b"),
        ("hits.*.tags.*", ["a", "b", "c"]),
        ("hits.*.tags.0", ["a", "c"]),
        ("statement.payload.tenant.id", "t"),
        ("hits.3", ABSENT),
        ("hits.tags", ABSENT),
        ("id.below", ABSENT),
        ("statement.*.tenant", ABSENT),
        ("none", ABSENT),
    ],
)
def test_a_path_leads_to(path: str, there: object) -> None:
    assert found(ANSWER, path) == there


def test_a_payload_that_is_led_to_is_the_bytes_that_were_signed() -> None:
    assert isinstance(STATEMENT, dict)
    assert found(ANSWER, "statement.payload") == STATEMENT["payload"]


def test_a_whole_payload_is_read_by_a_star() -> None:
    payload = found(ANSWER, "statement.payload.*")
    assert isinstance(payload, dict)
    assert payload["issuer"] == "i"


def test_a_payload_that_nobody_can_read_has_nothing_in_it() -> None:
    broken: Json = {"payload_type": "application/else", "payload": b64encode(b"x").decode()}
    assert found(broken, "payload.issuer") is ABSENT


def test_references_are_replaced() -> None:
    names: dict[str, Json] = {"case": "c1", "saved": {"list": [1, 2]}, "caps": ["x", "y"], "caller": 1, "n": 3}
    value: Json = ["${case}-a", "${saved.list}", "${caps[caller]}", {"k": "${n}"}, "${n}!", 5]
    assert replaced(value, names) == ["c1-a", [1, 2], "y", {"k": 3}, "3!", 5]
    assert list(names_in(value)) == ["case", "saved", "caps", "n", "n"]


@pytest.mark.parametrize("text", ["${absent}", "${saved.absent}", "${saved.list.9}", "${ saved }"])
def test_what_was_never_saved_is_named(text: str) -> None:
    with pytest.raises(NothingThere, match=r"nothing was saved under|leads nowhere"):
        replaced(text, {"saved": {"list": [1]}})


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "r1"},
        {"count": 7},
        {"count": "7"},
        {"replayed": False},
        {"none": None},
        {"id": {"present": True}},
        {"none": {"present": False}},
        {"id": {"not": "r2"}},
        {"id": {"one_of": ["r0", "r1"]}},
        {"id": {"matches": "r[0-9]"}},
        {"hits": {"count": 3}},
        {"hits.*.tags.*": {"contains": "c"}},
        {"hits.*.tags.*": {"lacks": "d"}},
        {"count": {"at_least": 7}},
        {"count": {"at_most": 7}},
        {"id": {"contains": "r"}},
        {"id": {"lacks": "x"}},
        {"nothing": None},
        {"nothing": {"present": False}},
    ],
)
def test_fields_that_hold(fields: dict[str, Json]) -> None:
    assert misfits_of_fields(fields, ANSWER) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "r2"},
        {"count": 8},
        {"replayed": 0},
        {"replayed": True},
        {"id": None},
        {"id": {"present": False}},
        {"none": {"present": True}},
        {"id": {"not": "r1"}},
        {"id": {"one_of": []}},
        {"id": {"matches": "[0-9]"}},
        {"hits": {"count": 2}},
        {"hits.*.tags.*": {"contains": "d"}},
        {"hits.*.tags.*": {"lacks": "a"}},
        {"none": {"lacks": "a"}},
        {"count": {"at_least": 8}},
        {"none": {"at_most": 8}},
        {"id": {"contains": "x"}},
        {"id": {"contains": 1}},
        {"count": {"contains": 7}},
        {"id": {"lacks": "r"}},
        {"count": {"at_least": "soon"}},
        {"id": {"at_least": 0}},
        {"hits": {"at_least": 0}},
        {"replayed": {"at_least": 0}},
        {"hits": {"matches": ".*"}},
        {"hits": {"one_of": "hits"}},
        {"id": {"count": 2}},
        {"nothing": {"present": True}},
        {"nothing": {"lacks": "a"}},
    ],
)
def test_fields_that_do_not_hold(fields: dict[str, Json]) -> None:
    assert len(misfits_of_fields(fields, ANSWER)) == 1


def test_instants_are_compared_as_such() -> None:
    answer: Json = {"time": "2026-01-01T00:00:00.500Z"}
    assert misfits_of_fields({"time": {"at_least": "2026-01-01T00:00:00.5Z"}}, answer) == []
    assert misfits_of_fields({"time": "2026-01-01T00:00:00.5Z"}, answer) == []
    assert misfits_of_fields({"time": "2026-01-01T00:00:00.501Z"}, answer) != []
    assert misfits_of_fields({"time": {"at_most": "2026-01-01T00:00:00Z"}}, answer) != []


def test_a_refusal_is_held_to_the_error_table() -> None:
    expected = Expected("NOT_FOUND", "", {}, {})
    assert misfits(expected, Outcome("NOT_FOUND", "NOT_FOUND")) == []
    assert misfits(expected, Outcome("NOT_FOUND", "INTERNAL")) == ["code INTERNAL, not NOT_FOUND"]
    assert misfits(expected, Outcome("NOT_FOUND", "NOT_FOUND", breaches=("RetryInfo is there",))) != []
    assert misfits(expected, Outcome("NO_REASON", "NOT_FOUND")) == ["outcome NO_REASON, not NOT_FOUND"]


def test_facts_have_to_be_there() -> None:
    expected = Expected("BINDING_MISMATCH", "", {"term": "media_type"}, {})
    assert misfits(expected, Outcome("BINDING_MISMATCH", "PERMISSION_DENIED", facts={"term": "media_type"})) == []
    assert misfits(expected, Outcome("BINDING_MISMATCH", "PERMISSION_DENIED", facts={"term": "holder"})) != []
    assert misfits(expected, Outcome("BINDING_MISMATCH", "PERMISSION_DENIED")) != []


def test_many_answers_are_judged_together() -> None:
    together = Together(outcomes={"OK": 2, "REVOKED": 1}, different={"id": 1})
    together.tally["replayed"].update({"false": 1, "true": 1})
    together.tally["id"].update({"a": 2})
    together.tally["nowhere"].update({"absent": 2})
    first = Outcome("OK", "OK", answer={"id": "a", "replayed": False})
    second = Outcome("OK", "OK", answer={"id": "a", "replayed": True})
    refused = Outcome("REVOKED", "FAILED_PRECONDITION")
    assert misfits_together(together, [first, refused, second]) == []
    assert len(misfits_together(together, [first, refused, first])) == 1
    assert len(misfits_together(together, [first, second, second])) == 4
    assert len(misfits_together(together, [refused, refused, refused])) == 5
    assert misfits_together(Together(), [first, refused]) == []
