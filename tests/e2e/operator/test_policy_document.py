"""`docs/policy.md`: what it shows is what is printed."""

from pathlib import Path

import pytest

from authority.policy.bundle import bundle_version, default_bundle
from capability_authority.offline import PrivateKey
from tests.e2e.operator.operating import TENANT, Run, told
from tests.installation.documented import Example, examples
from tests.unit.cli.running import ran

STRICTER = """@id("people-alone")
permit (principal, action, resource)
when { context.proposer_kind == Kind::"user" };
"""
LOOSENED = '@id("people-alone")\npermit (principal, action, resource);\n'


def differences(shown: list[Example], data: Path, capsys: pytest.CaptureFixture[str], **values: str) -> list[str]:
    """Of each command that a document shows; what goes to standard error comes last."""
    found = []
    for example in shown:
        of_operator = () if "policies check" in example.command else ("--data", str(data))
        done = ran(capsys, *example.arguments(**values), *of_operator)
        found.append(example.difference(done.out + done.err))
    return found


def test_bundles_are_checked_loaded_activated_shown_and_compared(
    run: Run,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stricter.cedar").write_text(STRICTER)
    (tmp_path / "loosened.cedar").write_text(LOOSENED)
    told(run, "namespaces", "add", "policy/bundles", "--tenant", TENANT)

    shown = examples("docs/policy.md", "Bundles and versions")

    version = f"sha256:{bundle_version(STRICTER).hex()}"
    assert set(differences(shown, data, capsys, VERSION=version)) == {""}


def test_modes_are_set_and_what_enforcing_would_do_is_shown(
    run: Run, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = f"sha256:{bundle_version(default_bundle()).hex()}"
    told(run, "namespaces", "add", "policy/modes", "--policy", shipped, "--tenant", TENANT)

    shown = examples("docs/policy.md", "Modes")

    assert set(differences(shown, data, capsys)) == {""}
    counted = told(run, "namespaces", "would-deny", "policy/modes", "--tenant", TENANT)
    assert (counted["observed"], counted["would_refuse"], counted["legacy"]) == (1, 1, 0)
    assert [row["reason"] for row in counted["records"]] == ["APPROVAL_REQUIRED"]
    events = run("audit", "list", "--tenant", TENANT, "--subject", counted["records"][0]["record_id"], "--json")
    assert "memory.would_refuse" in events.out


def test_external_authorities_are_added_listed_and_revoked(
    run: Run, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(run, "namespaces", "add", "policy/external", "--tenant", TENANT)
    key = PrivateKey.generate().public_key.raw.hex()

    shown = examples("docs/policy.md", "External authorities")

    assert set(differences(shown, data, capsys, PUBLIC_KEY=key)) == {""}


def test_an_external_authority_needs_a_good_key_and_known_memory_namespaces(run: Run) -> None:
    told(run, "namespaces", "add", "policy/keys", "--tenant", TENANT)
    add = ("policies", "external", "add", "weak.example", "--tenant", TENANT, "--namespace")

    weak = run(*add, "policy/keys", "--key", "01" + "00" * 31)
    without = run(*add, "policy/keys")
    nowhere = run(*add, "policy/nowhere", "--key", PrivateKey.generate().public_key.raw.hex())
    unknown = run("policies", "external", "revoke", "weak.example", "--tenant", TENANT, "--yes")

    assert (weak.code, without.code, nowhere.code, unknown.code) == (2, 2, 1, 2)
    assert "is refused" in weak.sentence
    assert without.sentence == "weak.example is new: name a key that signs its decisions by --key"
    assert nowhere.sentence == f"no memory namespace policy/nowhere in {TENANT}"
    assert told(run, "namespaces", "list", "--tenant", TENANT)
    assert "weak.example" not in run("policies", "external", "list", "--tenant", TENANT, "--json").out
