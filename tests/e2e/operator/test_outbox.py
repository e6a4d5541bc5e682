"""`authority outbox` and `authority relay` on an embedded authority, which delivers by itself."""

import json
import time
from pathlib import Path
from uuid import uuid4

import pytest

from tests.e2e.commands import WITHIN_S, authority
from tests.e2e.operator.operating import TENANT, Run, told


def test_an_embedded_authority_has_delivered_what_it_has_committed(run: Run, data: Path, tmp_path: Path) -> None:
    # Given whatever other tests have committed, then none of it waits for long
    deadline = time.monotonic() + WITHIN_S
    while told(run, "outbox", "status")["pending"]:
        assert time.monotonic() < deadline

    # And a relay of the operator's finds nothing to do
    done = authority("relay", "--once", "--json", "--data", str(data), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {
        "delivered": 0, "refused": 0, "parked": 0, "lost": 0, "pruned": 0,
        "left": {"pending": 0, "parked": 0, "oldest_age_ms": None},
    }  # fmt: skip
    assert run("outbox", "status").out == "pending  0\nparked   0\n"
    assert told(run, "outbox", "list", "--tenant", TENANT) == []


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ((), 2, "name the EVENT to replay, or --all-parked"),
        ((str(uuid4()), "--all-parked"), 2, "name the EVENT to replay, or --all-parked"),
        (("first",), 2, "'first' is no event id: `authority outbox list --parked` shows them"),
        (("00000000-0000-4000-8000-000000000000",), 1, "no event 00000000-0000-4000-8000-000000000000 is parked"),
    ],
)
def test_what_cannot_be_replayed_is_told(run: Run, arguments: tuple[str, ...], code: int, sentence: str) -> None:
    result = run("outbox", "replay", *arguments)
    assert result.code == code
    assert sentence in result.sentence


def test_of_nothing_that_is_parked_nothing_is_replayed(run: Run) -> None:
    assert told(run, "outbox", "replay", "--all-parked") == {"replayed": []}
