"""`authority keys`: rotation and revocation, and what they leave valid."""

from pathlib import Path

from tests.e2e.commands import authority
from tests.e2e.operator.operating import (
    ABSENT,
    TENANT,
    Run,
    active_key,
    called,
    keys_of,
    proposed,
    told,
    wait_for_signer,
)


def test_a_rotated_key_still_verifies_and_a_revoked_one_does_not(run: Run, tmp_path: Path) -> None:
    # Given a statement of the first validation key
    first = active_key(run, "validation")
    validation = tmp_path / "validation.json"
    validation.write_text(called(run, "ValidateProposal", "user", proposed(run, "ZWlucw==")).out)
    inspection = ("inspect", str(validation), "--json")
    assert run(*inspection).document["key_id"] == first

    # When another takes its place, then it retires and its statement stays valid
    rotated = told(run, "keys", "rotate", "validation")
    second = rotated["key"]["key_id"]
    assert rotated["retired"] == [first]
    states = keys_of(run, "validation")
    assert (states[first], states[second]) == ("retiring", "active")
    verified = run(*inspection)
    assert (verified.code, verified.document["verdict"]) == (0, "valid")

    # When it is revoked as stolen, then every operator sees since when
    since = "2026-01-01T00:00:00.000Z"
    revoked = told(run, "keys", "revoke", first, "--compromised-since", since, "--yes")
    assert revoked == {
        "revoked": first, "purpose": "validation", "compromised_since": since, "another_is_active": True
    }  # fmt: skip
    states = keys_of(run, "validation")
    assert (states[first], states[second]) == ("revoked", "active")
    assert run("keys", "revoke", first, "--yes").code == 1

    # And the service signs with the other before long
    wait_for_signer(
        second, lambda: called(run, "ValidateProposal", "user", proposed(run, "enZlaQ==")), "validation_receipt"
    )


def test_revoking_says_what_it_breaks(data: Path, run: Run, tmp_path: Path) -> None:
    only = active_key(run, "decision")

    done = authority("keys", "revoke", only, "--data", str(data), cwd=tmp_path, text="n\n")

    assert done.returncode == 1
    assert f"Revoking the active decision key {only}: what it signed must be decided again" in done.stderr
    assert "No other active key signs in its place" in done.stderr
    assert active_key(run, "decision") == only
    assert run("keys", "revoke", f"sha256:{ABSENT}", "--yes").sentence.startswith("no key of the authority is sha256:0")


def test_who_revokes_the_last_key_is_told_how_to_make_another(run: Run) -> None:
    only = active_key(run, "decision")

    done = run("keys", "revoke", only, "--yes")
    remedy = "authority keys rotate decision"
    assert done.out == f"revoked {only}\nNo active decision key is left in its place: `{remedy}` makes one\n"

    made = told(run, *remedy.split()[1:])
    assert made["retired"] == []

    # And the service signs with it before long
    proposal = proposed(run, "ZHJlaQ==")
    called(run, "ValidateProposal", "user", proposal)
    question = {"proposal_id": proposal["proposal_id"], "proposal_revision": 1}
    wait_for_signer(
        made["key"]["key_id"], lambda: called(run, "EvaluatePolicy", "service", question), "decision_receipt"
    )


def test_a_key_of_one_memory_namespace_leaves_the_others_alone(run: Run) -> None:
    everywhere = active_key(run, "capability")

    scoped = told(run, "keys", "rotate", "capability", "--tenant", TENANT, "--namespace", "clients/rules")

    assert scoped["retired"] == []
    assert (scoped["key"]["tenant"], scoped["key"]["memory_namespace"]) == (TENANT, "clients/rules")
    assert active_key(run, "capability") == everywhere
