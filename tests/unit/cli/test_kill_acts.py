"""What `authority demo --kill` calls well, and what it does not."""

import json
from dataclasses import replace

import pytest

from authority.cli.demo.kill import conclude
from authority.cli.demo.kill_acts import Act
from authority.usecases.administer import CommitCounts
from capability_authority.client import Committed, Receipt
from capability_authority.v1.statements_pb2 import SignedStatement


def counts(number: int, **others: int) -> CommitCounts:
    found = {"consumed_capabilities": number, "receipts": number, "records": number, "events": number}
    return CommitCounts(**{**found, **others})


def committed(payload: bytes, *, replayed: bool) -> Committed:
    return Committed(Receipt("receipt", "record", SignedStatement(payload=payload), None, None), replayed)


REPLAYED = committed(b"the first", replayed=True)
NEW = committed(b"the first", replayed=False)
LANDED = Act("a firm", goes_on=True, after_kill=counts(1), retried=REPLAYED, again=REPLAYED, counts=counts(1))
UNDONE = Act("a firm", goes_on=False, after_kill=counts(0), retried=NEW, again=REPLAYED, counts=counts(1))


@pytest.mark.parametrize("act", [LANDED, UNDONE])
def test_one_of_each_and_one_receipt_is_well(act: Act) -> None:
    assert act.defects == []


@pytest.mark.parametrize(
    ("act", "defect"),
    [
        (replace(LANDED, counts=counts(2)), "not exactly one of each"),
        (replace(LANDED, counts=counts(1, events=0)), "not exactly one of each"),
        (replace(LANDED, again=committed(b"another", replayed=True)), "the receipts are not the same bytes"),
        (replace(UNDONE, again=NEW), "the second retry was no replay"),
        (replace(LANDED, retried=NEW), "the retry was answered as if something else had happened"),
        (replace(UNDONE, after_kill=counts(1)), "the database did something else with what it was sent"),
    ],
)
def test_anything_else_is_a_defect(act: Act, defect: str) -> None:
    assert act.defects == [defect]


def test_it_ends_well_only_when_every_act_does(capsys: pytest.CaptureFixture[str]) -> None:
    doubled = replace(LANDED, counts=counts(2))

    assert conclude([LANDED, UNDONE], 1.0, as_json=False) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "demo --kill ok: a firm=1/1/1/1 a firm=1/1/1/1"
    assert conclude([doubled, UNDONE], 1.0, as_json=False) == 1
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0].split(maxsplit=1)[1], lines[-1]) == (
        "not exactly one of each",
        "demo --kill FAILED: a firm=2/2/2/2 a firm=1/1/1/1",
    )


def test_machines_are_told_of_each_act(capsys: pytest.CaptureFixture[str]) -> None:
    assert conclude([LANDED, replace(UNDONE, again=NEW)], 1.0, as_json=True) == 1

    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["seconds"]) == (False, 1.0)
    assert [act["database_went_on"] for act in report["acts"]] == [True, False]
    assert [act["defects"] for act in report["acts"]] == [[], ["the second retry was no replay"]]
    assert report["acts"][0]["counts"] == {"records": 1, "receipts": 1, "events": 1, "consumed_capabilities": 1}
