"""`authority tamper` on a capability of a served authority, and on a fresh one of its own."""

from pathlib import Path

import pytest

from tests.e2e.operator.operating import Run, called, proposed
from tests.installation.documented import examples
from tests.unit.cli.running import ran


@pytest.fixture
def issued(run: Run, tmp_path: Path) -> Path:
    """A file with what `authority call IssueCapability` printed."""
    revision = proposed(run, "VGFtcGVyIHdpdGggdGhpcy4=")
    request = {"proposal_id": revision["proposal_id"], "revision": 1}
    validation = called(run, "ValidateProposal", "user", request).document["validation_receipt"]
    decision = called(
        run, "EvaluatePolicy", "service", {"proposal_id": request["proposal_id"], "proposal_revision": 1}
    ).document["decision_receipt"]
    asked = {
        "proposal_id": request["proposal_id"],
        "proposal_revision": 1,
        "validation_receipt": validation,
        "decision_receipt": decision,
        "commit_idempotency_key": f"tamper:{request['proposal_id']}",
    }
    file = tmp_path / "capability.json"
    file.write_text(called(run, "IssueCapability", "service", asked).out)
    return file


def test_e10_a_served_authority_refuses_every_change_and_burns_nothing(run: Run, issued: Path) -> None:
    example, _ = examples("docs/inspecting.md", "Does a changed capability get through?")

    shown = run(*example.arguments(STATEMENT=str(issued)))
    document = run("tamper", str(issued), "--as", "harbour-books/user", "--json").document

    assert (shown.code, example.difference(shown.out)) == (0, "")
    assert (document["ok"], document["presented_to"]) == (True, "VerifyCapability")
    assert not any(one["accepted"] for one in document["tampered"])
    assert [one["accepted"] for one in document["untouched"]] == [True]


def test_what_cannot_be_tried_is_refused_in_a_sentence(run: Run, issued: Path, tmp_path: Path) -> None:
    validation = tmp_path / "validation.json"
    revision = proposed(run, "U29tZXRoaW5nIGVsc2Uu")
    validation.write_text(called(run, "ValidateProposal", "user", revision).out)

    other = run("tamper", str(validation), "--as", "harbour-books/user")
    nobody = run("tamper", str(issued))

    assert (other.code, "only a commit capability can be committed" in other.sentence) == (1, True)
    assert (nobody.code, "--as TENANT/NAME" in nobody.sentence) == (2, True)


def test_a_capability_that_is_revoked_is_not_tried(run: Run, issued: Path) -> None:
    capability = run("inspect", str(issued), "--json").document["says"]["capability_id"]
    assert called(run, "RevokeCapability", "service", {"capability_id": capability}).code == 0

    refused = run("tamper", str(issued), "--as", "harbour-books/user")

    assert (refused.code, "is refused, REVOKED" in refused.sentence) == (1, True)


def test_without_one_a_fresh_capability_is_tried_and_then_committed(capsys: pytest.CaptureFixture[str]) -> None:
    _, example = examples("docs/inspecting.md", "Does a changed capability get through?")

    done = ran(capsys, *example.arguments())

    assert (done.code, example.difference(done.err + done.out)) == (0, "")
