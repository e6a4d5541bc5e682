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
