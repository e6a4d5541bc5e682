"""`authority proposals` and `authority evidence` on a served authority, as the documentation shows them."""

import base64
import hashlib
import re
from pathlib import Path

import pytest

from tests.e2e.operator.operating import TENANT, Run, proposed, told
from tests.installation.documented import examples


def new_proposal(run: Run, content: str = "Tea at four.") -> str:
    """The id of a proposal of the user."""
    return str(proposed(run, base64.b64encode(content.encode()).decode())["proposal_id"])


def test_proposals_are_listed_and_shown_as_documented(run: Run) -> None:
    proposal_id = new_proposal(run)
    listing, showing = examples("docs/proposing.md", "See what was proposed")

    listed = run(*listing.arguments())
    assert (listed.code, listing.difference(listed.out)) == (0, "")
    assert proposal_id in listed.out
    shown = run(*showing.arguments(PROPOSAL=proposal_id))
    assert (shown.code, showing.difference(shown.out)) == (0, "")

    # and machines get the message, of which a list leaves the content out
    document = told(run, "proposals", "show", proposal_id, "--as", "harbour-books/user")
    assert base64.b64decode(document["content"]) == b"Tea at four."
    assert document["state"] == "PROPOSAL_STATE_PROPOSED"
    some = told(run, "proposals", "list", "office/workflow", "--as", "harbour-books/user", "--most", "1")
    assert [one.get("content") for one in some] == [None]


def test_a_proposal_is_withdrawn_as_documented(run: Run) -> None:
    proposal_id = new_proposal(run, "Tea at five.")
    first, again = examples("docs/proposing.md", "Take a proposal back")

    # given nobody's word for it, and somebody else's, then it stays
    assert run("proposals", "withdraw", proposal_id, "--as", "harbour-books/user").code == 1
    assert "NOT_FOUND" in run("proposals", "withdraw", proposal_id, "--as", "harbour-books/agent", "--yes").err

    for example in (first, again):
        done = run(*example.arguments(PROPOSAL=proposal_id))
        assert (done.code, example.difference(done.out)) == (0, "")
    once_more = told(run, "proposals", "withdraw", proposal_id, "--as", "harbour-books/user", "--yes")
    assert once_more["replayed"]
    shown = told(run, "proposals", "show", proposal_id, "--as", "harbour-books/user")
    assert shown["state"] == "PROPOSAL_STATE_WITHDRAWN"


def test_evidence_is_put_decided_on_and_read_as_documented(run: Run, tmp_path: Path) -> None:
    content = f"three tests failed in {tmp_path.name}".encode()
    (tmp_path / "build.log").write_bytes(content)
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    put, listing, by_agent, by_user, reading = examples("docs/proposing.md", "Evidence")
    words = {"LOG": str(tmp_path / "build.log"), "DIGEST": digest}

    for example in (put, listing):
        done = run(*example.arguments(**words))
        assert (done.code, example.difference(done.out)) == (0, ""), done.err
        assert digest in done.out
    # nobody else reads it yet, and the wrong person's word counts for nothing
    assert "NOT_FOUND" in run(*reading.arguments(**words)).err
    refused = run(*by_agent.arguments(**words))
    assert (refused.code, by_agent.difference(refused.err)) == (1, "")
    for example in (by_user, reading):
        done = run(*example.arguments(**words))
        assert (done.code, example.difference(done.out)) == (0, ""), done.err

    # and it is decided on once; its bytes come back, for machines too
    again = run("evidence", "reject", digest, "--tenant", TENANT, "--by", "demo|admin")
    assert (again.code, "waits for a decision" in again.sentence) == (1, True)
    out = tmp_path / "read"
    document = told(run, "evidence", "read", digest, "--as", "harbour-books/service", "--out", str(out))
    assert (out.read_bytes(), document["state"]) == (content, "EVIDENCE_STATE_APPROVED")
    (mine,) = [one for one in told(run, "evidence", "list", "--tenant", TENANT) if one["digest"] == digest]
    assert (mine["decided_by"], mine["note"], mine["state"]) == ("demo|user", "seen in the log", "approved")
    assert re.fullmatch(r"[-\d]{10}T[:\d]{8}\.\d{3}Z", mine["put_time"])


def test_evidence_that_is_kept_elsewhere_is_referred_to(run: Run, tmp_path: Path) -> None:
    digest = f"sha256:{hashlib.sha256(tmp_path.name.encode()).hexdigest()}"
    said = ("--reference", "s3://logs/7", "--digest", digest, "--media-type", "application/gzip")
    kept = told(run, "evidence", "put", *said, "--as", "harbour-books/user")
    assert (kept["reference"], kept["state"], kept["visibility"]) == (
        "s3://logs/7",
        "EVIDENCE_STATE_PENDING",
        "VISIBILITY_PRIVATE",
    )
    elsewhere = run("evidence", "read", digest, "--as", "harbour-books/user", "--out", str(tmp_path / "x"))
    assert (elsewhere.code, "kept elsewhere" in elsewhere.sentence) == (1, True)
    rejected = told(run, "evidence", "reject", digest, "--tenant", TENANT, "--by", "demo|admin")
    assert rejected["state"] == "rejected"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["put"], "name either FILE or --reference"),
        (["put", "--reference", "s3://x", "--digest", "sha256:x"], "--media-type"),
        (["put", "--reference", "s3://x", "--media-type", "text/plain", "--vouch"], "--vouch signs for bytes"),
        (["read", "sha256:x"], "is not sha256:"),
        (["approve", "sha256:" + "0" * 64, "--tenant", TENANT, "--by", "agent"], "is not NAMESPACE|ID"),
    ],
)
def test_what_makes_no_sense_is_told_in_words(run: Run, arguments: list[str], sentence: str) -> None:
    result = run("evidence", *arguments)
    assert (result.code, sentence in result.sentence) == (2, True), result
