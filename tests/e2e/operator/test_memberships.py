"""`authority memberships`: who is in which channel and team, and what that shows over the wire."""

import base64
from typing import Any

import pytest

from tests.e2e.operator.operating import TENANT, Run, called, told
from tests.installation.documented import examples


def test_what_the_documentation_shows_of_members_is_printed(run: Run) -> None:
    for example in examples("docs/recall.md", "Channels and teams"):
        shown = run(*example.arguments())
        assert shown.code == 0, shown.err
        assert not (difference := example.difference(shown.out + shown.err)), difference


def test_members_are_told_to_machines_and_what_changes_nothing_is_refused(run: Run) -> None:
    of = ("demo|user", "channel:quay", "--tenant", TENANT)
    named = {"tenant": TENANT, "principal": "demo|user", "scope_kind": "channel", "scope_id": "quay"}
    assert told(run, "memberships", "add", *of) == named | {"state": "active"}
    (row,) = [row for row in told(run, "memberships", "list", "--tenant", TENANT) if row["scope_id"] == "quay"]
    assert row == named | {"add_time": row["add_time"]}
    again = run("memberships", "add", *of)
    assert (again.code, again.sentence) == (1, f"demo|user of {TENANT} is a member of channel quay already")
    assert told(run, "memberships", "remove", *of) == named | {"state": "removed"}
    gone = run("memberships", "remove", *of)
    assert (gone.code, gone.sentence) == (1, f"demo|user is no member of channel quay in {TENANT}")
    stranger = run("memberships", "add", "demo|nobody", "team:bookkeeping", "--tenant", TENANT)
    assert (stranger.code, stranger.sentence) == (1, f"no active principal demo|nobody in {TENANT}")
    assert run("memberships", "list", "--tenant", "no|body").err.startswith("nobody knows a tenant")


@pytest.mark.parametrize("scope", ["bookkeeping", "group:1", "team:", "workspace:x", "team:a b"])
def test_what_names_no_channel_or_team_is_misused(run: Run, scope: str) -> None:
    assert run("memberships", "add", "demo|user", scope, "--tenant", TENANT).code == 2


def test_a_proposal_for_a_team_is_taken_of_its_members_alone(run: Run) -> None:
    # given an agent that is in no channel of the quay, then it cannot propose for it
    request: dict[str, Any] = {
        "memory_namespace": "office/workflow",
        "memory_type": "MEMORY_TYPE_PREFERENCE",
        "content": base64.b64encode(b"for the quay").decode(),
        "media_type": "text/plain",
        "visibility": "VISIBILITY_CHANNEL",
        "visibility_scope": "quay",
    }
    assert "NOT_ALLOWED" in called(run, "CreateProposal", "agent", request).err
    # when the operator lets it in, then it can
    told(run, "memberships", "add", "demo|agent", "channel:quay", "--tenant", TENANT)
    proposal = called(run, "CreateProposal", "agent", request).document["proposal"]
    assert (proposal["visibility"], proposal["visibility_scope"]) == ("VISIBILITY_CHANNEL", "quay")
    told(run, "memberships", "remove", "demo|agent", "channel:quay", "--tenant", TENANT)
