"""`authority policies`: a bundle decides once it is activated."""

import re
from pathlib import Path

from authority.policy.bundle import default_bundle
from tests.e2e.operator.operating import ABSENT, TENANT, Run, called, proposed, told


def test_a_loaded_bundle_decides_once_it_is_activated(run: Run, tmp_path: Path) -> None:
    # Given a validated proposal in a memory namespace of its own
    told(run, "namespaces", "add", "decided/anew", "--tenant", TENANT)
    proposal = proposed(run, "aGFsbG8=", "decided/anew")
    called(run, "ValidateProposal", "user", proposal)
    question = {"proposal_id": proposal["proposal_id"], "proposal_revision": 1}
    before = called(run, "EvaluatePolicy", "service", question).document
    assert before["outcome"] == "DECISION_OUTCOME_ALLOW"

    # When a bundle that denies everything is loaded and activated
    file = tmp_path / "none.cedar"
    file.write_text('@id("nothing")\nforbid (principal, action, resource);\n')
    version = told(run, "policies", "load", str(file))["version"]
    assert version in {row["version"] for row in told(run, "policies", "list")}
    active = ("policies", "activate", version, "--namespace", "decided/anew", "--tenant", TENANT)
    assert told(run, *active) == {"tenant": TENANT, "namespace": "decided/anew", "version": version}

    # Then it decides
    after = called(run, "EvaluatePolicy", "service", question).document
    assert after["outcome"] == "DECISION_OUTCOME_DENY"
    assert after["policy_version"] == version


def test_a_bundle_that_is_bad_or_absent_is_not_taken(run: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.cedar"
    bad.write_text(default_bundle().replace('@id("', '@name("', 1))
    number = len(told(run, "policies", "list"))

    refused = run("policies", "load", str(bad))
    absent = run("policies", "activate", f"sha256:{ABSENT}", "--namespace", "clients/rules", "--tenant", TENANT)

    assert refused.code == 1
    assert re.search(r"bad\.cedar: line \d+: .*has no name", refused.err)
    assert refused.err.endswith(f"{bad} was not loaded\n")
    assert absent.sentence == f"policy version sha256:{ABSENT} is not loaded"
    assert len(told(run, "policies", "list")) == number


def test_a_loaded_bundle_is_shown_exactly_and_compared_with_a_file(run: Run, tmp_path: Path) -> None:
    # Given a loaded bundle, and a file that changes a line of it
    file, changed = tmp_path / "kept.cedar", tmp_path / "changed.cedar"
    file.write_text('@id("all")\npermit (principal, action, resource); // \u00fc\n')
    changed.write_text(file.read_text().replace("permit", "forbid"))
    version = told(run, "policies", "load", str(file))["version"]
    told(run, "namespaces", "add", "shown/here", "--policy", version, "--tenant", TENANT)

    # Then it is shown byte for byte, with where it decides, and so is the difference
    shown = run("policies", "show", version, "--tenant", TENANT)
    assert shown.out.encode() == file.read_bytes()
    assert f"it decides in shown/here of {TENANT}" in shown.err
    assert told(run, "policies", "show", version, "--tenant", TENANT)["active"] == ["shown/here"]
    same, other = run("policies", "diff", version, str(file)), run("policies", "diff", version, str(changed))
    assert (same.code, same.out) == (0, "the same\n")
    assert other.code == 1
    assert other.out.splitlines()[4:] == [
        "-permit (principal, action, resource); // \u00fc",
        "+forbid (principal, action, resource); // \u00fc",
    ]


def test_a_bundle_that_is_not_there_is_neither_shown_nor_compared(run: Run) -> None:
    absent = f"sha256:{ABSENT}"

    assert run("policies", "show", absent).sentence == f"policy version {absent} is not loaded"
    assert run("policies", "diff", absent, absent).sentence == f"policy version {absent} is not loaded"
    assert run("policies", "diff", absent, "/nothing.cedar").code == 2
    assert run("policies", "diff", "sha256:*", absent).code == 2
