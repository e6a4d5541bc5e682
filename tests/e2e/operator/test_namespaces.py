"""`authority namespaces`: modes, and what is asked first."""

from pathlib import Path

from tests.e2e.commands import authority
from tests.e2e.operator.operating import TENANT, Run, told


def test_a_memory_namespace_is_added_in_enforce_and_lowered_only_on_purpose(run: Run) -> None:
    newest = told(run, "policies", "list")[-1]["version"]
    added = told(run, "namespaces", "add", "new/place", "--tenant", TENANT, "--privileged")
    assert (added["mode"], added["policy_version"]) == ("enforce", newest)
    shown = run("namespaces", "add", "other/place", "--tenant", TENANT)
    assert shown.out.endswith(f"it is decided by policy {newest}, the newest that is loaded\n")
    told(run, "namespaces", "add", "guarded/place", "--tenant", TENANT, "--profile", "guarded")
    least = {row["name"]: row["least_profile"] for row in told(run, "namespaces", "list", "--tenant", TENANT)}
    assert (least["guarded/place"], least["other/place"]) == ("guarded", "baseline")
    unknown = run("namespaces", "add", "third/place", "--tenant", TENANT, "--profile", "nonesuch")
    assert unknown.sentence == "no validator profile nonesuch here: `authority validators profiles` lists them"
    again = run("namespaces", "add", "new/place", "--tenant", TENANT)
    assert again.sentence == f"memory namespace new/place exists already in {TENANT}"

    lower = ("namespaces", "mode", "new/place", "observe", "--tenant", TENANT)
    assert told(run, *lower, "--yes") == {
        "tenant": TENANT, "name": "new/place", "previous": "enforce", "mode": "observe"
    }  # fmt: skip
    raised = ("namespaces", "mode", "new/place", "enforce", "--tenant", TENANT)
    assert told(run, *raised)["previous"] == "observe"

    row = next(row for row in told(run, "namespaces", "list", "--tenant", TENANT) if row["name"] == "new/place")
    assert (row["mode"], row["privileged"], row["default_visibility"]) == ("enforce", True, "workspace")
    assert run("namespaces", "mode", "nowhere", "enforce", "--tenant", TENANT).code == 1


def test_what_cannot_be_undone_is_asked_first(data: Path, tmp_path: Path, run: Run) -> None:
    told(run, "namespaces", "add", "asked/first", "--tenant", TENANT)
    command = ["namespaces", "mode", "asked/first", "legacy", "--tenant", TENANT, "--data", str(data)]

    silent = authority(*command, cwd=tmp_path)
    refused = authority(*command, cwd=tmp_path, text="n\n")
    agreed = authority(*command, cwd=tmp_path, text="y\n")

    for done in (silent, refused):
        assert done.returncode == 1
        assert "will accept writes that nobody validated (enforce → legacy)" in done.stderr
        assert done.stderr.endswith("authority: nothing was changed; --yes agrees without a question\n")
    assert agreed.returncode == 0
    assert agreed.stdout == f"asked/first of {TENANT}: enforce → legacy\n"
