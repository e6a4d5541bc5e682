"""When the demo calls a line good, and when it calls itself good."""

from dataclasses import replace

import pytest

from authority.cli.demo.exchange import CameOut
from authority.cli.demo.report import Report, Result
from authority.cli.demo.story import Act
from authority.embedded.demo import DemoProposal, Stage, load_proposals
from authority.usecases.administer import CommitCounts

LINES = {line.name: line for line in load_proposals()}
COMMITTED = next(line for line in LINES.values() if line.twist is None and line.expect.approval)
REFUSED = next(line for line in LINES.values() if line.expect.term == "content_digest")


def good(line: DemoProposal) -> CameOut:
    """The line exactly as it must come out."""
    committed = line.expect.outcome == "committed"
    at_proposing = line.expect.at is Stage.PROPOSE
    return CameOut(
        committed=committed,
        at=line.expect.at,
        reason=line.expect.reason,
        term=line.expect.term,
        provenance="" if at_proposing else line.expect.provenance.value,
        approved=line.expect.approval,
        replayed=committed,
        receipt_verified=committed,
    )


def counted(number: int, **others: int) -> CommitCounts:
    numbers = dict.fromkeys(("consumed_capabilities", "receipts", "records", "events"), number)
    return CommitCounts(**{**numbers, **others})


STORY = (Act("an act", "as it must", "as it must"),)


def report(counts: CommitCounts, delivered: int = 45, **changes: CameOut) -> Report:
    results = [Result(line, changes.get(name, good(line))) for name, line in LINES.items()]
    return Report(results, counts, delivered, STORY)


def test_every_line_can_come_out_as_it_expects() -> None:
    assert [result.defects for result in report(counted(45)).results if result.defects] == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"replayed": False}, "the retry was not answered"),
        ({"receipt_verified": False}, "the receipt does not verify"),
        ({"provenance": "system_observation"}, "stamped system_observation instead of"),
        ({"approved": False}, "policy did not ask for an approval"),
        ({"defects": ["odd"]}, "odd"),
        ({"committed": False, "at": Stage.COMMIT, "reason": "EXPIRED"}, "came out otherwise"),
    ],
)
def test_a_commit_that_is_not_quite_right_is_told(change: dict[str, object], told: str) -> None:
    out = replace(good(COMMITTED), **change)  # type: ignore[arg-type]  # by name

    assert any(defect.startswith(told) for defect in Result(COMMITTED, out).defects)


@pytest.mark.parametrize(
    "change",
    [
        {"committed": True},
        {"at": Stage.ISSUE},
        {"reason": "EXPIRED"},
        {"term": "media_type"},
        {"term": ""},
        {"provenance": "unknown"},
        {"approved": True},
    ],
)
def test_a_refusal_for_another_reason_is_told(change: dict[str, object]) -> None:
    out = replace(good(REFUSED), **change)  # type: ignore[arg-type]  # by name

    assert Result(REFUSED, out).defects


def test_a_good_demo_ends_with_its_numbers() -> None:
    whole = report(counted(45))

    assert whole.ok
    numbers = "committed=45 refused=19 replayed=45 receipts_verified=45 events=45 delivered=45 acts=1"
    assert whole.last_line() == f"demo ok: {numbers}"


def test_a_demo_with_an_act_that_came_out_otherwise_has_failed(capsys: pytest.CaptureFixture[str]) -> None:
    whole = replace(report(counted(45)), story=(*STORY, Act("another", "refused", "committed")))

    assert not whole.ok
    assert whole.last_line().endswith(" acts=1")
    whole.show()
    assert "NO: committed" in capsys.readouterr().out


@pytest.mark.parametrize(
    "counts",
    [counted(44), counted(46), counted(45, events=44), counted(45, receipts=46), counted(45, consumed_capabilities=46)],
)
def test_a_demo_whose_counts_differ_has_failed(counts: CommitCounts) -> None:
    whole = report(counts)

    assert not whole.ok
    assert whole.last_line().startswith("demo failed: committed=45 ")


@pytest.mark.parametrize("delivered", [0, 44, 46])
def test_a_demo_whose_events_are_not_all_delivered_has_failed(
    delivered: int, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = report(counted(45), delivered)

    whole.show()

    assert not whole.ok
    assert whole.last_line().endswith(f"events=45 delivered={delivered} acts=1")
    assert f"45 events, and {delivered} events delivered, WHICH DO NOT AGREE." in capsys.readouterr().out


def test_a_demo_with_one_wrong_line_has_failed(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = replace(good(COMMITTED), receipt_verified=False)
    whole = report(counted(45), 45, **{COMMITTED.name: wrong})

    whole.show()

    assert not whole.ok
    assert "receipts_verified=44" in whole.last_line()
    assert "the receipt does not verify" in capsys.readouterr().out
