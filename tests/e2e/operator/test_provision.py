"""`authority provision`: makes a set-up once, says what was there, and refuses what is there otherwise."""

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from authority.policy.bundle import bundle_version
from authority.policy.plain import PlainRule, plain_bundle
from capability_authority.offline import PrivateKey
from tests.e2e.operator.operating import Run, told
from tests.installation.documented import ROOT, examples
from tests.installation.set_ups import RULES, principal, proof_of, set_up, written
from tests.unit.cli.running import ran

OPERATING = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
Change = Callable[[dict[str, Any]], object]


def test_a_set_up_is_made_once_and_a_second_time_changes_nothing(run: Run, tmp_path: Path) -> None:
    newest = told(run, "namespaces", "add", "before", "--tenant", "test|others")["policy_version"]
    file = written(tmp_path, set_up("provisioned"))

    first = told(run, "provision", file)
    again = told(run, "provision", file)
    shown = run("provision", file)

    assert [thing["name"] for thing in first if thing["tenant"]] == [
        *RULES, "old", "test|agent", "test|reader", "test|gone",
        "provisioned.agent", "test|agent in team:desk", "test|reader in team:desk"
    ]  # fmt: skip
    assert {thing["made"] for thing in first if thing["tenant"]} == {True}
    assert [thing["name"] for thing in again] == [thing["name"] for thing in first]
    assert {thing["made"] for thing in again} == {False}
    assert shown.out.endswith("nothing changed: all of it was there\n")
    spaces = {row["name"]: row for row in told(run, "namespaces", "list", "--tenant", "test|provisioned")}
    for name, rule in RULES.items():
        assert spaces[name]["policy_version"] == f"sha256:{bundle_version(plain_bundle(PlainRule[rule])).hex()}"
    assert (spaces["old"]["mode"], spaces["old"]["privileged"]) == ("legacy", True)
    people = {row["principal"]: row for row in told(run, "principals", "list", "--tenant", "test|provisioned")}
    assert [people[f"test|{name}"]["state"] for name in ("agent", "reader", "gone")] == ["active", "active", "revoked"]
    assert people["test|agent"]["rights"] == ["propose", "read"]
    assert told(run, "namespaces", "add", "after", "--tenant", "test|others")["policy_version"] == newest


def test_what_is_made_is_audited_as_what_an_operator_makes_by_hand(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path, set_up("audited"))
    made = told(run, "provision", file)
    told(run, "provision", file)

    events = told(run, "audit", "list", "--tenant", "test|audited")

    kinds = [event["kind"] for event in events]
    assert kinds.count("memory_namespace.add") == sum(thing["what"] == "memory namespace" for thing in made)
    assert kinds.count("principal.add") == sum(thing["what"] == "principal" for thing in made)
    assert kinds.count("principal.revoke") == 1
    assert {event["actor"] for event in events} == {"operator|cli"}


def test_the_documentation_shows_it(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, set_up("shown"))
    monkeypatch.chdir(tmp_path)

    for example in examples("docs/operating.md", "Tenants from a document"):
        done = ran(capsys, *example.arguments(), "--data", str(data))
        assert example.difference(done.out + done.err) == ""


def test_the_document_that_is_shown_can_be_made(run: Run, tmp_path: Path) -> None:
    (shown,) = re.findall(r"^```json\n(.*?)^```", OPERATING, re.DOTALL | re.MULTILINE)
    (tenant,) = json.loads(shown)["tenants"]
    (member,) = tenant["principals"]
    key = PrivateKey.generate()
    named = (f"{each['namespace']}|{each['id']}" for each in (tenant, member))
    member.update(public_key=key.public_key.raw.hex(), proof=proof_of(key, *named))

    made = told(run, "provision", written(tmp_path, tenant))

    assert [thing["name"] for thing in made if thing["tenant"]] == [
        "harvest", "workload|picker", "workload|picker in team:cellar"
    ]  # fmt: skip


def test_what_was_half_made_is_finished_by_the_next_run(run: Run, tmp_path: Path) -> None:
    whole = set_up("halfway")
    half = copy.deepcopy(whole)
    half["memoryNamespaces"] = half["memoryNamespaces"][:2]
    half["principals"][2]["revoked"] = False  # As after a crash between its registration and its withdrawal.
    half["memberships"][0]["members"] = ["agent"]
    told(run, "provision", written(tmp_path, half))

    made = [thing["name"] for thing in told(run, "provision", written(tmp_path, whole)) if thing["made"]]

    assert made == ["quorum", "closed", "old", "test|gone", "test|reader in team:desk"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda it: it["memoryNamespaces"][0].update(mode="MODE_OBSERVE"),
            "memory namespace open of test|T: it is in mode enforce, not observe: `authority namespaces mode open",
        ),
        (
            lambda it: it["memoryNamespaces"][0].update(policy="POLICY_RULE_DENY"),
            "not by the shipped rule deny: `authority policies activate sha256:",
        ),
        (lambda it: it["memoryNamespaces"][0].update(privileged=True), "privileged is no, not yes, for good"),
        (lambda it: it["principals"][0].update(kind="user"), "principal test|agent of test|T: it is of kind agent,"),
        (lambda it: it["principals"][0].update(rights=["read"]), "it has the rights propose, read, not read"),
        (lambda it: it["principals"][2].update(revoked=False), "principal test|gone of test|T: it is revoked"),
        (lambda it: it["memberships"][0]["members"].pop(), "`authority memberships remove 'test|reader' team:desk"),
        (
            lambda it: it["principals"][1].update(keyAliases=it["principals"][0].pop("keyAliases")),
            "`authority principals alias revoke T.agent --tenant 'test|T'` takes the name back",
        ),
        (
            lambda it: it["principals"].__setitem__(0, principal("agent", f"test|{it['id']}")),
            "use the keys of the set-up that made it",
        ),
        (
            lambda it: it["principals"].append(
                principal("other", f"test|{it['id']}", PrivateKey.from_seed(bytes([7]) * 32))
            ),
            "is test|seeded's: make it another one",
        ),
    ],
)  # fmt: skip
def test_what_is_there_otherwise_is_named_with_its_remedy_and_nothing_is_made(
    run: Run, tmp_path: Path, change: Change, sentence: str
) -> None:
    tenant = f"differs-{tmp_path.name}"[:60].strip("-")
    wanted = set_up(tenant)
    seeded = principal("seeded", f"test|{tenant}", PrivateKey.from_seed(bytes([7]) * 32))
    told(run, "provision", written(tmp_path, {**wanted, "principals": [*wanted["principals"], seeded]}))
    wanted["memoryNamespaces"].append({"name": "new", "mode": "MODE_ENFORCE", "policy": "POLICY_RULE_ALLOW"})

    change(wanted)
    refused = run("provision", written(tmp_path, wanted))

    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith(
        "authority: this is there otherwise than the document says, and no tenant was changed:"
    )
    assert sentence in refused.err.replace(tenant, "T")
    assert "new" not in {row["name"] for row in told(run, "namespaces", "list", "--tenant", f"test|{tenant}")}
