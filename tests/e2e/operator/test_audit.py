"""`authority audit`, as docs/operating.md shows it: the log, the watch, and the counts of refusals."""

import json
import signal
import time
from pathlib import Path

from tests.e2e.commands import AUTHORITY, WITHIN_S, authority, started
from tests.e2e.operator.operating import TENANT, Run, called, proposed, told
from tests.installation.documented import examples


def test_what_the_documentation_shows_is_printed(run: Run) -> None:
    # Given somebody who was refused, and a service that has added that up
    refused = called(run, "ListAuditEvents", "agent", {})
    assert refused.document["error"]["reason"] == "NOT_ALLOWED"
    deadline = time.monotonic() + WITHIN_S
    while not any(found["reason"] == "NOT_ALLOWED" for found in told(run, "audit", "refusals", "--tenant", TENANT)):
        assert time.monotonic() < deadline, "what was refused was not counted"

    # Then everything prints as it is shown
    for example in examples("docs/operating.md", "Audit"):
        shown = run(*example.arguments())
        assert shown.code == 0, shown.err
        assert not (difference := example.difference(shown.out)), difference


def test_what_a_caller_does_is_listed_by_each_condition(run: Run) -> None:
    # Given a proposal
    proposal = proposed(run, "dGhl")
    subject = f"{proposal['proposal_id']}:1"

    # When it is asked for by what it is of, by whom and when, then it is found, and nothing else
    (event,) = told(run, "audit", "list", "--tenant", TENANT, "--subject", subject)
    assert (event["kind"], event["next_state"]) == ("proposal.create", "proposed")
    for condition in (["--kind", "proposal.create"], ["--actor", event["actor"]], ["--since", event["time"]]):
        found = told(run, "audit", "list", "--tenant", TENANT, *condition, "--limit", "10000")
        assert event in found
    assert told(run, "audit", "list", "--tenant", TENANT, "--subject", subject, "--until", event["time"]) == []


def test_a_watch_tells_each_event_on_a_line(run: Run, data: Path, tmp_path: Path) -> None:
    listed = told(run, "audit", "list", "--tenant", TENANT, "--oldest-first", "--limit", "7")
    command = ["audit", "watch", "--tenant", TENANT, "--from-beginning", "--limit", "7", "--json"]
    watched = authority(*command, "--data", str(data), cwd=tmp_path)
    assert watched.returncode == 0, watched.stderr
    assert [json.loads(line) for line in watched.stdout.splitlines()] == listed


def test_ctrl_c_is_how_a_watch_ends(data: Path, tmp_path: Path) -> None:
    # Given a watch of what is yet to happen
    with started([AUTHORITY, "audit", "watch", "--tenant", TENANT, "--data", str(data)], tmp_path, {}) as watch:
        assert watch.stderr is not None
        assert watch.stderr.readline() == f"watching {TENANT}; Ctrl-C ends it\n"

        # When it is ended, then nothing is said to have gone wrong
        watch.send_signal(signal.SIGINT)
        _, errors = watch.communicate(timeout=WITHIN_S)
        assert (watch.returncode, errors) == (0, "")


def test_what_is_wrong_is_told(run: Run) -> None:
    early, late = "2027-01-31T08:00:00Z", "2027-01-31T09:00:00Z"
    wrong = run("audit", "list", "--tenant", TENANT, "--since", late, "--until", early)
    assert (wrong.code, wrong.err) == (2, "authority: --until must be later than --since\n")
    nobody = run("audit", "list", "--tenant", "no|body")
    assert (nobody.code, nobody.out) == (0, "none\n")
    assert "nobody knows a tenant no|body" in nobody.err
